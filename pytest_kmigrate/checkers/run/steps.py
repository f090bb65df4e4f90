"""Checks of what a test and its migration wanted to happen: steps were completed, expectations came true."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pytest_kmigrate.checkers.evidence.expectations import Unmet, by_requirement, claimed, unmet
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import failed_steps, time_of_step
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.steps import StepBegan, StepEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import (
    About,
    Kind,
    Outcome,
    Verdict,
    Violation,
    conforms,
    inconclusive,
    not_applicable,
    violates,
)

_ONE = "expectation"
"""The fact of a verdict that is about one expectation only: its event."""


@checker(in_every_run=always, ends_test=True)
def steps_completed(history: History) -> Verdict:
    """Every migration step that was begun came to its end; progress is demanded only while no fault is in force.

    A step that failed under a fault is inconclusive: the fault may have been one that no cluster has to survive. One
    that failed under none violates the requirements that it names.
    """
    ended = history.of(StepEnded)
    if not history.of(StepBegan):
        return not_applicable("no migration step was asked for")
    blamed, excused = failed_steps(history)
    if blamed:
        found = [
            timed_violation(
                history,
                f"step {event.what.step} completes",
                event.what.reason,
                event.at_ns,
                f"event {event.seq}",
                awaited=time_of_step(history, event),
            )
            for event in blamed
        ]
        return violates(Kind.LIVENESS, found).about_each(_by_step(blamed, found))
    if len(ended) < len(history.of(StepBegan)):
        return inconclusive(Kind.HARNESS, "the run ended in the middle of a migration step")
    if excused:
        return inconclusive(Kind.VACUOUS, f"{excused[0].what.step} failed while a fault was in force")
    completed = [event for event in ended if event.what.outcome != "failed"]
    return conforms(f"{counted(len(completed), 'migration step')} completed")


def _by_step(failed: Sequence[Recorded[StepEnded]], found: Sequence[Violation]) -> Iterator[About]:
    """What failed steps violate; those that were completed speak for nothing, as their states are read from metrics."""
    violated = defaultdict[str, list[Violation]](list)
    for event, violation in zip(failed, found, strict=True):
        for requirement in event.what.requirements or ():
            violated[requirement].append(violation)
    for requirement, each in violated.items():
        summary = f"expected {each[0].expected}; observed {each[0].observed}"
        observed, awaited = tuple(one.observed for one in each), tuple(one.awaited for one in each)
        yield About(requirement, Outcome.VIOLATES, Kind.LIVENESS, len(each), summary, observed, awaited)


@checker(in_every_run=lambda history: bool(claimed(history)), ends_test=True)
def expectations_met(history: History) -> Verdict:
    """Everything the test expected of the live cluster came true in the time it was given.

    The kind of the violation comes with each expectation. Each speaks for the requirements it names, or for those that
    its test claims and that nothing else speaks for.
    """
    return _judged(history).about_each(_by_requirement(history))


def _judged(history: History) -> Verdict:
    expectations = claimed(history)
    if not expectations:
        return inconclusive(Kind.VACUOUS, "the test expected nothing")
    wrong = unmet(history)
    if not wrong:
        names = ", ".join(event.what.name for event in expectations)
        return conforms(f"{counted(len(expectations), 'expectation')} met: {names}")
    found = [
        timed_violation(
            history,
            f"{event.what.name}: {event.what.expected}",
            f"{event.what.observed} after {event.what.within_s} s",
            event.at_ns,
            f"event {event.seq}",
            awaited=_of_expectation(event),
        )
        for event in wrong
    ]
    return violates(_worst(wrong), found)


def _worst(wrong: Sequence[Unmet]) -> Kind:
    kinds = [Kind(str(event.what.kind)) for event in wrong]
    return Kind.SAFETY if Kind.SAFETY in kinds else kinds[0]


def _by_requirement(history: History) -> Iterator[About]:
    speaking = by_requirement(history, ((event, event) for event in claimed(history)))
    for requirement, events in speaking.items():
        wrong = [event for event in events if not event.what.met]
        if wrong:
            text = f"{wrong[0].what.name}: expected {wrong[0].what.expected}; observed {wrong[0].what.observed}"
            observed = tuple(f"{event.what.name}: {event.what.observed}" for event in wrong)
            awaited = tuple(map(_of_expectation, wrong))
            yield About(requirement, Outcome.VIOLATES, _worst(wrong), len(events), text, observed, awaited)
        else:
            text = ", ".join(event.what.name for event in events)
            yield About(requirement, Outcome.CONFORMS, None, len(events), text)


def _of_expectation(event: Unmet) -> tuple[int, int]:
    """When it was awaited."""
    return event.at_ns - event.what.took_ms * 1_000_000, event.at_ns


def all_unmet(history: History, verdict: Verdict, is_explained: Callable[[Unmet], bool]) -> bool:
    """Whether the verdict is about expectations, and each one that it is about is explained."""
    about = unmet_of(history, verdict)
    return bool(about) and all(map(is_explained, about))


def unmet_of(history: History, verdict: Verdict) -> list[Unmet]:
    """The unmet expectations that a verdict is about; none for other checks."""
    one = verdict.facts.get(_ONE)
    wrong = unmet(history) if verdict.is_of(expectations_met) else []
    return [event for event in wrong if one is None or event is one]


def about_one(verdict: Verdict, event: Unmet) -> Verdict:
    """The verdict about one expectation that was not met."""
    return replace(verdict, facts={**verdict.facts, _ONE: event})
