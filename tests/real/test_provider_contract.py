"""The process provider keeps the contract of providers; and what only real processes show: nothing goes past a link."""

import http.client
import json
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import psutil
import pytest

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.links import Disturbance
from pytest_kmigrate.model.protocols import Cluster, Node
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.bench import Bench
from pytest_kmigrate.providers.contract import ProviderContract
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.providers.owned.network.addresses import INTERNAL_PORT
from pytest_kmigrate.providers.owned.node import OwnedNode
from pytest_kmigrate.providers.process import lease
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.waiting import NotYet, until
from tests.real.sockets import past_the_links, reached_by, sockets_in
from tests.unit.fakes import topology

_ELECTED_WITHIN_S = 60


class ProcessBench(Bench):
    """Looks at processes, disks, sockets and proxies from outside."""

    def life_of(self, node: Node) -> int | None:
        """Its process id."""
        return cast("OwnedNode", node).pid

    def exists(self, node: Node, life: object) -> bool:
        """As the kernel says."""
        return psutil.pid_exists(cast("int", life))

    def stands_still(self, node: Node) -> bool:
        """As the kernel says."""
        return psutil.Process(self.life_of(node)).status() == psutil.STATUS_STOPPED

    def leave_a_mark(self, node: Node) -> None:
        """A file on the disk."""
        (cast("OwnedNode", node).disk / "mark").touch()

    def is_marked(self, node: Node) -> bool:
        """Whether the file is there."""
        return (cast("OwnedNode", node).disk / "mark").exists()

    def left_by(self, cluster: Cluster) -> Sequence[str]:
        """Processes, sockets, the scratch folder, the state file, the lease."""
        live = cast("OwnedCluster", cluster)
        own = {node.name for node in cluster.nodes() if str(cast("OwnedNode", node).disk).startswith(str(live.scratch))}
        started = [event for event in self.recorder.of(EventKind.NODE_STARTED) if event.node in own]
        pids = [cast("int", event.data["pid"]) for event in started if event.data["pid"] in self._pids_of(live)]
        left = [f"process {pid}" for pid in [*pids, live.supervision.pid] if psutil.pid_exists(pid)]
        left += [str(each) for each in sockets_in(live.addresses.block) if each.state == "listening"]
        left += [str(live.scratch)] if live.scratch.exists() else []
        lock = lease.try_lock(live.addresses.block)
        if lock is None:
            return [*left, "the lease"]
        lock.close()
        return left

    def _pids_of(self, cluster: OwnedCluster) -> set[int | None]:
        return {node.pid for node in cluster.nodes()}

    def disturbed(self, cluster: Cluster) -> int:
        """Proxies that Toxiproxy itself calls disabled or toxic."""
        connection = http.client.HTTPConnection(*cast("OwnedCluster", cluster).addresses.toxiproxy, timeout=10)
        connection.request("GET", "/proxies")
        proxies = json.load(connection.getresponse())
        connection.close()
        return sum(bool(proxy["toxics"]) or not proxy["enabled"] for proxy in proxies.values())


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
