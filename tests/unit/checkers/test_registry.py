"""The registry: names, judging, and what takes the ground from under a conforming verdict."""

import inspect
import json

import pytest

from pytest_kmigrate.checkers import checks
from pytest_kmigrate.checkers.registry import CHECKERS, checker, judge, recorded_checks
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, not_applicable
from tests.unit.checkers.histories import Row, event, fault, history, read_back, sent

ASKED_BY_THE_HARNESS = {
    "steps_completed",
    "expectations_met",
    "mutant_was_in_force",
    "metadata_changes_stay_accepted",
}
"""Checks that every run asks for by itself, so that tests need no constructor for them."""

CONSTRUCTED = [name for name in CHECKERS if name not in ASKED_BY_THE_HARNESS]

KEPT = [sent(0), read_back(0)]
LOST = [sent(0), sent(1), read_back(0)]


def _judged(rows: list[Row], *events: Event) -> Verdict:
    [verdict] = judge(history(rows, events), [checks.no_acked_record_lost()])
    return verdict


def test_a_check_is_judged_by_the_checker_of_its_name() -> None:
    """Verdicts come in the order of the checks, with their arguments given on."""
    several = [checks.no_acked_record_lost(), checks.longest_time_without_acked_write(at_most_s=1)]
    verdicts = judge(history(KEPT), several)
    assert [(each.check, each.outcome) for each in verdicts] == [
        ("no_acked_record_lost", Outcome.CONFORMS),
        ("longest_time_without_acked_write", Outcome.CONFORMS),
    ]


def test_an_unknown_check_is_wrong_use() -> None:
    """A misspelt name is answered with the nearest one, an outlandish one with all."""
    with pytest.raises(WrongUseError, match="did you mean no_acked_record_lost"):
        checker("no_acked_records_lost")
    with pytest.raises(WrongUseError, match="there are: no_acked_record_lost, "):
        judge(history(), [Check("zzz")])


def test_a_checker_that_raises_is_inconclusive() -> None:
    """The error is in the summary; wrong arguments count alike; neither is ever a pass."""

    def broken(_: History) -> Verdict:
        raise KeyError("offset")

    [verdict] = judge(history(KEPT), [Check("broken")], {"broken": broken})
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.HARNESS)
    assert verdict.summary == "the checker itself failed: KeyError: 'offset'"
    [verdict] = judge(history(KEPT), [Check("no_acked_record_lost", {"strict": True})])
    assert verdict.outcome is Outcome.INCONCLUSIVE


def test_an_unwitnessed_fault_makes_conforming_verdicts_inconclusive() -> None:
    """A fault that did not bite proves nothing; the summary says so and what would have been said."""
    verdict = _judged(KEPT, *fault(1, "cut(a-b)", witnessed=False))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert verdict.summary == (
        "cut(a-b) was never witnessed to bite - so it proves nothing that none of 1 acknowledged record was lost"
    )
    assert _judged(KEPT, *fault(1, "cut(a-b)")).outcome is Outcome.CONFORMS


def test_trouble_and_deaths_make_conforming_verdicts_inconclusive() -> None:
    """Our own trouble is HARNESS, a node that died by itself INFRA."""
    trouble = event(EventKind.HARNESS_TROUBLE, 1, what="probe stopped", error="timed out")
    death = event(EventKind.NODE_DIED, 2, "broker-1", exit_code=1)
    assert _judged(KEPT, trouble, death).kind is Kind.HARNESS
    verdict = _judged(KEPT, death)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.INFRA)
    assert "broker-1 died by itself with exit code 1" in verdict.summary


def test_a_violation_stands_whatever_else_happened() -> None:
    """No trouble explains a lost record away."""
    trouble = event(EventKind.HARNESS_TROUBLE, 1, what="probe stopped")
    verdict = _judged(LOST, trouble, *fault(1, witnessed=False))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.SAFETY)


def test_each_verdict_speaks_for_the_requirements_of_the_run() -> None:
    """Those that the test claims."""
    verdict = judge(history(KEPT, requirements=("K866-RB-data-kept",)), [checks.no_acked_record_lost()])[0]
    assert verdict.requirements == ("K866-RB-data-kept",)


def test_what_a_check_left_undecided_is_not_kept_because_others_hold() -> None:
    """Whoever is not applicable says what nothing else speaks for; a violation speaks for everything claimed."""
    lost, single = "K866-RB-data-kept", "K866-PROC-single-transaction"

    def judged(rows: list[Row]) -> dict[Outcome, tuple[str, ...]]:
        known = {**CHECKERS, "copied": lambda _: not_applicable("copied", "no transactions", single)}
        asked = [Check("no_acked_record_lost"), Check("copied")]
        found = judge(history(rows, requirements=(lost, single)), asked, known)
        return {verdict.outcome: verdict.requirements for verdict in found}

    assert judged(KEPT) == {Outcome.CONFORMS: (lost,), Outcome.NOT_APPLICABLE: (lost, single)}
    assert judged(LOST)[Outcome.VIOLATES] == (lost, single)


def test_recorded_checks_are_those_of_all_events_once_each() -> None:
    """What a run asked for can be judged again from its history alone."""
    recorded = [{"name": "phase_reached", "arguments": {"phase": "HYBRID"}}, {"name": "no_phantom_record"}]
    events = [event(EventKind.CHECKS, at, checks=recorded[: at + 1]) for at in range(2)]
    assert recorded_checks(history(events=events)) == [checks.phase_reached("HYBRID"), checks.no_phantom_record()]


@pytest.mark.parametrize("name", CONSTRUCTED)
def test_every_checker_has_a_constructor_with_its_arguments(name: str) -> None:
    """``checks`` offers each checker under its name, with its parameters, and nothing else."""
    parameters = list(inspect.signature(CHECKERS[name]).parameters)[1:]
    assert list(inspect.signature(getattr(checks, name)).parameters) == parameters


@pytest.mark.parametrize(
    "check",
    [
        checks.metadata_equivalent("log", "zookeeper", ("topics",), ("leader",)),
        checks.acknowledged_metadata_changes_present("log"),
        checks.longest_time_without_acked_write(5),
        checks.phase_reached(Phase.HYBRID),
    ],
)
def test_arguments_survive_json(check: Check) -> None:
    """A check read back from a run folder equals the one that was asked for."""
    assert Check(check.name, json.loads(json.dumps(check.arguments))) == check


@pytest.mark.parametrize("name", CONSTRUCTED)
def test_no_checker_conforms_over_an_empty_history(name: str) -> None:
    """A check over nothing is never a pass, and every constructor's check can be judged."""
    arguments = {"phase": "HYBRID", "left": "log", "right": "zookeeper", "label": "log", "metric": "ZkMigrationState"}
    wanted = [p for p in inspect.signature(CHECKERS[name]).parameters if p in arguments]
    [verdict] = judge(history(), [Check(name, {each: arguments[each] for each in wanted})])
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert not verdict.summary.startswith("the checker itself failed")
