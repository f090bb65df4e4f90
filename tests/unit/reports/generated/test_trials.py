"""What a test of a mutant shows, by its verdicts and by what nodes reported of the class."""

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_kmigrate.checkers.run.runs import no_unexpected_death
from pytest_kmigrate.checkers.run.steps import steps_completed
from pytest_kmigrate.model.event import Event, EventKind, RuleOutcome
from pytest_kmigrate.model.mutants import Fate
from pytest_kmigrate.reports.fates import Judged
from pytest_kmigrate.reports.generated.trials import Anyway, Trial, fate_of, trial_of

LOADED = Event(0, 0, EventKind.RULES_TOLD, "controller-3000", {"rules": {"m": RuleOutcome.CARRIED_OUT}})
ELSEWHERE = Event(1, 1, EventKind.RULES_TOLD, "broker-0", {"rules": {"m": RuleOutcome.NOWHERE}})
ASKED = Event(2, 2, EventKind.CHECKS, None, {})
ALL = [LOADED, ELSEWHERE, ASKED]
FAILED, PASSED = (Event(3, 3, EventKind.RUN_ENDED, None, {"test": each}) for each in ("failed", "known-bug"))


UP_ONLY = Event(9, 9, EventKind.RUN_ENDED, None, {"seals": {}})


def verdict(
    *requirements: str,
    outcome: str = "VIOLATES",
    known_bugs: Sequence[str] = (),
    check: str = "c",
    evidence: str = "event 9",
    explained: Sequence[str] = (),
) -> dict[str, Any]:
    """One that speaks for these; ``explained``: those of them that a known bug explains."""
    bugs = {each: list(known_bugs or ["KAFKA-9"] if each in explained else known_bugs) for each in requirements}
    about = [{"requirement": each, "outcome": outcome, "known_bugs": bugs[each]} for each in requirements]
    found = [{"observed": "o", "evidence": [evidence]}] if outcome == "VIOLATES" else []
    facts = {"summary": "s", "known_bugs": list(known_bugs), "violations": found, "about": about}
    return {"check": check, "outcome": outcome, **facts}


ANYWAY = Anyway({("c", "always-there")}, {"its-own"})
STEP = Event(4, 4, EventKind.STEP_ENDED, None, {"step": "finalize", "outcome": "failed", "reason": "not in time"})
DIED, DIED_LATER = (
    Event(seq, seq, EventKind.NODE_DIED, "controller-3000", {"exit_code": 1, "said": ""}) for seq in (3, 5)
)
GREEN = verdict("K1", outcome="CONFORMS")


@pytest.mark.parametrize(
    ("verdicts", "events", "fate"),
    [
        ([GREEN], ALL, Fate.SURVIVED),
        ([GREEN, verdict("K1", "K2")], ALL, Fate.KILLED),
        ([GREEN, verdict("K1", known_bugs=["KAFKA-1"])], ALL, Fate.EXCUSED),
        ([GREEN, verdict("K1", known_bugs=["always-there"])], ALL, Fate.SURVIVED),
        ([GREEN, verdict("K1", known_bugs=["its-own"])], ALL, Fate.SURVIVED),
        ([verdict("K1", known_bugs=["KAFKA-1"]), verdict("K2")], ALL, Fate.KILLED),
        ([verdict("K9", explained=["K9"])], ALL, Fate.WEAK),
        ([verdict()], ALL, Fate.WEAK),
        ([GREEN], [LOADED], Fate.WEAK),
        ([GREEN], [*ALL, PASSED], Fate.SURVIVED),
        ([GREEN], [*ALL, FAILED], Fate.UNDECIDED),
        ([GREEN, verdict("K1")], [*ALL, FAILED], Fate.KILLED),
        ([GREEN, verdict("K1", check=steps_completed.name)], ALL, Fate.WEAK),
        ([verdict("K1", check=steps_completed.name), verdict("K2")], ALL, Fate.KILLED),
        ([verdict("K1", evidence="event 4")], [*ALL, STEP], Fate.WEAK),
        ([verdict("K1", evidence="event 4")], [*ALL, STEP, DIED_LATER], Fate.WEAK),
        ([verdict("K1", evidence="event 4")], [*ALL, DIED, STEP], Fate.KILLED),
        ([verdict("K1")], [ELSEWHERE, ASKED], Fate.NOT_LOADED),
        ([verdict("K1")], [ASKED], Fate.NOT_LOADED),
        ([], ALL, Fate.NOT_JUDGED),
        ([verdict(check=no_unexpected_death.name)], [*ALL, DIED], Fate.KILLED),
        ([verdict(check=no_unexpected_death.name, known_bugs=["KAFKA-1"])], [*ALL, DIED], Fate.EXCUSED),
        ([verdict(check=no_unexpected_death.name)], ALL, Fate.WEAK),
        ([GREEN], [LOADED, UP_ONLY], Fate.NOT_JUDGED),
        ([GREEN, verdict("K1", check=steps_completed.name)], [LOADED, UP_ONLY], Fate.NOT_JUDGED),
        ([GREEN, verdict("K1")], [LOADED, UP_ONLY], Fate.KILLED),
        ([verdict(check=no_unexpected_death.name)], [LOADED, DIED, UP_ONLY], Fate.KILLED),
    ],
    ids=[
        "green",
        "red",
        "excused",
        "excused anyway",
        "excused by the bug that the test is about",
        "both",
        "explained",
        "no requirement",
        "ended early",
        "passed",
        "failed",
        "failed by it",
        "a step that took too long",
        "a step and more",
        "a way that has no end",
        "a node that died later",
        "a way that ends with a node",
        "elsewhere",
        "silent",
        "no",
        "a death",
        "a death that is known",
        "a stop that took too long",
        "a cluster that did not come up",
        "a step on the way up",
        "one that violates",
        "one whose node died",
    ],
)
def test_only_a_violated_requirement_notices(verdicts: list[dict[str, Any]], events: list[Event], fate: Fate) -> None:
    """A class that no node has loaded proves nothing, however red; nor does a step that only took too long."""
    trial = trial_of("m", "t", Judged(verdicts, events), ANYWAY, 12.0)
    assert trial.fate is fate


def test_a_kill_names_what_was_violated() -> None:
    """Without what is explained; a requirement that Kafka deviates from otherwise is violated like any other."""
    red = [verdict("K2", "K9", explained=["K9"]), verdict("K1")]
    trial = trial_of("m", "t", Judged(red, ALL), ANYWAY, 12.0)
    assert (trial.requirements, trial.seen) == (["K1", "K2"], "c: s")


def test_the_best_of_all_tests_counts() -> None:
    """One that notices is enough."""
    fates = (Fate.SURVIVED, Fate.KILLED, Fate.WEAK)
    assert fate_of([Trial("m", str(number), fate) for number, fate in enumerate(fates)]) is Fate.KILLED
