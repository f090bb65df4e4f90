"""Making a checkpoint: a cluster is filled, driven to a state, found equal on all sides, and frozen."""

import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from pytest_kmigrate.checkers.metadata.differences import differences
from pytest_kmigrate.model.checkpoint import Start
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.recording.recorder import RunRecorder
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.running.checkpoints.checkpoint import Checkpoint, Content
from pytest_kmigrate.running.checkpoints.resuming import await_settled, resume
from pytest_kmigrate.running.images import LOG, ZOOKEEPER
from pytest_kmigrate.running.metadata import Metadata
from pytest_kmigrate.running.scene import driver_of, scene_of, zookeeper_client
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until

_SEED = 1
"""One seed for all: a checkpoint serves runs of every seed."""


def make(
    document: Document, provider: Provider, topology: Topology, start: Start, base: Checkpoint | None, disks: Path
) -> Content:
    """Bring a cluster of its own to ``start``, from the checkpoint ``base`` if there is one, and copy its disks.

    KmigrateError when it does not come so far, or its metadata is not equal on all sides: a run must show that, with
    evidence of its own.
    """
    filled_at = base.content.filled_at if base else datetime.now(UTC)
    with tempfile.TemporaryDirectory(prefix="kmigrate-checkpoint-") as scratch:
        header = RunHeader("checkpoint", "", _SEED, topology.kafka, topology.name, provider.name, document.id)
        recorder = RunRecorder(RunFolder(Path(scratch)), header)
        with closing(recorder), provider.provision(topology, recorder, recorder.folder.logs) as cluster:
            zookeeper = zookeeper_client(cluster)
            close: Callable[[], None] = zookeeper.close if zookeeper else lambda: None
            scene = scene_of(document, cluster, zookeeper, recorder, _SEED, phase=base.key.state if base else None)
            metadata = Metadata(cluster, scene.view, zookeeper, recorder, _SEED, "")
            metadata.leave_out(document.unfilled(topology))

            def before_controllers() -> None:
                await_settled(document, scene)
                close()  # while there is still a ZooKeeper that ends the session

            try:
                _bring(document, scene, metadata, start, base)
                frozen = cluster.freeze(disks, before_controllers)
            finally:
                close()
        changes = [_plain(event) for event in recorder.events if event.kind is EventKind.METADATA_CHANGE]
        return Content(frozen, filled_at, changes, sorted(metadata.left_out))


def _bring(document: Document, scene: Scene, metadata: Metadata, start: Start, base: Checkpoint | None) -> None:
    driver = driver_of(document, scene)
    if base is not None:
        resume(base, document, scene, driver, metadata)
    else:
        scene.cluster.start_initial()
        scene.cluster.await_serving()
        if start.is_filled:
            metadata.fill()
    driver.advance_to(start.state)
    if scene.cluster.topology.has_zookeeper:
        until(lambda: _are_equal(metadata), awaited="equal metadata in log and ZooKeeper", within_s=PATIENCE_S)


def _are_equal(metadata: Metadata) -> bool | NotYet:
    found = differences(metadata.seen(LOG), metadata.seen(ZOOKEEPER))
    return not found or NotYet(f"{len(found)} differences, the first in {found[0].subject}")


def _plain(event: Event) -> dict[str, object]:
    """A change without what is true of the run that made it only."""
    return {key: value for key, value in event.data.items() if key not in ("began_ns", "inherited")}
