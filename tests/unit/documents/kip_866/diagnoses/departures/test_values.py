"""Departures by a value: named by it, and by no other value of the same check."""

import pytest

from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, violates
from tests.unit.checkers.histories import history
from tests.unit.documents.kip_866.diagnoses.naming import named

TAKEN, READY = "migration_begins_when_every_node_is_ready", "only_live_brokers_count_as_ready"
STATE = "zookeeper_brokers_report_no_migration_state"


def violated(check: str, **facts: object) -> Verdict:
    """A check that was violated, with what it found."""
    return violates(check, Kind.LIVENESS, [Violation("a", "b")], **facts)


@pytest.mark.parametrize(
    ("verdict", "bugs"),
    [
        (violated("another_check", numbers=[4.0]), ()),
        (violated(STATE, numbers=[4.0]), ("zookeeper-brokers-report-a-state",)),
        (violated(STATE, numbers=[1.0, 4.0]), ()),
        (violated(READY, are_registrations=True), ("fenced-brokers-counted-as-ready",)),
        (violated(READY, are_registrations=False), ()),
        (violated(TAKEN, not_ready=["controller-3001"]), ("takeover-without-a-controller",)),
        (violated(TAKEN, not_ready=["controller-3001", "broker-1"]), ()),
        (violated(TAKEN, not_ready=[]), ()),
    ],
)
def test_a_departure_is_named_by_its_value_alone(verdict: Verdict, bugs: tuple[str, ...]) -> None:
    """Whatever else is wrong with the same thing is another defect."""
    assert named(history(), verdict) == bugs
