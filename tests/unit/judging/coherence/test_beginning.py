"""A run inherits no more than there was when it began."""

from collections.abc import Mapping

import pytest

from pytest_kmigrate.judging.coherence.beginning import inherited_was_there, scenes_have_a_cluster
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, RunHeader, Transaction

BATCHES = [[0, 4, 1, 77, None], [5, 9, 1, 78, None]]


def run(scene: Mapping[str, int] | None) -> History:
    """A run whose metadata log ends at offset 9, with the transactions 31 and 32 of its own."""
    header = RunHeader("r", "t", 1, "3.9.1", "small", extra={"scene": scene})
    started = {"role": "controller", "mode": None, "pid": 1, "kafka": "3.9.1", "incarnation": 1, "inherited": True}
    events = (
        Event(0, 0, EventKind.NODE_STARTED, "controller-3000", started),
        Event(1, 9, EventKind.RAFT_LOG, "controller-3000", {"batches": BATCHES}),
    )
    return History(header, events, transactions=(Transaction(1, 31, 1), Transaction(2, 32, 1)))


@pytest.mark.parametrize(
    ("log_offset", "zxid", "named"),
    [
        (4, 30, []),
        (9, 30, []),
        (4, 31, ["transactions up to 31 from before the run, but ZooKeeper logged 31 since it began"]),
        (10**9, 30, ["up to offset 1000000000 from before the run, but no node has more than 10 records at the end"]),
    ],
)
def test_what_was_inherited_was_there(log_offset: int, zxid: int, named: list[str]) -> None:
    """What happened before a run is not judged in it."""
    found = [str(each) for each in inherited_was_there(run({"place": 1, "log_offset": log_offset, "zxid": zxid}))]
    assert [each in got for each, got in zip(named, found, strict=True)] == [True] * len(named)


@pytest.mark.parametrize(("scene", "found"), [({"place": 1, "log_offset": 4, "zxid": 3}, 0), (None, 1)])
def test_nodes_from_before_a_run_are_those_of_a_scene(scene: Mapping[str, int] | None, found: int) -> None:
    """A run of a cluster of its own has started each of its nodes."""
    assert len(list(scenes_have_a_cluster(run(scene)))) == found
