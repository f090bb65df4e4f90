"""Making a checkpoint, by a toy document on the fake provider."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.model.checkpoint import Start
from pytest_kmigrate.model.document import ClusterReader, Document, State, Step
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.protocols import Cluster, Reading, Scene
from pytest_kmigrate.model.provider import NOTHING_LOADED
from pytest_kmigrate.providers.fake import FakeProvider
from pytest_kmigrate.running.checkpoints import making
from pytest_kmigrate.running.checkpoints.checkpoint import Checkpoint, Key
from pytest_kmigrate.running.checkpoints.making import make
from tests.unit.fakes import topology

SHAPE = topology(zookeepers=0, brokers=2, controllers=1)
UP: list[dict[str, bool]] = []
"""Which nodes were up each time that somebody asked whether the cluster is settled."""


class Brand:
    """A move that leaves a mark on the controller's disk, unless a test makes it fail."""

    needs = frozenset[object]()
    fails = False

    def make(self, scene: Scene) -> None:
        """Carry it out."""
        if self.fails:
            raise ClusterError("the iron is cold")
        scene.cluster.node("controller-3000").disk.add("branded")  # type: ignore[attr-defined]  # a fake's


def settled(reader: ClusterReader) -> bool:
    """At once."""
    UP.append({node.name: node.alive for node in reader.cluster.nodes()})
    return True


def branding(_: Cluster) -> list[Brand]:
    """The moves of the one step."""
    return [Brand()]


TOY = Document(
    "toy",
    "A document with one step.",
    states=[State("phase", lambda _: Reading("BRANDED"))],
    procedure=[Step("brand", branding, ("phase", "BRANDED"))],  # type: ignore[arg-type]  # needs nothing
    starts={"BRANDED": None},
    is_settled=settled,
)


@pytest.fixture(autouse=True)
def _nobody_asked() -> None:
    UP.clear()


def test_a_cluster_is_driven_there_and_frozen_when_it_is_settled(tmp_path: Path) -> None:
    """Brokers are down by then; what the controllers still do in the background is waited for."""
    before = datetime.now(UTC)
    content = make(TOY, FakeProvider(), SHAPE, Start("BRANDED"), None, tmp_path / "disks")
    assert '"branded"' in (tmp_path / "disks/controller-3000/disk.json").read_text()
    assert UP == [{"broker-0": False, "broker-1": False, "controller-3000": True}]
    assert {name: node.is_up for name, node in content.frozen.nodes.items()} == dict.fromkeys(UP[0], True)
    assert before <= content.filled_at <= datetime.now(UTC)
    assert (content.changes, content.left_out) == ([], [])


def test_it_is_made_of_nodes_that_nothing_is_planted_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its key names no mutant, and runs with and without one begin from it."""
    given: list[dict[str, object]] = []
    provider, provision = FakeProvider(), FakeProvider.provision

    def noted(self: FakeProvider, *arguments: Any, **instruments: Any) -> Any:
        given.append(instruments)
        return provision(self, *arguments, **instruments)

    monkeypatch.setattr(FakeProvider, "provision", noted)
    make(TOY, provider, SHAPE, Start("BRANDED"), None, tmp_path / "disks")
    assert [each.get("instruments", NOTHING_LOADED) for each in given] == [NOTHING_LOADED]


def test_one_made_of_another_is_as_old_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the same tokens and records; it is not started from scratch, nor filled again."""
    first = make(TOY, FakeProvider(), SHAPE, Start("BRANDED"), None, tmp_path / "first")
    change = {"change": "create-topic", "subject": "a", "wanted": {}, "outcome": "ok", "error": ""}
    old = replace(first, filled_at=first.filled_at - timedelta(hours=5), changes=[change], left_out=["acls"])
    base = Checkpoint(Key("fake", {}, "shape", "toy", "BRANDED", (), "ours"), old, tmp_path / "first")
    monkeypatch.setattr(making.Metadata, "fill", lambda _: pytest.fail("filled again"))
    monkeypatch.setattr("pytest_kmigrate.running.checkpoints.resuming.in_sync", lambda _: True)
    content = make(TOY, FakeProvider(), SHAPE, Start("BRANDED", is_filled=True), base, tmp_path / "second")
    assert content == replace(old, frozen=content.frozen)


def test_what_keeps_a_cluster_from_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is frozen."""
    monkeypatch.setattr(Brand, "fails", True)
    with pytest.raises(ClusterError, match="the iron is cold"):
        make(TOY, FakeProvider(), SHAPE, Start("BRANDED"), None, tmp_path / "disks")
    assert not (tmp_path / "disks").exists()
