"""The docker provider keeps the contract of providers; run inside the namespace of an engine by ``test_containers``."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import psutil
import pytest

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.links import Disturbance
from pytest_kmigrate.model.protocols import Cluster, CrashPoint
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.bench import BORN_IN_KRAFT, Bench, small_topology
from pytest_kmigrate.providers.contract import ProviderContract
from pytest_kmigrate.providers.docker.engine import Engine
from pytest_kmigrate.providers.docker.provider import DockerProvider
from pytest_kmigrate.providers.docker.standing import LABEL
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.providers.owned.state import state_dir
from pytest_kmigrate.waiting import NotYet, until
from tests.real.attach.standing import kmigrate
from tests.real.providers.owned_bench import OwnedBench
from tests.real.sockets import past_the_links

_SHOWS_WITHIN_S = 60
_NONE_LEFT_WITHIN_S = 60
OWNER = """
import sys
from pathlib import Path
from pytest_kmigrate.providers.bench import SMALLEST, MemoryRecorder
from pytest_kmigrate.providers.docker.provider import DockerProvider

with DockerProvider(print).provision(SMALLEST, MemoryRecorder(), Path(sys.argv[1])) as cluster:
    cluster.start_initial()
    print(cluster.scratch, cluster.supervision.pid, cluster.nodes()[0].pid, flush=True)
    input()
"""


class DockerBench(OwnedBench):
    """Asks the engine, too."""

    def left_by(self, cluster: Cluster) -> Sequence[str]:
        """Processes, the scratch folder, containers, networks."""
        live = cast("OwnedCluster", cluster)
        left = self.processes_left(live)
        left += [str(live.scratch)] if live.scratch.exists() else []
        return [*left, *at_the_engine(live.scratch)]


def at_the_engine(scratch: Path) -> list[str]:
    """Containers and networks of the cluster whose disks are there."""
    engine = Engine()
    try:
        label = f"{LABEL}={scratch}"
        containers = [f"container {each['Id']}" for each in engine.with_label(label)]
        return [*containers, *(f"network {each['Name']}" for each in engine.networks_with_label(label))]
    finally:
        engine.close()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """The docker provider."""
    return DockerBench(DockerProvider(print), tmp_path)


class TestDockerProvider(ProviderContract):
    """The contract on real containers; its clusters are single ZooKeeper servers."""

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        """The docker provider."""
        return DockerBench(DockerProvider(print), tmp_path)


@pytest.fixture
def quorum(bench: Bench) -> Iterator[OwnedCluster]:
    """A controller and a broker, born in KRaft mode."""
    with bench.cluster(BORN_IN_KRAFT) as cluster:
        cluster.start_initial()
        yield cast("OwnedCluster", cluster)


def test_what_is_held_back_by_a_cut_is_counted(quorum: OwnedCluster) -> None:
    """A broker dials its controller over a proxy in another network namespace, where the kernel counts for us."""
    links = quorum.links.between(["broker-0"], ["controller-3000"])
    assert quorum.links.connections(links) > 0
    assert past_the_links(quorum) == []
    with quorum.links.disturb(links, Disturbance("cut")) as arrived:

        def bitten() -> bool | NotYet:
            seen = arrived()
            return (seen is not None and seen.size_bytes > 0) or NotYet(seen)

        assert until(bitten, awaited="bytes at the link that is cut", within_s=_SHOWS_WITHIN_S)
    assert past_the_links(quorum) == []


def test_a_node_is_held_at_a_place_in_its_code(quorum: OwnedCluster) -> None:
    """Byteman comes in by the socket that HotSpot has in the container, and what it writes is seen outside."""
    point = CrashPoint("asked", "kafka.server.ControllerApis", "handle", held_s=1)
    with quorum.hold_at(point, quorum.nodes(Role.CONTROLLER)) as held:
        assert until(lambda: held() or NotYet("none"), awaited="a held node", within_s=_SHOWS_WITHIN_S)


@pytest.mark.parametrize("with_supervisor", [False, True])
def test_nothing_is_left_of_an_owner_that_is_killed(tmp_path: Path, *, with_supervisor: bool) -> None:
    """SIGKILL of the owner leaves nothing. With its supervisor killed first, no process is left, and gc clears."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "logs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        scratch, supervisor, node = owner.stdout.readline().decode().split()
        if with_supervisor:
            os.kill(int(supervisor), signal.SIGKILL)
        owner.kill()
    until(lambda: not psutil.pid_exists(int(node)), awaited="the end of the node", within_s=_NONE_LEFT_WITHIN_S)
    if with_supervisor:
        cleared = kmigrate("gc")
        assert scratch in cleared.stdout, cleared

    def nothing() -> bool | NotYet:
        left = [*at_the_engine(Path(scratch)), *([scratch] if Path(scratch).exists() else [])]
        return not left or NotYet(left)

    assert until(nothing, awaited="nothing left of a killed owner", within_s=_NONE_LEFT_WITHIN_S)


def test_what_listens_here_is_reached_by_nodes(bench: Bench) -> None:
    """Stubs of brokers and controllers are processes of this machine, whose loopback address is none of a container."""
    with bench.cluster() as cluster, socket.create_server((cluster.listen_host, 0)) as here:
        cluster.start_initial()
        dial = f"import socket; socket.create_connection({here.getsockname()!r}, 10).send(b'x')"
        node = cast("OwnedCluster", cluster).nodes()[0]
        subprocess.run(["nsenter", "--target", str(node.pid), "--net", sys.executable, "-c", dial], check=True)
        here.settimeout(_SHOWS_WITHIN_S)
        connection, _ = here.accept()
        with connection:
            assert connection.recv(1) == b"x"


def test_a_cluster_stays_up_until_it_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By ``kmigrate up`` and ``down``, in containers; its node is found by name, and nothing of it is left."""
    monkeypatch.setenv("COLUMNS", "200")
    shape = tmp_path / "shape.toml"
    shape.write_text('name = "one"\nkafka = "3.9.1"\n[zookeeper]\ncount = 1\n[broker]\ncount = 1\n')
    up = kmigrate("up", str(shape), "--provider", "docker")
    assert "to end it:" in up.stdout, up.stderr
    (block,) = re.findall(r"kmigrate down (\S+)", up.stdout)
    assert "2 of 2 run" in kmigrate("ps").stdout
    assert "started (kafka.server.KafkaServer)" in kmigrate("logs", "broker-0", "--block", block).stdout
    assert len(at_the_engine(state_dir() / block)) > 2
    assert f"block {block}: one ended" in kmigrate("down", block).stdout
    assert at_the_engine(state_dir() / block) == []


def test_an_engine_that_is_lost_is_trouble_of_ours(bench: Bench, pytestconfig: pytest.Config) -> None:
    """No node died as far as anybody knows; what is asked of it then is an error of one sentence. Comes last."""
    with bench.cluster(small_topology(brokers=0, controllers=0)) as cluster:
        cluster.start_initial()
        (node,) = cluster.nodes()
        os.kill(int(os.environ["KMIGRATE_TESTS_ENGINE"]), signal.SIGKILL)
        until(
            lambda: bool(bench.recorder.of(EventKind.HARNESS_TROUBLE)),
            awaited="trouble of the harness",
            within_s=_SHOWS_WITHIN_S,
        )
        assert node.alive
    assert bench.recorder.of(EventKind.NODE_DIED) == []
    (trouble,) = bench.recorder.of(EventKind.HARNESS_TROUBLE)
    assert trouble.data["what"] == "the container engine is gone"
