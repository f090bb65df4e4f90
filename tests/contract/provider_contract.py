"""What every provider owes: one suite of tests, run on the fake one here and on real processes in ``tests/real``.

A provider's test module subclasses ``ProviderContract`` and gives it a ``bench``.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.links import Disturbance
from pytest_kmigrate.model.protocols import Cluster, Node
from pytest_kmigrate.model.topology import Role, Topology
from tests.unit.fakes import MemoryRecorder, topology

SMALLEST = topology(zookeepers=1, brokers=0, controllers=0)
ENSEMBLE = topology(zookeepers=2, brokers=0, controllers=0)
MAJORITY = topology(zookeepers=3, brokers=0, controllers=0)


class Bench(ABC):
    """One provider, and how to look behind it."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.recorder = MemoryRecorder()
        self._numbers = itertools.count()

    @abstractmethod
    def provision(self, shape: Topology, logs: Path) -> AbstractContextManager[Cluster]:
        """A cluster of that shape, not started."""

    @abstractmethod
    def exists(self, node: Node, pid: int) -> bool:
        """Whether this process of the node exists."""

    @abstractmethod
    def stands_still(self, node: Node) -> bool:
        """Whether the node's process is stopped by a signal."""

    @abstractmethod
    def leave_a_mark(self, node: Node) -> None:
        """Put something on the node's disk."""

    @abstractmethod
    def is_marked(self, node: Node) -> bool:
        """Whether it is still there."""

    @abstractmethod
    def left_by(self, cluster: Cluster) -> Sequence[str]:
        """What is left of a cluster whose block has ended: processes, ports, folders, leases."""

    @abstractmethod
    def disturbed(self, cluster: Cluster) -> int:
        """How many links are disturbed now."""

    def cluster(self, shape: Topology = SMALLEST) -> AbstractContextManager[Cluster]:
        """A cluster with a log folder of its own."""
        return self.provision(shape, self.logs / f"cluster-{next(self._numbers)}")


