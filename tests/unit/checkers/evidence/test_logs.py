"""Facts about when lines of logs were logged."""

from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.evidence.logs import was_logged_between
from pytest_kmigrate.faults.resources import Clock
from pytest_kmigrate.faults.targets import node
from pytest_kmigrate.model.event import EventKind
from tests.unit.checkers.histories import MS, event, history

FAULT = {
    "fault": str(Clock(node("broker-1"), seconds=90, forward=True)),
    "fault_id": "f",
    "effect": "clock",
    "trigger": "now",
}
SET = [
    event(EventKind.FAULT_BEGAN, 10_000, **FAULT),
    event(EventKind.FAULT_APPLIED, 10_100, fault_id="f", targets=["broker-1"]),
    event(EventKind.FAULT_HEALED, 30_000, fault_id="f", fault=FAULT["fault"]),
]


@pytest.mark.parametrize(
    ("time", "logged_by", "since_ms", "to_ms", "is_between"),
    [
        ("08:00:20", "broker-0", 15_000, 25_000, True),
        ("08:00:40", "broker-0", 15_000, 25_000, False),
        ("11:00:20", "broker-0", 15_000, 25_000, True),
        ("08:01:50", "broker-1", 15_000, 25_000, True),
        ("08:01:50", "broker-0", 15_000, 25_000, False),
        ("08:01:50", "broker-1", 21_000, 25_000, False),
        ("08:02:05", "broker-1", 31_000, 39_000, False),
        ("08:00:20", "broker-1", 15_000, 25_000, False),
        ("08:00:20", "broker-1", 15_000, 45_000, False),
        ("08:00:12", "broker-1", 9_000, 25_000, True),
        ("08:00:32", "broker-1", 15_000, 45_000, True),
    ],
    ids=[
        *("in it", "later", "in another zone", "by a set clock", "by no set clock", "earlier, by it", "after the heal"),
        *("by the former clock", "by the former clock, and it is set right", "not read yet", "set right"),
    ],
)
def test_a_line_has_the_time_of_its_node(
    time: str, logged_by: str, since_ms: int, to_ms: int, *, is_between: bool
) -> None:
    """In any time zone, and by the clock that a fault had set then."""
    run = history(events=SET)
    run = replace(run, header=replace(run.header, started_at="2026-11-30T08:00:00+00:00"))
    line = f"2026-11-30 {time},000 INFO it is so\n"
    assert was_logged_between(run, line, since_ms * MS, to_ms * MS, logged_by) is is_between
    assert not was_logged_between(run, line.partition(" ")[2], since_ms * MS, to_ms * MS, logged_by)
