"""What every provider owes, as a suite of tests: also for providers that are none of ours.

A test module subclasses ``ProviderContract`` and gives it a ``bench``, a fixture that returns a ``Bench`` of the
provider. What the provider does not offer is skipped.
"""

import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind, only
from pytest_kmigrate.model.events.nodes import NodeInstalled, NodeStopped, ToolRan
from pytest_kmigrate.model.links import Disturbance
from pytest_kmigrate.model.protocols import Cluster, Node
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.bench import BORN_IN_KRAFT, ENSEMBLE, MAJORITY, Bench, small_topology
from pytest_kmigrate.waiting import PATIENCE_S, until

_ENDED_WITHIN_S = 30
RECORD_PARTS = frozenset({"offset", "timestamp_ms", "type", "version", "data", "snapshot"})


def needs(bench: Bench, *capabilities: Capability) -> None:
    """Skip a test of what the provider does not offer."""
    if lacking := set(capabilities) - bench.provider.capabilities:
        pytest.skip(f"{bench.provider.name} does not offer {', '.join(sorted(lacking))}")


class ProviderContract:
    """The contract; each test provisions what it needs, as small as it can be."""

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        """The provider under test."""
        raise NotImplementedError

    @pytest.fixture
    def cluster(self, bench: Bench) -> Iterator[Cluster]:
        """A started cluster of one node."""
        needs(bench, Capability.START)
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
        assert bench.exists(node, bench.life_of(node))
        assert bench.recorder.kinds() == [EventKind.NODE_STARTED, EventKind.NODE_READY]

    def test_a_running_node_is_not_started_again(self, bench: Bench, node: Node) -> None:
        """Starting it twice is wrong use, and changes nothing."""
        life = bench.life_of(node)
        with pytest.raises(WrongUseError, match="runs already"):
            node.start()
        assert bench.exists(node, life)

    @pytest.mark.parametrize(("verb", "how"), [("kill", "killed"), ("stop", "controlled")])
    def test_a_node_that_was_ended_is_gone_and_comes_back(self, bench: Bench, node: Node, verb: str, how: str) -> None:
        """It is gone when kill or stop returns, the history says which it was; a start begins another life."""
        needs(bench, *([Capability.KILL] if verb == "kill" else []))
        life = bench.life_of(node)
        getattr(node, verb)()
        assert not node.alive
        assert not bench.exists(node, life)
        (stopped,) = only(bench.recorder.events, NodeStopped)
        assert stopped.what.how == how
        node.start()
        assert node.alive
        assert bench.life_of(node) != life
        assert not bench.recorder.of(EventKind.NODE_DIED)

    def test_ending_a_node_that_is_down_does_nothing(self, bench: Bench, node: Node) -> None:
        """Faults and migration steps may meet a node that is down already."""
        needs(bench, Capability.KILL)
        node.kill()
        node.kill()
        node.stop()
        assert len(only(bench.recorder.events, NodeStopped)) == 1

    def test_a_paused_node_stands_still_and_goes_on(self, bench: Bench, node: Node) -> None:
        """The same life all the time."""
        needs(bench, Capability.PAUSE)
        life = bench.life_of(node)
        node.pause()
        assert node.alive
        assert (node.stands_still, bench.stands_still(node)) == (True, True)
        node.resume()
        assert (node.stands_still, bench.stands_still(node)) == (False, False)
        assert bench.exists(node, life)

    def test_a_frozen_cluster_is_thawed_as_it_was(self, bench: Bench, tmp_path: Path) -> None:
        """Another cluster has its disks and changes and starts what was up; every stop was a controlled one."""
        needs(bench, Capability.START, Capability.RECONFIGURE, Capability.CHECKPOINT)
        called: list[bool] = []
        with bench.cluster(MAJORITY) as cluster:
            cluster.start_initial()
            up, _, down = cluster.nodes()
            bench.leave_a_mark(up)
            up.reconfigure({"maxClientCnxns": "7"})
            down.stop()
            frozen = cluster.freeze(tmp_path / "frozen", lambda: called.append(up.alive))
            assert (called, up.alive) == ([True], False)
            assert {event.what.how for event in only(bench.recorder.events, NodeStopped)} == {"controlled"}
        with bench.cluster(MAJORITY) as again:
            up, _, down = again.nodes()
            again.thaw(tmp_path / "frozen", frozen)
            assert (up.alive, down.alive) == (True, False)
            assert (bench.is_marked(up), bench.is_marked(down)) == (True, False)
            assert up.properties["maxClientCnxns"] == "7"

    def test_properties_are_in_force_from_the_next_start(self, bench: Bench, node: Node) -> None:
        """What was set is what the next start reads; None unsets."""
        needs(bench, Capability.RECONFIGURE)
        node.reconfigure({"maxClientCnxns": "7"})
        assert node.properties["maxClientCnxns"] == "7"
        node.reconfigure({"maxClientCnxns": None})
        assert "maxClientCnxns" not in node.properties
        node.stop()
        node.start()
        assert node.alive
        assert len(bench.recorder.of(EventKind.NODE_RECONFIGURED)) == 2

    def test_another_kafka_is_run_from_the_next_start(self, bench: Bench, node: Node) -> None:
        """Of a stopped node; the history has what was installed, by its own files."""
        needs(bench, Capability.INSTALL)
        with pytest.raises(WrongUseError, match="stop it before another Kafka"):
            node.install(node.spec.kafka)
        node.stop()
        node.install(node.spec.kafka)
        node.start()
        (installed,) = only(bench.recorder.events, NodeInstalled)
        assert (installed.what.kafka, installed.what.version) == (node.spec.kafka, node.kafka)

    def test_a_tool_of_kafka_is_run_and_recorded(self, bench: Bench, cluster: Cluster, node: Node) -> None:
        """With its status and what it wrote."""
        needs(bench, Capability.TOOLS)
        ran = cluster.run_tool(node.name, "kafka-storage", ["random-uuid"])
        (recorded,) = only(bench.recorder.events, ToolRan)
        assert (ran.status, recorded.node, recorded.what.output) == (0, node.name, ran.output)
        assert recorded.what.arguments == ["random-uuid"]

    def test_a_disk_stays_until_it_is_wiped(self, bench: Bench, node: Node) -> None:
        """Over a kill and a start it stays; wiping a running node is wrong use."""
        needs(bench, Capability.KILL, Capability.WIPE)
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
        needs(bench, Capability.START, Capability.LOGS)
        clusters: list[Cluster] = []
        with pytest.raises(ZeroDivisionError), bench.cluster() as cluster:  # noqa: PT012 - the block is what is tested
            clusters.append(cluster)
            cluster.start_initial()
            raise ZeroDivisionError
        (cluster,) = clusters
        assert bench.left_by(cluster) == []
        assert cluster.nodes()[0].log.read_text()

    def test_nothing_is_left_of_a_paused_node(self, bench: Bench) -> None:
        """One that stands still ends like any other."""
        needs(bench, Capability.START, Capability.PAUSE)
        with bench.cluster() as cluster:
            cluster.start_initial()
            cluster.nodes()[0].pause()
        assert bench.left_by(cluster) == []

    def test_a_link_is_healed_after_an_error(self, bench: Bench) -> None:
        """Disturbances overlap and each ends with its block, whatever happens inside."""
        needs(bench, Capability.LINKS)
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
        needs(bench, Capability.LINKS)
        with bench.cluster(ENSEMBLE) as cluster:
            links = cluster.links.between(["zookeeper-1"], ["zookeeper-2"])
            with cluster.links.disturb(links, Disturbance(kind)):
                with cluster.links.disturb(links, Disturbance(kind)):
                    pass
                assert bench.disturbed(cluster) == len(links)
            assert bench.disturbed(cluster) == 0

    def test_a_broker_is_reached_past_the_links_and_all_over_them(self, bench: Bench) -> None:
        """What clients connect to leads over proxies; a chosen broker is asked at its own address."""
        needs(bench, Capability.LINKS)
        with bench.cluster(small_topology()) as cluster:
            servers = cluster.client_connection()["bootstrap.servers"].split(",")
            brokers = cluster.nodes(Role.BROKER)
            assert servers == cluster.bootstrap_servers().split(",")
            assert len(servers) == len(brokers)
            own = {cluster.peer(broker.name).address for broker in brokers}
            assert len(own) == len(brokers)
            assert own.isdisjoint(servers)

    @pytest.mark.parametrize("kind", ["cut", "refuse", "reset", "throttle", "slice"])
    def test_every_kind_of_disturbance_is_known(self, bench: Bench, kind: str) -> None:
        """Each is in force inside its block, and healed after it."""
        needs(bench, Capability.LINKS)
        numbers = {"throttle": {"rate_kb_per_s": 9}, "slice": {"average_bytes": 9, "delay_us": 9}}
        with bench.cluster(ENSEMBLE) as cluster:
            links = cluster.links.between(["zookeeper-2"], ["zookeeper-1"])
            with cluster.links.disturb(links, Disturbance(kind, attributes=numbers.get(kind))):
                assert bench.disturbed(cluster) == len(links)
            assert bench.disturbed(cluster) == 0

    def test_two_side_by_side_do_not_collide(self, bench: Bench) -> None:
        """The same topology twice at the same time: other addresses, other disks; ending one leaves the other."""
        needs(bench, Capability.START)
        with bench.cluster() as one:
            one.start_initial()
            with bench.cluster() as other:
                other.start_initial()
                assert one.zookeeper_servers != other.zookeeper_servers
                bench.leave_a_mark(one.nodes()[0])
                assert not bench.is_marked(other.nodes()[0])
            assert bench.left_by(other) == []
            assert one.nodes()[0].alive

    def test_it_says_what_it_can_do_and_what_it_runs(self, bench: Bench) -> None:
        """Its clusters can do what it says; what nodes run has the name of the topology, a version and a digest."""
        artifacts = bench.provider.artifacts(ENSEMBLE)
        assert artifacts.keys() == {node.kafka for node in ENSEMBLE.nodes}
        assert all(each.version and each.digest for each in artifacts.values())
        with bench.cluster(ENSEMBLE) as cluster:
            assert cluster.capabilities == bench.provider.capabilities
            assert [node.name for node in cluster.nodes()] == (names := [spec.name for spec in ENSEMBLE.nodes])
            assert {node.kafka for node in cluster.nodes()} == {each.version for each in artifacts.values()}
            assert cluster.zookeeper_reached_by("a").count(":") == len(cluster.links.between(["a"], names))

    def test_a_process_beside_it_ends_with_it(self, bench: Bench, tmp_path: Path) -> None:
        """It is spoken to over pipes, what it complains of is kept, and so is nothing in the private folder."""
        program = "import sys; sys.stderr.write('hm'); print(input(), flush=True); input()"
        with bench.cluster() as cluster:
            private = cluster.scratch
            assert stat.S_IMODE(private.stat().st_mode) == stat.S_IRWXU
            process = cluster.spawn([sys.executable, "-c", program], tmp_path / "said" / "errors.log")
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(b"hello\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"hello\n"
            assert process.poll() is None
        with process:  # whose pipes are the caller's to close
            assert process.wait(_ENDED_WITHIN_S) is not None
        assert (tmp_path / "said" / "errors.log").read_text() == "hm"
        assert not private.exists()

    def test_a_zookeeper_server_says_how_it_serves(self, bench: Bench, cluster: Cluster, node: Node) -> None:
        """One alone stands alone; one that is down says nothing."""
        needs(bench, Capability.KILL)
        assert len(cluster.zookeeper_servers.split(",")) == 1
        assert cluster.zookeeper_mode(node.name) == "standalone"
        node.kill()
        assert cluster.zookeeper_mode(node.name) is None

    def test_a_cluster_born_in_kraft_mode_tells_metrics_and_metadata(self, bench: Bench) -> None:
        """Only metrics that the role has, none of them without an answer; records of the log with all their parts."""
        needs(bench, Capability.START, Capability.KILL, Capability.METRICS, Capability.METADATA_LOG)
        with bench.cluster(BORN_IN_KRAFT) as cluster:
            cluster.start_initial()
            cluster.await_serving()
            (controller,) = cluster.nodes(Role.CONTROLLER)
            until(
                lambda: cluster.metrics(controller.name, ["ActiveControllerCount"]) == {"ActiveControllerCount": 1},
                awaited="a controller that says it is active",
                within_s=PATIENCE_S,
            )
            records = cluster.metadata_log(controller.name)
            assert {frozenset(record) for record in records} == {RECORD_PARTS}
            controller.kill()
            assert cluster.metrics(controller.name, ["ActiveControllerCount"]) == {"ActiveControllerCount": None}
            assert cluster.zookeeper_servers == ""
