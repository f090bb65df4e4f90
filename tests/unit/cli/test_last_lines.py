"""The last lines of ``kmigrate analyze`` say what was shown, what was found, and what to type next."""

from typing import Any

import pytest

from pytest_kmigrate.cli.last_lines import last_lines

_ASKED = {
    "profile": "kip-866",
    "requirements": 200,
    "asked": 40,
    "conforms": 30,
    "departure": 8,
    "remark": 0,
    "defect": 2,
    "violation": 0,
    "inconclusive": 0,
}
_VERSION = {"kafka": "3.9.1", "operations": 51234, "safety_violations": 0, "safety_bound": 0.64, "safety_runs": 3}
_DEFECT = {
    "level": "DEFECT",
    "title": "kmigrate-2",
    "condition": "Kafka 3.9.1",
    "example": "Nothing reaches ZooKeeper any more.",
    "detail": "Seen in 1 run",
    "reproduce": "pytest --pyargs a::test --kmigrate-seed 1",
}
_DEPARTURE = {"level": "DEPARTURE", "title": "10 departures", "condition": "", "example": "", "detail": "on purpose"}


def _report(*attention: dict[str, Any]) -> dict[str, object]:
    return {
        "headline": "No new violation in 3 runs",
        "asked": [_ASKED],
        "versions": [_VERSION],
        "attention": list(attention),
    }


def test_what_was_shown_is_counted_by_requirement_and_by_operation() -> None:
    """Requirements with their shares; operations with the bound of what was never seen."""
    assert last_lines(_report())[:3] == [
        "No new violation in 3 runs",
        "shown: 40 of 200 requirements of kip-866 were asked: 30 conform, 8 with a departure, 2 with a known defect",
        "shown: Kafka 3.9.1: 51,234 client operations, safety none broken in 3 runs, so at most 64% at 95 %",
    ]


def test_a_known_bug_is_named_with_its_cost_and_the_command_that_shows_it_again() -> None:
    """A reader of the terminal alone learns what the bug costs him."""
    lines = last_lines(_report(_DEFECT, _DEPARTURE))
    assert "found: DEFECT kmigrate-2 · Kafka 3.9.1: Nothing reaches ZooKeeper any more." in lines
    assert lines[-1] == "next: pytest --pyargs a::test --kmigrate-seed 1  (runs again what shows the first)"


@pytest.mark.parametrize("attention", [[], [_DEPARTURE]])
def test_where_nothing_was_found_the_next_step_is_a_cluster_of_ones_own(attention: list[dict[str, Any]]) -> None:
    """Departures ask for nothing."""
    lines = last_lines(_report(*attention))
    assert not any(each.startswith("found") for each in lines)
    assert lines[-1].startswith("next: kmigrate topology from server.properties")


def test_what_is_less_urgent_is_counted_only() -> None:
    """The terminal has three; the report has all."""
    assert "found: 2 more, less urgent, are in the report" in last_lines(_report(*[_DEFECT] * 5))
