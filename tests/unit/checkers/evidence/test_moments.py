"""Moments and wording: when and how much, as people read it."""

import pytest

from pytest_kmigrate.checkers.evidence.moments import evidence_at, faults_during, phase_at, when
from pytest_kmigrate.checkers.evidence.wording import counted, listed, number, ranges, span
from pytest_kmigrate.model.event import EventKind
from tests.unit.checkers.histories import MS, event, fault, history, phase

RUN = history(
    events=[
        phase(1000, "PREPARING"),
        phase(2000, "HYBRID"),
        *fault(3000, "kill(active-controller)"),
        event(EventKind.FAULT_HEALED, 5000, fault_id="kill(active-controller)"),
    ]
)


@pytest.mark.parametrize(
    ("at_ms", "expected"),
    [
        (500, "500 ms after the run began"),
        (1500, "1.5 s after the run began, in PREPARING"),
        (4200, "1.2 s after kill(active-controller) began, in HYBRID"),
        (5040, "40 ms after kill(active-controller) was healed, in HYBRID"),
        (205_000, "200 s after kill(active-controller) was healed, in HYBRID"),
    ],
)
def test_an_instant_is_placed_after_the_nearest_edge_of_a_fault(at_ms: int, expected: str) -> None:
    """The time since the last edge of a fault, and the phase; without either, less is said."""
    assert when(RUN, at_ms * MS) == expected


def test_evidence_names_the_events_that_place_an_instant() -> None:
    """The fault's edge first, then the phase's."""
    assert evidence_at(RUN, 4200 * MS) == ("event 2", "event 1")
    assert evidence_at(RUN, 1) == ()
    assert phase_at(RUN, 1) is None


def test_faults_during_a_span_are_those_in_force_at_any_time_of_it() -> None:
    """A fault healed before, or begun after, does not count."""
    assert faults_during(RUN, 0, 2999 * MS) == []
    assert faults_during(RUN, 0, 3000 * MS) == ["kill(active-controller)"]
    assert faults_during(RUN, 5001 * MS, 9000 * MS) == []


@pytest.mark.parametrize(("effect", "is_felt"), [("misname", True), ("cut", False)])
def test_a_name_that_was_not_found_is_looked_up_ten_seconds_later(effect: str, *, is_felt: bool) -> None:
    """The name service is well again, and the node does not ask it yet."""
    began = event(EventKind.FAULT_BEGAN, 3000, fault="f(every-broker)", fault_id="f", effect=effect, trigger="now")
    run = history(events=[began, event(EventKind.FAULT_HEALED, 5000, fault_id="f")])
    assert bool(faults_during(run, 14_900 * MS, 16_000 * MS)) is is_felt
    assert not faults_during(run, 15_100 * MS, 16_000 * MS)


def test_counts_spans_and_ranges_read_well() -> None:
    """Thousands apart, one in the singular, consecutive numbers as a range, long lists cut with their rest."""
    assert (number(18204), counted(1, "record"), counted(1200, "record")) == ("18 204", "1 record", "1 200 records")
    assert (span(240 * MS), span(1_200 * MS)) == ("240 ms", "1.2 s")
    assert ranges([413, 9, 411, 412, 412]) == "9, 411-413"
    assert ranges(range(0, 12, 2)) == "0, 2, 4, 6 and 2 more ranges"
    assert listed(["a", "b"], "name", "; ") == "a; b"