class ProviderContract:
    """The contract; each test provisions what it needs, as small as it can be."""

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        """The provider under test."""
        raise NotImplementedError

    @pytest.fixture
    def cluster(self, bench: Bench) -> Iterator[Cluster]:
        """A started cluster of one node."""
        with bench.cluster() as cluster:
            cluster.start_initial()
            yield cluster

    @pytest.fixture
    def node(self, cluster: Cluster) -> Node:
        """Its node."""
        return cluster.nodes()[0]

    def test_started_nodes_are_alive_and_told(self, bench: Bench, node: Node) -> None:
        """A node that was started exists, and the history has it started and then ready."""
        assert node.alive
        assert node.pid is not None
        assert bench.exists(node, node.pid)
        assert bench.recorder.kinds() == [EventKind.NODE_STARTED, EventKind.NODE_READY]

    def test_a_running_node_is_not_started_again(self, node: Node) -> None:
        """Starting it twice is wrong use, and changes nothing."""
        pid = node.pid
        with pytest.raises(WrongUseError, match="runs already"):
            node.start()
        assert node.pid == pid

    @pytest.mark.parametrize(("verb", "how"), [("kill", "killed"), ("stop", "controlled")])
    def test_a_node_that_was_ended_is_gone_and_comes_back(self, bench: Bench, node: Node, verb: str, how: str) -> None:
        """The process is gone when kill or stop returns, the history says which it was; a start makes another one."""
        pid = node.pid
        assert pid is not None
        getattr(node, verb)()
        assert not node.alive
        assert not bench.exists(node, pid)
        (stopped,) = bench.recorder.of(EventKind.NODE_STOPPED)
        assert stopped.data["how"] == how
        node.start()
        assert node.alive
        assert node.pid != pid
        assert not bench.recorder.of(EventKind.NODE_DIED)

    def test_ending_a_node_that_is_down_does_nothing(self, bench: Bench, node: Node) -> None:
        """Faults and migration steps may meet a node that is down already."""
        node.kill()
        node.kill()
        node.stop()
        assert len(bench.recorder.of(EventKind.NODE_STOPPED)) == 1

    def test_a_paused_node_stands_still_and_goes_on(self, bench: Bench, node: Node) -> None:
        """The same process all the time."""
        pid = node.pid
        node.pause()
        assert node.alive
        assert (node.stands_still, bench.stands_still(node)) == (True, True)
        node.resume()
        assert (node.stands_still, bench.stands_still(node)) == (False, False)
        assert node.pid == pid

    def test_a_frozen_cluster_is_thawed_as_it_was(self, bench: Bench, tmp_path: Path) -> None:
        """Another cluster has its disks and changes and starts what was up; every stop was a controlled one."""
        called: list[bool] = []
        with bench.cluster(MAJORITY) as cluster:
            cluster.start_initial()
            up, _, down = cluster.nodes()
            bench.leave_a_mark(up)
            up.reconfigure({"maxClientCnxns": "7"})
            down.stop()
            frozen = cluster.freeze(tmp_path / "frozen", lambda: called.append(up.alive))
            assert (called, up.alive) == ([True], False)
            assert {event.data["how"] for event in bench.recorder.of(EventKind.NODE_STOPPED)} == {"controlled"}
        with bench.cluster(MAJORITY) as again:
            up, _, down = again.nodes()
            again.thaw(tmp_path / "frozen", frozen)
            assert (up.alive, down.alive) == (True, False)
            assert (bench.is_marked(up), bench.is_marked(down)) == (True, False)
            assert up.properties["maxClientCnxns"] == "7"

    def test_properties_are_in_force_from_the_next_start(self, bench: Bench, node: Node) -> None:
        """What was set is what the next start reads; None unsets."""
        node.reconfigure({"maxClientCnxns": "7"})
        assert node.properties["maxClientCnxns"] == "7"
        node.reconfigure({"maxClientCnxns": None})
        assert "maxClientCnxns" not in node.properties
        node.stop()
        node.start()
        assert node.alive
        assert len(bench.recorder.of(EventKind.NODE_RECONFIGURED)) == 2

    def test_a_disk_stays_until_it_is_wiped(self, bench: Bench, node: Node) -> None:
        """Over a kill and a start it stays; wiping a running node is wrong use."""
        bench.leave_a_mark(node)
        node.kill()
        node.start()
        assert bench.is_marked(node)
        with pytest.raises(WrongUseError, match="stop it before"):
            node.wipe()
        node.kill()
        node.wipe()
        assert not bench.is_marked(node)
        node.start()
        assert node.alive

    def test_nothing_is_left_after_an_error(self, bench: Bench) -> None:
        """An error of the test comes out of the block; no process, port, folder or lease stays, and the logs do."""
        clusters: list[Cluster] = []
        with pytest.raises(ZeroDivisionError), bench.cluster() as cluster:  # noqa: PT012 - the block is what is tested
            clusters.append(cluster)
            cluster.start_initial()
            raise ZeroDivisionError
        (cluster,) = clusters
        assert bench.left_by(cluster) == []
        assert cluster.nodes()[0].log.read_text()

    def test_nothing_is_left_of_a_paused_node(self, bench: Bench) -> None:
        """A process that stands still ends like any other."""
        with bench.cluster() as cluster:
            cluster.start_initial()
            cluster.nodes()[0].pause()
        assert bench.left_by(cluster) == []

    def test_a_link_is_healed_after_an_error(self, bench: Bench) -> None:
        """Disturbances overlap and each ends with its block, whatever happens inside."""
        with bench.cluster(ENSEMBLE) as cluster:
            links = cluster.links.between(["zookeeper-1"], ["zookeeper-2"])
            assert links
            with cluster.links.disturb(links, Disturbance("slow", attributes={"latency_ms": 5})):
                with pytest.raises(ZeroDivisionError), cluster.links.disturb(links, Disturbance("cut")):
                    raise ZeroDivisionError
                assert bench.disturbed(cluster) == len(links)
            assert bench.disturbed(cluster) == 0

    @pytest.mark.parametrize("kind", ["cut", "refuse", "reset"])
    def test_of_two_equal_disturbances_the_outer_one_outlives_the_inner(self, bench: Bench, kind: str) -> None:
        """A link stays disturbed until the last block that disturbs it has ended, also when both do the same."""
        with bench.cluster(ENSEMBLE) as cluster:
            links = cluster.links.between(["zookeeper-1"], ["zookeeper-2"])
            with cluster.links.disturb(links, Disturbance(kind)):
                with cluster.links.disturb(links, Disturbance(kind)):
                    pass
                assert bench.disturbed(cluster) == len(links)
            assert bench.disturbed(cluster) == 0

    def test_a_broker_is_reached_past_the_links_and_all_over_them(self, bench: Bench) -> None:
        """What clients connect to leads over proxies; a chosen broker is asked at its own address."""
        with bench.cluster(topology()) as cluster:
            servers = cluster.client_connection()["bootstrap.servers"].split(",")
            brokers = cluster.nodes(Role.BROKER)
            assert servers == cluster.bootstrap_servers().split(",")
            assert len(servers) == len(brokers)
            for broker in brokers:
                own = cluster.peer(broker.name).address
                assert own.startswith(f"{broker.address}:")
                assert own not in servers

    @pytest.mark.parametrize("kind", ["cut", "refuse", "reset", "throttle", "slice"])
    def test_every_kind_of_disturbance_is_known(self, bench: Bench, kind: str) -> None:
        """Each is in force inside its block, and healed after it."""
        numbers = {"throttle": {"rate_kb_per_s": 9}, "slice": {"average_bytes": 9, "delay_us": 9}}
        with bench.cluster(ENSEMBLE) as cluster:
            links = cluster.links.between(["zookeeper-2"], ["zookeeper-1"])
            with cluster.links.disturb(links, Disturbance(kind, attributes=numbers.get(kind))):
                assert bench.disturbed(cluster) == len(links)
            assert bench.disturbed(cluster) == 0

    def test_two_side_by_side_do_not_collide(self, bench: Bench) -> None:
        """The same topology twice at the same time: other addresses, other disks; ending one leaves the other."""
        with bench.cluster() as one:
            one.start_initial()
            with bench.cluster() as other:
                other.start_initial()
                assert one.nodes()[0].address != other.nodes()[0].address
                bench.leave_a_mark(one.nodes()[0])
                assert not bench.is_marked(other.nodes()[0])
            assert bench.left_by(other) == []
            assert one.nodes()[0].alive
