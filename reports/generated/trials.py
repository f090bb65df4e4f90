"""What a test of a mutant showed, and what became of a mutant by all of its tests."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pytest_kmigrate.checkers.run.mutants import became_of_rules, idle_rules
from pytest_kmigrate.checkers.run.steps import steps_completed
from pytest_kmigrate.model.event import Ending, EventKind
from pytest_kmigrate.model.events.evidence import RunEnded
from pytest_kmigrate.model.mutants import Fate
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.fates import Judged


@dataclass(frozen=True)
class Trial:
    """One test of one mutant; of a mutant without any test, why there is none."""

    mutant: str
    test: str
    """Empty: none was run."""
    fate: Fate
    requirements: Sequence[str] = ()
    """What was violated, and no excuse explains."""
    excused_by: Sequence[str] = ()
    """Known bugs and deviations that explain violations, if nothing else was violated."""
    seconds: float = 0.0
    seen: str = ""
    """What the first such violation observed, or what a JVM says."""

    def as_row(self) -> dict[str, Any]:
        """Its fields, as a file of results has them."""
        return {**asdict(self), "requirements": list(self.requirements), "excused_by": list(self.excused_by)}


@dataclass(frozen=True)
class Without:
    """What is violated without any mutant."""

    requirements: Collection[str] = ()
    excused: Collection[tuple[str, str]] = ()
    """Checks, each with the known bug or deviation that explains what it violates."""


def trial_of(mutant: str, test: str, judged: Judged, without: Without, seconds: float) -> Trial:
    """What the run in a folder showed.

    Only a verdict that violates a requirement notices a mutant. A step that did not come to its end in the harness's
    own time is no evidence by itself, as a slow machine makes the same; nor is a test that failed without a violation,
    such as one whose verdicts are in doubt since a node ended.
    """
    became = became_of_rules(judged.events)
    if not judged.verdicts:
        return Trial(mutant, test, Fate.NOT_JUDGED, seconds=seconds)
    if not became or idle_rules(became):
        return Trial(mutant, test, Fate.NOT_LOADED, seconds=seconds)
    violated = [each for each in judged.verdicts if each["outcome"] == Outcome.VIOLATES.name]
    red = [each for each in violated if not each["known_bugs"]]
    evident = [each for each in red if each["check"] != steps_completed.name]
    if requirements := sorted({name for each in evident for name in _violated(each)} - set(without.requirements)):
        return Trial(mutant, test, Fate.KILLED, requirements, (), seconds, _observed(evident))
    excused = [each for each in violated for bug in each["known_bugs"] if (each["check"], bug) not in without.excused]
    if excused and not red:
        excuses = sorted({str(bug) for each in excused for bug in each["known_bugs"]})
        return Trial(mutant, test, Fate.EXCUSED, (), excuses, seconds, _observed(excused))
    is_whole = any(event.kind is EventKind.CHECKS for event in judged.events)
    if red or not is_whole:
        return Trial(mutant, test, Fate.WEAK, seconds=seconds, seen=_observed(red))
    has_failed = any(isinstance(each.what, RunEnded) and each.what.test == Ending.FAILED for each in judged.events)
    return Trial(mutant, test, Fate.UNDECIDED if has_failed else Fate.SURVIVED, seconds=seconds)


def fate_of(trials: Sequence[Trial]) -> Fate:
    """The best of all: one test that notices is enough."""
    return min((each.fate for each in trials), key=list(Fate).index)


def _violated(verdict: Mapping[str, Any]) -> list[str]:
    return [str(each["requirement"]) for each in verdict["about"] if each["outcome"] == Outcome.VIOLATES.name]


def _observed(verdicts: Sequence[Mapping[str, Any]]) -> str:
    return next((f"{each['check']}: {each['summary']}" for each in verdicts), "")
