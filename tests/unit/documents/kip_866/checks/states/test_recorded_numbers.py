"""Check of the numbers by which the log records the states."""

from pytest_kmigrate.documents.kip_866.checks.states.recorded_numbers import (
    recorded_states_have_their_documented_numbers,
)
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.documents.kip_866.checks.states.test_meaning import log, recorded
from tests.unit.documents.kip_866.diagnoses.naming import named


def test_swapped_numbers_violate_and_others_are_not_excused() -> None:
    """Violating: each state once, however many images show it."""
    verdict = recorded_states_have_their_documented_numbers.judge(recorded(log(2, 1, 3)))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 2)
    assert named(recorded(log(2, 1, 3)), verdict) == ("numbers-of-the-states",)
    assert [each.expected for each in verdict.violations] == [
        "PRE_MIGRATION is recorded as 1",
        "MIGRATION is recorded as 2",
    ]
    unknown = recorded_states_have_their_documented_numbers.judge(recorded(log(2, 9)))
    assert (unknown.outcome, named(recorded(log(2, 9)), unknown)) == (Outcome.VIOLATES, ())


def test_documented_numbers_conform_and_none_is_vacuous() -> None:
    """Conforming: what all agree on; vacuous: NONE says nothing of the numbers of a migration."""
    assert recorded_states_have_their_documented_numbers.judge(recorded(log(0, 3))).outcome is Outcome.CONFORMS
    assert recorded_states_have_their_documented_numbers.judge(recorded(log(0))).outcome is Outcome.INCONCLUSIVE
