"""What a cluster that somebody else runs is not asked to do, each refused by its capability."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError, NotApplicableError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.links import Disturbance, Stream
from pytest_kmigrate.model.protocols import Cluster, CrashPoint, Restricted
from pytest_kmigrate.providers.attach.cluster import AttachedCluster
from pytest_kmigrate.providers.attach.file.loading import site_at
from pytest_kmigrate.providers.attach.provider import AttachProvider
from pytest_kmigrate.providers.bench import MemoryRecorder
from tests.unit.providers.attach.files import cluster_of, written

REFUSED: list[tuple[Capability, Callable[[Cluster], object]]] = [
    (Capability.START, lambda cluster: cluster.node("broker-0").start()),
    (Capability.START, lambda cluster: cluster.node("broker-0").stop()),
    (Capability.START, lambda cluster: cluster.start_together(cluster.nodes())),
    (Capability.KILL, lambda cluster: cluster.node("broker-0").kill()),
    (Capability.PAUSE, lambda cluster: cluster.node("broker-0").pause()),
    (Capability.PAUSE, lambda cluster: cluster.node("broker-0").resume()),
    (Capability.RECONFIGURE, lambda cluster: cluster.node("broker-0").reconfigure({})),
    (Capability.RECONFIGURE, lambda cluster: cluster.node("broker-0").properties),
    (Capability.INSTALL, lambda cluster: cluster.node("broker-0").install("3.9.1")),
    (Capability.WIPE, lambda cluster: cluster.node("broker-0").wipe()),
    (Capability.WIPE, lambda cluster: cluster.format_controllers("id")),
    (Capability.LOG_DIRS, lambda cluster: cluster.node("broker-0").fail_log_dir(1)),
    (Capability.LOG_DIRS, lambda cluster: cluster.node("broker-0").repair_log_dir(1)),
    (Capability.LIMITS, lambda cluster: cluster.node("broker-0").restrict(Restricted.FILE_SIZE, 0)),
    (Capability.CLOCKS, lambda cluster: cluster.node("broker-0").set_clock(1)),
    (Capability.CLOCKS, lambda cluster: cluster.clock_of("broker-0")),
    (Capability.NAMES, lambda cluster: cluster.node("broker-0").find_others(by_name=False)),
    (Capability.DISKS, lambda cluster: cluster.node("broker-0").tear_tails(1)),
    (Capability.STARVE, lambda cluster: cluster.node("broker-0").starve(20)),
    (Capability.CRASH_POINTS, lambda cluster: cluster.slow_fsync([], 1)),
    (Capability.CUTS, lambda cluster: cluster.links.between(["broker-0"], ["broker-1"])),
    (Capability.CUTS, lambda cluster: begin(cluster, Disturbance("cut"))),
    (Capability.LINKS, lambda cluster: begin(cluster, Disturbance("cut", Stream.BACK))),
    (Capability.LINKS, lambda cluster: begin(cluster, Disturbance("slow"))),
    (Capability.LINKS, lambda cluster: cluster.links.connections([])),
    (Capability.LINKS, lambda cluster: cluster.links.origins([])),
    (Capability.LINKS, lambda cluster: cluster.zookeeper_reached_by("member-1")),
    (Capability.CRASH_POINTS, lambda cluster: cluster.hold_at(CrashPoint("p", "C", "m", "AT ENTRY"), [])),
    (Capability.EXERCISE, lambda cluster: cluster.executed("broker-0")),
    (Capability.CHECKPOINT, lambda cluster: cluster.freeze(Path())),
    (Capability.TOOLS, lambda cluster: cluster.run_tool("broker-0", "kafka-features", [])),
    (Capability.ZOOKEEPER_LOG, lambda cluster: cluster.zookeeper_log(0)),
    (Capability.METADATA_LOG, lambda cluster: cluster.metadata_log("controller-3000")),
    (Capability.METADATA_LOG, lambda cluster: cluster.metadata_batches("controller-3000")),
    (Capability.METADATA_LOG, lambda cluster: cluster.metadata_snapshots("controller-3000")),
]


def begin(cluster: Cluster, disturbance: Disturbance) -> None:
    """Disturb no link for no time."""
    with cluster.links.disturb([], disturbance):
        pass


@pytest.fixture
def recorder() -> MemoryRecorder:
    """Of what was refused."""
    return MemoryRecorder()


@pytest.fixture
def cluster(tmp_path: Path, recorder: MemoryRecorder) -> AttachedCluster:
    """One that offers nothing, at addresses where no process listens."""
    return cluster_of(written(tmp_path), recorder=recorder)


@pytest.mark.parametrize(("capability", "ask"), REFUSED)
def test_what_is_not_offered_is_refused_by_name(
    cluster: AttachedCluster, recorder: MemoryRecorder, capability: Capability, ask: Callable[[Cluster], object]
) -> None:
    """And recorded, so that the run is NOT_APPLICABLE whenever it is judged."""
    with pytest.raises(NotApplicableError, match=f"needs what this provider does not offer: {capability}"):
        ask(cluster)
    (event,) = recorder.of(EventKind.NOT_OFFERED)
    assert event.data["lacking"] == [capability]


def test_a_cluster_that_does_not_answer_is_not_begun_with(cluster: AttachedCluster) -> None:
    """Nothing is started in its place; controllers may come later."""
    with pytest.raises(ClusterError, match=r"answer; zookeeper-1, zookeeper-2, broker-0, broker-1 did not$"):
        cluster.start_initial()


def test_addresses_that_do_not_answer_are_each_named(tmp_path: Path) -> None:
    """With what happened there."""
    file = written(tmp_path)
    with pytest.raises(ClusterError) as raised:
        _ = AttachProvider(site_at(file), print).capabilities
    text = str(raised.value)
    assert text.startswith(f"{file}: bootstrap: expected a broker that lets us in; got: ")
    assert all(f"expected a broker at 127.0.0.1:{port}; got Connection refused" in text for port in (1, 2))
