"""What a test of a mutant shows, by its verdicts and by what nodes reported of the class."""

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_kmigrate.checkers.run.steps import steps_completed
from pytest_kmigrate.model.event import Event, EventKind, RuleOutcome
from pytest_kmigrate.model.mutants import Fate
from pytest_kmigrate.reports.fates import Judged
from pytest_kmigrate.reports.generated.trials import Trial, Without, fate_of, trial_of

LOADED = Event(0, 0, EventKind.RULES_TOLD, "controller-3000", {"rules": {"m": RuleOutcome.CARRIED_OUT}})
ELSEWHERE = Event(1, 1, EventKind.RULES_TOLD, "broker-0", {"rules": {"m": RuleOutcome.NOWHERE}})
ASKED = Event(2, 2, EventKind.CHECKS, None, {})
ALL = [LOADED, ELSEWHERE, ASKED]
FAILED, PASSED = (Event(3, 3, EventKind.RUN_ENDED, None, {"test": each}) for each in ("failed", "known-bug"))


def verdict(
    *requirements: str, outcome: str = "VIOLATES", known_bugs: Sequence[str] = (), check: str = "c"
) -> dict[str, Any]:
    """One that speaks for these."""
    about = [{"requirement": each, "outcome": outcome} for each in requirements]
    return {"check": check, "summary": "s", "outcome": outcome, "known_bugs": list(known_bugs), "about": about}


WITHOUT = Without({"K9"}, {("c", "always-there")})
GREEN = verdict("K1", outcome="CONFORMS")


@pytest.mark.parametrize(
    ("verdicts", "events", "fate"),
    [
        ([GREEN], ALL, Fate.SURVIVED),
        ([GREEN, verdict("K1", "K2")], ALL, Fate.KILLED),
        ([GREEN, verdict("K1", known_bugs=["KAFKA-1"])], ALL, Fate.EXCUSED),
        ([GREEN, verdict("K1", known_bugs=["always-there"])], ALL, Fate.SURVIVED),
        ([verdict("K1", known_bugs=["KAFKA-1"]), verdict("K2")], ALL, Fate.KILLED),
        ([verdict("K9")], ALL, Fate.WEAK),
        ([verdict()], ALL, Fate.WEAK),
        ([GREEN], [LOADED], Fate.WEAK),
        ([GREEN], [*ALL, PASSED], Fate.SURVIVED),
        ([GREEN], [*ALL, FAILED], Fate.UNDECIDED),
        ([GREEN, verdict("K1")], [*ALL, FAILED], Fate.KILLED),
        ([GREEN, verdict("K1", check=steps_completed.name)], ALL, Fate.WEAK),
        ([verdict("K1", check=steps_completed.name), verdict("K2")], ALL, Fate.KILLED),
        ([verdict("K1")], [ELSEWHERE, ASKED], Fate.NOT_LOADED),
        ([verdict("K1")], [ASKED], Fate.NOT_LOADED),
        ([], ALL, Fate.NOT_JUDGED),
    ],
    ids=[
        "green",
        "red",
        "excused",
        "excused anyway",
        "both",
        "red anyway",
        "no requirement",
        "ended early",
        "passed",
        "failed",
        "failed by it",
        "a step that took too long",
        "a step and more",
        "elsewhere",
        "silent",
        "no",
    ],
)
def test_only_a_violated_requirement_notices(verdicts: list[dict[str, Any]], events: list[Event], fate: Fate) -> None:
    """K9 is violated without any mutant; a class that no node has loaded proves nothing, however red."""
    trial = trial_of("m", "t", Judged(verdicts, events), WITHOUT, 12.0)
    assert trial.fate is fate


def test_a_kill_names_what_was_violated() -> None:
    """Without what is violated anyway."""
    trial = trial_of("m", "t", Judged([verdict("K2", "K9"), verdict("K1")], ALL), WITHOUT, 12.0)
    assert (trial.requirements, trial.seen) == (["K1", "K2"], "c: s")


def test_the_best_of_all_tests_counts() -> None:
    """One that notices is enough."""
    fates = (Fate.SURVIVED, Fate.KILLED, Fate.WEAK)
    assert fate_of([Trial("m", str(number), fate) for number, fate in enumerate(fates)]) is Fate.KILLED
