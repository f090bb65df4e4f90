"""What a test of a mutant showed, and what became of a mutant by all of its tests."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pytest_kmigrate.checkers.run.mutants import became_of_rules, idle_rules
from pytest_kmigrate.checkers.run.runs import no_unexpected_death
from pytest_kmigrate.checkers.run.steps import steps_completed
from pytest_kmigrate.model.event import Ending, Event, EventKind, only
from pytest_kmigrate.model.events.evidence import RunEnded
from pytest_kmigrate.model.events.nodes import NodeDied, ThreadDied
from pytest_kmigrate.model.events.steps import StepEnded
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
class Anyway:
    """What is excused without any mutant."""

    excused: Collection[tuple[str, str]] = ()
    """Checks, each with the known bug or deviation that explains what it violates."""
    bugs: Collection[str] = ()
    """Known bugs that the test is about, which it meets whenever it can."""

    def has(self, check: str, bug: str) -> bool:
        """Whether that a bug excuses a check says nothing of a mutant."""
        return bug in self.bugs or (check, bug) in self.excused


def trial_of(mutant: str, test: str, judged: Judged, anyway: Anyway, seconds: float) -> Trial:
    """What the run in a folder showed.

    Only a verdict that violates a requirement notices a mutant, or a node that dies. The requirement may be one that
    released Kafka deviates from: what the deviation does not explain was not there without the mutant, as the test was
    green. A step that did not come to its end in the harness's own time is no evidence by itself, since a slow machine
    makes the same; it is if a node had died before. Nor is a test that failed without a violation, such as one whose
    verdicts are in doubt.
    """
    became = became_of_rules(judged.events)
    if not judged.verdicts:
        return Trial(mutant, test, Fate.NOT_JUDGED, seconds=seconds)
    if not became or idle_rules(became):
        return Trial(mutant, test, Fate.NOT_LOADED, seconds=seconds)
    violated = [each for each in judged.verdicts if each["outcome"] == Outcome.VIOLATES.name]
    red = [each for each in violated if not each["known_bugs"]]
    evident = [each for each in red if not _is_wait(each, judged.events)]
    requirements = sorted({name for each in evident for name in _violated(each)})
    if requirements or any(_is_death(each, judged.events) for each in evident):
        return Trial(mutant, test, Fate.KILLED, requirements, (), seconds, _observed(evident))
    excused = [each for each in violated for bug in each["known_bugs"] if not anyway.has(each["check"], bug)]
    if excused and not red:
        excuses = sorted({str(bug) for each in excused for bug in each["known_bugs"]})
        return Trial(mutant, test, Fate.EXCUSED, (), excuses, seconds, _observed(excused))
    fate = _unnoticed(judged.events, is_red=bool(red))
    return Trial(mutant, test, fate, seconds=seconds, seen=_observed(red) if fate is Fate.WEAK else "")


def _unnoticed(events: Sequence[Event], *, is_red: bool) -> Fate:
    """What a run is that nothing in it notices."""
    endings = [each.what.test for each in only(events, RunEnded)]
    if endings and not any(endings):  # its cluster did not come up, and may from where the test walks to its state
        return Fate.NOT_JUDGED
    if is_red or not any(event.kind is EventKind.CHECKS for event in events):
        return Fate.WEAK
    return Fate.UNDECIDED if Ending.FAILED in endings else Fate.SURVIVED


def fate_of(trials: Sequence[Trial]) -> Fate:
    """The best of all: one test that notices is enough."""
    return min((each.fate for each in trials), key=list(Fate).index)


def _is_wait(verdict: Mapping[str, Any], events: Sequence[Event]) -> bool:
    """Whether it finds no more than steps that failed, before any node had died."""
    died = min((each.seq for each in only(events, NodeDied)), default=None)
    waits = {f"event {each.seq}" for each in only(events, StepEnded) if died is None or each.seq < died}
    found = verdict["violations"]
    return verdict["check"] == steps_completed.name or (
        bool(found) and all(waits.intersection(each["evidence"]) for each in found)
    )


def _is_death(verdict: Mapping[str, Any], events: Sequence[Event]) -> bool:
    """Whether it finds that a node or a thread died; one that only took too long to stop may have been slow."""
    return bool(verdict["check"] == no_unexpected_death.name and only(events, NodeDied, ThreadDied))


def _violated(verdict: Mapping[str, Any]) -> list[str]:
    """The requirements that it violates, but for those of which a known bug or a deviation explains it."""
    red = [each for each in verdict["about"] if each["outcome"] == Outcome.VIOLATES.name]
    return [str(each["requirement"]) for each in red if not each["known_bugs"]]


def _observed(verdicts: Sequence[Mapping[str, Any]]) -> str:
    return next((f"{each['check']}: {each['summary']}" for each in verdicts), "")
