"""Resuming: a new cluster takes up where the cluster of a checkpoint was stopped."""

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_kmigrate.model.document import ClusterReader, Document, Driver
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.protocols import Cluster, Scene
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.running.checkpoints.checkpoint import Checkpoint
from pytest_kmigrate.running.metadata import Metadata
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until


def resume(checkpoint: Checkpoint, document: Document, scene: Scene, driver: Driver, metadata: Metadata) -> None:
    """Start the nodes from the checkpoint's disks; return when the cluster is as far as it was, settled and in sync.

    The changes that it was filled by come first in the history, as inherited ones: what is acknowledged must last,
    whichever run acknowledged it.
    """
    record_inherited(scene.recorder, checkpoint.content.changes)
    metadata.left_out |= set(checkpoint.content.left_out)
    scene.cluster.thaw(checkpoint.disks, checkpoint.content.frozen)
    scene.cluster.await_serving()
    driver.resume_at(checkpoint.key.state)
    await_settled(document, scene)
    until(lambda: in_sync(scene.cluster), awaited="every replica in sync", within_s=PATIENCE_S)


def await_settled(document: Document, scene: Scene, within_s: float = PATIENCE_S) -> None:
    """Return when the cluster is settled, as the document has it."""
    is_settled = document.is_settled
    if is_settled is not None:
        znodes = scene.znodes if scene.cluster.topology.has_zookeeper else None
        reader = ClusterReader(scene.cluster, znodes, lambda _name: None)
        until(lambda: is_settled(reader), awaited="a settled cluster", within_s=within_s)


def in_sync(cluster: Cluster) -> bool | NotYet:
    """Whether no live broker that leads a partition lacks a replica of it."""
    metric = "UnderReplicatedPartitions"
    live = [node.name for node in cluster.nodes(Role.BROKER) if node.alive]
    lacking = {name: cluster.metrics(name, [metric])[metric] for name in live}
    return all(count == 0 for count in lacking.values()) or NotYet(f"under-replicated partitions: {lacking}")


def record_inherited(recorder: Recorder, changes: Iterable[Mapping[str, object]]) -> None:
    """Record changes of metadata that were made before the run."""
    for change in changes:
        fields: dict[str, Any] = {**change, "began_ns": recorder.now_ns(), "inherited": True}
        recorder.record(MetadataChanged(**fields))
