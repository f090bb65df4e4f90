"""The process provider keeps the contract of providers; and what only real processes show: nothing goes past a link."""

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest

from pytest_kmigrate.model.links import Disturbance
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.bench import Bench
from pytest_kmigrate.providers.contract import ProviderContract
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.providers.owned.network.addresses import INTERNAL_PORT
from pytest_kmigrate.providers.process import lease
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.waiting import NotYet, until
from tests.real.providers.owned_bench import OwnedBench
from tests.real.sockets import past_the_links, reached_by, sockets_in
from tests.unit.fakes import topology

_ELECTED_WITHIN_S = 60


class ProcessBench(OwnedBench):
    """Looks at sockets, folders and leases, too."""

    def left_by(self, cluster: Cluster) -> Sequence[str]:
        """Processes, sockets, the scratch folder, the state file, the lease."""
        live = cast("OwnedCluster", cluster)
        left = self.processes_left(live)
        left += [str(each) for each in sockets_in(live.addresses.block) if each.state == "listening"]
        left += [str(live.scratch)] if live.scratch.exists() else []
        lock = lease.try_lock(live.addresses.block)
        if lock is None:
            return [*left, "the lease"]
        lock.close()
        return left


class TestProcessProvider(ProviderContract):
    """The contract on real processes; its clusters are single ZooKeeper servers."""

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        """The process provider."""
        return ProcessBench(ProcessProvider(print), tmp_path)


@pytest.fixture
def quorum(tmp_path: Path) -> Iterator[OwnedCluster]:
    """Three controllers and a broker, born in KRaft mode."""
    bench = ProcessBench(ProcessProvider(print), tmp_path)
    with bench.cluster(topology(zookeepers=0, brokers=1, controllers=3)) as cluster:
        cluster.start_initial()
        yield cast("OwnedCluster", cluster)


def leader(cluster: OwnedCluster, besides: str | None = None) -> str | NotYet:
    """The controller that says it is active and has the highest epoch, if it is another than ``besides``."""
    claims = []
    for node in cluster.nodes(Role.CONTROLLER):
        metrics = cluster.metrics(node.name, ("ActiveControllerCount", "RaftCurrentEpoch"))
        if metrics["ActiveControllerCount"] == 1:
            claims.append((metrics["RaftCurrentEpoch"] or 0, node.name))
    name = max(claims)[1] if claims else None
    return name if name and name != besides else NotYet(f"leader {name}")


def test_no_node_reaches_another_past_the_links(quorum: OwnedCluster) -> None:
    """Not while all is well, nor after the leader was cut off: isolating it by its links makes another one leader."""
    elect: Callable[..., str | NotYet] = leader
    first = until(lambda: elect(quorum), awaited="a leader", within_s=_ELECTED_WITHIN_S)
    crossing = quorum.links.connections(quorum.links.between([node.name for node in quorum.nodes()], [first]))
    assert crossing > 0
    assert past_the_links(quorum) == []

    others = [node.name for node in quorum.nodes() if node.name != first]
    links = quorum.links.between([first], others) + quorum.links.between(others, [first])
    with quorum.links.disturb(links, Disturbance("cut")):
        second = until(lambda: elect(quorum, first), awaited="another leader", within_s=_ELECTED_WITHIN_S)
        assert past_the_links(quorum) == []

    assert second != first
    until(lambda: isinstance(elect(quorum), str), awaited="a leader of all", within_s=_ELECTED_WITHIN_S)
    assert past_the_links(quorum) == []

    broker = quorum.nodes(Role.BROKER)[0]
    with socket.create_connection((broker.address, INTERNAL_PORT), timeout=10):
        assert broker.address in reached_by(os.getpid())  # a change would be seen
