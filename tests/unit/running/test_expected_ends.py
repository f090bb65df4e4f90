"""Facts about expected ends: the block waits for them, records them, and swallows only what such an end causes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError, NodeDiedError, WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.nodes import NodeDied
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.running.expected_ends import end_allowed, end_expected, started
from tests.unit.fakes import MemoryRecorder


@dataclass
class Node:
    """Is up for so many looks."""

    name: str
    looks: int
    error: Exception | None = None
    spare: bool = False

    @property
    def properties(self) -> dict[str, str]:
        """None that a trial changes."""
        return {}

    def reconfigure(self, changes: object) -> None:
        """Takes any."""

    def start(self) -> None:
        """Begins to be up, or dies at once."""
        self.spare = False
        if self.error:
            self.looks = 0
            raise self.error

    def stop(self) -> None:
        """Is up no more."""
        self.looks = 0

    @property
    def alive(self) -> bool:
        """Whether it is still up."""
        if self.spare:
            return False
        self.looks -= 1
        return self.looks >= 0


def cluster(*nodes: Node) -> Cluster:
    """Only knows its nodes by their names."""

    class Nodes:
        def node(self, name: str) -> Node:
            return next(each for each in nodes if each.name == name)

    return cast("Cluster", Nodes())


def recorded(recorder: MemoryRecorder) -> Sequence[object]:
    """What the one event says."""
    (event,) = recorder.of(EventKind.EXPECTED_END)
    return [event.data.get(key) for key in ("nodes", "within_s", "naming", "requirements")]


def test_the_block_waits_for_the_end() -> None:
    """And what the cluster's driver raises meanwhile is no failure of the test."""
    recorder = MemoryRecorder()
    with end_expected(cluster(Node("a", 2)), recorder, "a", within_s=30, naming="x.y", requirements=["R"]):
        raise NodeDiedError("a", 1, "")
    assert recorded(recorder) == [["a"], 30, "x.y", ["R"]]


def test_a_node_that_stays_up_is_recorded_and_left_to_verify() -> None:
    """Time is up; the check says that it did not end."""
    recorder = MemoryRecorder()
    with end_expected(cluster(Node("a", 9_999)), recorder, "a", within_s=0):
        pass
    assert recorded(recorder) == [["a"], 0, None, None]


@pytest.mark.parametrize("error", [ClusterError("phase HYBRID: not within 9 s"), WrongUseError("no such step")])
def test_other_errors_are_raised_on(error: Exception) -> None:
    """Of a cluster whose nodes are all up, and any that is not about a cluster; the expectation is recorded."""
    recorder = MemoryRecorder()
    with pytest.raises(type(error)), end_expected(cluster(Node("a", 9_999)), recorder, "a", within_s=0):
        raise error
    assert recorder.of(EventKind.EXPECTED_END)


def test_an_end_may_come_or_not() -> None:
    """What the driver raises of a node that died, or is not ready, is no failure; another error is raised on."""
    for error in (None, NodeDiedError("a", 1, ""), AwaitTimeoutError("a ready", 9, "")):
        recorder = MemoryRecorder()
        with end_allowed(cluster(Node("a", 2)), recorder, "a"):
            if error:
                raise error
        (event,) = recorder.of(EventKind.EXPECTED_END)
        assert (event.data["nodes"], event.data["is_optional"]) == (["a"], True)
    with pytest.raises(WrongUseError, match="no such step"), end_allowed(cluster(Node("a", 2)), recorder, "a"):
        raise WrongUseError("no such step")


def test_an_expectation_of_no_node_is_wrong_use() -> None:
    """It would conform whatever happens."""
    with (
        pytest.raises(WrongUseError, match="expect_end: expected names of nodes"),
        end_expected(cluster(), MemoryRecorder()),
    ):
        pytest.fail("the block must not begin")
    with pytest.raises(WrongUseError, match="may_end: expected names"), end_allowed(cluster(), MemoryRecorder()):
        pytest.fail("the block must not begin")


def test_a_trial_reports_how_a_node_starts() -> None:
    """Ready, or by which error it ended: at once, or in the time in which it must stay up. Nothing is claimed by it."""
    recorder = MemoryRecorder()
    up, dead = Node("a", 9_999, spare=True), Node("a", 9, NodeDiedError("a", 1, "no address"), spare=True)
    assert started(cluster(up), recorder, "a", {"x": "y"}) == "ready"
    assert "no address" in started(cluster(dead), recorder, "a", {})
    recorder.record(NodeDied(1, "no level"), "a")
    assert started(cluster(Node("a", 0, spare=True)), recorder, "a", {}, for_s=9) == "a was ready and died: no level"
    assert [event.data["is_optional"] for event in recorder.of(EventKind.EXPECTED_END)] == [True] * 3
