"""Check of a mutant: a rule that did nothing anywhere, or that Byteman refused, is named."""

import pytest

from pytest_kmigrate.checkers.run.mutants import mutant_was_in_force
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, history

CARRIED_OUT, WOVEN, NOWHERE = "carried out", "woven in, never reached", "woven into nothing"
FAILED = "failed: TypeException: invalid field reference"


@pytest.mark.parametrize("elsewhere", [CARRIED_OUT, WOVEN, NOWHERE])
def test_a_rule_that_one_process_carried_out_was_in_force(elsewhere: str) -> None:
    """Conforming: brokers have no code of a controller, and a node that is started again may never come by again."""
    reported = [event(EventKind.RULES_TOLD, rules={"a": each, "b": CARRIED_OUT}) for each in (elsewhere, CARRIED_OUT)]
    verdict = mutant_was_in_force.judge(history(events=reported))
    assert (verdict.outcome, verdict.summary) == (Outcome.CONFORMS, "2 rules carried out: a, b")


@pytest.mark.parametrize(
    ("outcomes", "reported"),
    [
        ([NOWHERE, NOWHERE], NOWHERE),
        ([NOWHERE, WOVEN], WOVEN),
        ([CARRIED_OUT, FAILED], FAILED),
    ],
)
def test_a_rule_that_did_nothing_is_told(outcomes: list[str], reported: str) -> None:
    """Inconclusive: the best that any process says, and a refusal before all."""
    events = [event(EventKind.RULES_TOLD, rules={"a": each, "b": CARRIED_OUT}) for each in outcomes]
    verdict = mutant_was_in_force.judge(history(events=events))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert verdict.summary == f"rule a: {reported}"


@pytest.mark.parametrize("reported", [[event(EventKind.RULES_TOLD, rules={})], []], ids=["comments only", "no answer"])
def test_rules_that_nobody_has_are_no_mutant(reported: list[Event]) -> None:
    """Inconclusive: a file without rules, or no Byteman that answered."""
    verdict = mutant_was_in_force.judge(history(events=reported))
    assert (verdict.outcome, verdict.summary) == (Outcome.INCONCLUSIVE, "no node was seen to have a rule")
