"""Which checkpoint a run begins from, of what it is made, and what becomes of a cluster that takes up from it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from pytest_kmigrate.documents.kip_866.document import DOCUMENT
from pytest_kmigrate.documents.kip_866.driver import MigrationDriver
from pytest_kmigrate.documents.kip_866.procedure import ROLL_TO_KRAFT
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checkpoint import Frozen, Start
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import PHASE, EventKind
from pytest_kmigrate.model.protocols import Reading, Scene
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.model.topology import Role, Security, Topology
from pytest_kmigrate.providers.fake import FakeProvider
from pytest_kmigrate.providers.fake.provider import CAPABILITIES
from pytest_kmigrate.running.checkpoints import checkpoints as room
from pytest_kmigrate.running.checkpoints.checkpoint import Checkpoint, Content, Key
from pytest_kmigrate.running.checkpoints.checkpoints import Checkpoints
from pytest_kmigrate.running.checkpoints.resuming import in_sync, resume
from pytest_kmigrate.running.metadata import Metadata
from pytest_kmigrate.workloads.metadata.filling import FAMILIES
from tests.unit.fakes import FakeView, FakeZnodes, MemoryRecorder, Stage, topology

SHAPE = topology()
CHANGE = {"change": "create-topic", "subject": "filled-one", "wanted": {"partitions": 1}, "outcome": "ok", "error": ""}


class Made:
    """What was made, and of what."""

    def __init__(self) -> None:
        self.starts: list[Start] = []
        self.bases: list[str | None] = []
        self.reported: list[str] = []
        self.fails = False

    def __call__(
        self,
        document: Document,
        provider: Provider,
        shape: Topology,
        start: Start,
        base: Checkpoint | None,
        disks: Path,
    ) -> Content:
        """Nothing on any disk."""
        self.starts.append(start)
        self.bases.append(base and base.key.state)
        if self.fails:
            raise ClusterError("the quorum stands still")
        return Content(Frozen({}, 7, 8), datetime.now(UTC))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Made:
    """An empty cache, and checkpoints that cost nothing."""
    monkeypatch.setenv("KMIGRATE_CACHE", str(tmp_path / "cache"))
    making = Made()
    monkeypatch.setattr(room, "make", making)
    return making


def held(made: Made, start: Start, shape: Topology = SHAPE, provider: FakeProvider | None = None) -> Checkpoint | None:
    """What a run of a new pytest would begin from."""
    checkpoints = Checkpoints(provider or FakeProvider(), DOCUMENT, made.reported.append)
    with checkpoints.held(shape, start) as checkpoint:
        return checkpoint


def test_what_a_run_begins_from_is_made_once_and_kept_in_the_cache(made: Made, tmp_path: Path) -> None:
    """Filled with every family or with none: each is one of its own."""
    first, again = held(made, Start("HYBRID", is_filled=True)), held(made, Start("HYBRID", is_filled=True))
    empty = held(made, Start("HYBRID"))
    assert first == again
    assert first is not None
    assert empty is not None
    assert [tuple(each.key.families) for each in (first, empty)] == [FAMILIES, ()]
    assert made.starts == [Start("HYBRID", is_filled=True), Start("HYBRID")]
    assert first.disks.is_relative_to(tmp_path / "cache" / "checkpoints")
    assert made.reported == [
        "making a checkpoint: small in HYBRID, filled; it serves other runs, too",
        "making a checkpoint: small in HYBRID; it serves other runs, too",
    ]


def test_all_kraft_is_made_of_hybrid(made: Made) -> None:
    """Which is made for it, filled alike, if it is not there yet."""
    assert held(made, Start("ALL_KRAFT", is_filled=True)) is not None
    assert made.starts == [Start("ALL_KRAFT", is_filled=True), Start("HYBRID", is_filled=True)][::-1]
    assert made.bases == [None, "HYBRID"]


def test_where_there_can_be_none_the_run_starts_from_scratch(made: Made) -> None:
    """Told in a line: a provider that makes none, a topology with passwords, or a cluster that does not come there."""
    provider = FakeProvider(CAPABILITIES - {Capability.CHECKPOINT})
    secured = replace(SHAPE, security=Security(client="SASL_PLAINTEXT"))
    assert held(made, Start("HYBRID"), provider=provider) is None
    assert held(made, Start("HYBRID"), secured) is None
    assert (made.starts, made.reported) == (
        [],
        [
            "small starts from scratch, not from a checkpoint: provider fake makes none",
            "small starts from scratch, not from a checkpoint: each cluster has passwords of its own",
        ],
    )
    made.fails = True
    assert held(made, Start("ALL_KRAFT")) is None
    assert made.reported[-2].endswith("so this run starts from scratch: the quorum stands still")
    assert made.reported[-1].endswith("so this run starts from scratch: there is no checkpoint HYBRID to make it of")


@contextmanager
def unstarted(tmp_path: Path) -> Iterator[Stage]:
    """A cluster of which nothing is started; it is seen in HYBRID, as it will be."""
    recorder = MemoryRecorder()
    view = FakeView(leader="controller-3001", controller="controller-3001", readings={PHASE: Reading("HYBRID")})
    with FakeProvider().provision(SHAPE, recorder, tmp_path) as cluster:
        for broker in cluster.nodes(Role.BROKER):
            cluster.reported[broker.name] = {"UnderReplicatedPartitions": 0}
        cluster.reported["controller-3001"] = {"ActiveControllerCount": 1, "ZkWriteBehindLag": 0}
        znodes = FakeZnodes(**{"/controller": b'{"brokerid": 3001, "kraftControllerEpoch": 2}'})
        yield Stage(Scene(cluster, view, znodes, recorder, 1), cluster, view, znodes, recorder)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    """Of a cluster that was driven to HYBRID by hand."""
    with FakeProvider().provision(SHAPE, MemoryRecorder(), tmp_path / "logs") as cluster:
        cluster.start_together(cluster.nodes())
        cluster.node("broker-1").reconfigure({"controller.listener.names": "CONTROLLER"})
        frozen = cluster.freeze(tmp_path / "disks")
    key = Key("fake", {}, "shape", "kip-866", "HYBRID", FAMILIES, "ours")
    return Checkpoint(key, Content(frozen, datetime.now(UTC), [CHANGE], ["acls"]), tmp_path / "disks")


def test_a_cluster_takes_up_where_that_of_the_checkpoint_was(tmp_path: Path, checkpoint: Checkpoint) -> None:
    """Its history begins with what was filled in, as inherited; the driver goes on with the next step."""
    with unstarted(tmp_path) as stage:
        metadata = Metadata(stage.cluster, stage.view, None, cast("object", stage.recorder), 1, "")  # type: ignore[arg-type]
        driver = MigrationDriver(stage.scene)
        resume(checkpoint, DOCUMENT, stage.scene, driver, metadata)
        first = stage.recorder.events[0]
        assert first.kind is EventKind.METADATA_CHANGE
        assert first.data == {**CHANGE, "began_ns": 0, "inherited": True}
        assert all(node.alive for node in stage.cluster.nodes())
        assert stage.cluster.node("broker-1").properties["controller.listener.names"] == "CONTROLLER"
        assert metadata.left_out == {"acls"}
        driver.begin(ROLL_TO_KRAFT, moves=0)


def test_in_sync_means_that_no_broker_lacks_a_replica_and_each_says_so(tmp_path: Path) -> None:
    """One that does not answer may lack any."""
    with unstarted(tmp_path) as stage:
        stage.cluster.start_together(stage.cluster.nodes())
        assert in_sync(stage.cluster) is True
        for reported in ({"UnderReplicatedPartitions": 2}, {}):
            stage.cluster.reported["broker-2"] = reported
            assert in_sync(stage.cluster) is not True
