"""What a test does with metadata: the order of a block of changes, and when two sides have settled."""

import pytest

from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.running.metadata import Metadata, _differences_in
from tests.unit.fakes import Stage

Told = list[str]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """What a Metadata does, in order."""
    made: Told = []
    monkeypatch.setattr(Metadata, "change", lambda _self, per_s: made.append(f"change {per_s:g}"))
    monkeypatch.setattr(Metadata, "await_acknowledged", lambda _self: made.append("acknowledged"))
    monkeypatch.setattr(Metadata, "stop", lambda _self: made.append("stop"))
    monkeypatch.setattr(
        Metadata, "settle", lambda _self, label, sides: made.append(f"settle {label}: {' '.join(sides)}")
    )
    return made


@pytest.fixture
def metadata(stage: Stage) -> Metadata:
    """The metadata of a cluster of fakes."""
    return Metadata(stage.cluster, stage.view, None, stage.recorder, seed=1)  # type: ignore[arg-type]  # stand-ins


def test_changes_are_acknowledged_before_a_block_and_after_it(metadata: Metadata, told: Told) -> None:
    """What is in the block meets changes already made and must not keep later ones away; then the sides settle."""
    with metadata.changing("after", per_s=2, sides=("zookeeper", "brokers")):
        told.append("block")
    settled = "settle after: zookeeper brokers"
    assert told == ["change 2", "acknowledged", "block", "acknowledged", "stop", settled]


def test_an_error_in_the_block_comes_out_of_it_at_once(metadata: Metadata, told: Told) -> None:
    """Nobody waits for more changes on a cluster that failed; leaving the run ends them."""
    with pytest.raises(ZeroDivisionError), metadata.changing("after"):
        raise ZeroDivisionError
    assert told == ["change 1", "acknowledged"]


def test_sides_have_settled_when_each_equals_the_first() -> None:
    """Every place is counted where another side has something else; a family that one side cannot know is none."""
    log = MetadataImage("log", topics={"a": {"id": "1"}, "b": {"id": "2"}}, features={"x": 1})
    same = MetadataImage("zookeeper", known=("topics",), topics={"a": {"id": "1"}, "b": {"id": "2"}})
    behind = MetadataImage("brokers", known=("topics",), topics={"a": {"id": "9"}})
    assert _differences_in({"log": (log, 0), "zookeeper": (same, 1)}) == 0
    assert _differences_in({"log": (log, 0), "zookeeper": (same, 1), "brokers": (behind, 2)}) == 2
