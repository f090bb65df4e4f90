"""Pressure: spans of a run in which others kept this machine busy, and what they excuse."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pytest_kmigrate.model.event import Event, Recorded
from pytest_kmigrate.model.events.evidence import MachinePressure
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import About, Kind, Outcome, Verdict

MOST_WAITING = 10.0
"""Threads of the whole machine that wait for each processor.

Several clusters and builds at once on two processors come to 3 to 8, for moments to 11; 45 busy loops come to 21.
"""
LEAST_FOREIGN = 0.5
"""Share of the processors, of a disk's bytes, or of the memory in use, from which on others are the cause."""
MOST_MEMORY, MOST_IO = 0.3, 0.6
"""Shares of a span in which nothing could run, for want of memory or of a disk."""
MOST_LATE_MS = 5_000
"""So much later than planned only a process wakes that was stopped, or that got no processor."""
_LEAST_SHARE = 0.25
"""Share of the awaited time that must have been under pressure: a moment of it explains no long wait."""


@dataclass(frozen=True)
class Strain:
    """One span under pressure; ``text`` is a sentence without a full stop."""

    began_ns: int
    ended_ns: int
    kind: Kind
    text: str
    event: Event


def strains(history: History) -> list[Strain]:
    """Return the spans in which this machine, or the harness, could not keep up for reasons outside the run."""
    found = (_strain(event) for event in history.of(MachinePressure))
    return [each for each in found if each is not None]


def standstills(history: History) -> list[Strain]:
    """Return the spans in which the harness stood still, so that it observed nothing."""
    return [each for each in strains(history) if each.kind is Kind.HARNESS]


def relieved(verdict: Verdict, under: Sequence[Strain]) -> Verdict:
    """Return the verdict without what did not come in time while the machine was under pressure.

    A violation of liveness whose awaited time lies to a quarter in such spans is INCONCLUSIVE. What was not awaited,
    such as a refusal or a wrong number, stands, and so do violations of safety and what known bugs explain.
    """
    if not under or verdict.known_bugs:
        return verdict
    about = tuple(_relieved(each, under) for each in verdict.about)
    if (verdict.outcome, verdict.kind) != (Outcome.VIOLATES, Kind.LIVENESS):
        return verdict.about_each(about)
    causes = [_cause(each.awaited, under) for each in verdict.all_known]
    cause = causes[0] if causes else None
    if cause is None or None in causes:
        return verdict.about_each(about)
    text = f"{cause.text} - so Kafka is not to blame that {verdict.summary}"
    return replace(
        verdict,
        outcome=Outcome.INCONCLUSIVE,
        kind=cause.kind,
        summary=text,
        violations=(),
        count=0,
        about=about,
    )


def _relieved(about: About, under: Sequence[Strain]) -> About:
    if (about.outcome, about.kind) != (Outcome.VIOLATES, Kind.LIVENESS):
        return about
    causes = [_cause(each, under) for each in about.awaited or (None,)]
    cause = causes[0]
    if cause is None or None in causes:
        return about
    return replace(about, outcome=Outcome.INCONCLUSIVE, kind=cause.kind, summary=cause.text, observed=(), awaited=())


def _cause(awaited: tuple[int, int] | None, under: Sequence[Strain]) -> Strain | None:
    """The first strain in the awaited time, if they make up enough of it."""
    began, ended = awaited or (0, 0)
    if ended <= began:
        return None
    within = [each for each in under if each.began_ns < ended and began < each.ended_ns]
    length = sum(min(each.ended_ns, ended) - max(each.began_ns, began) for each in within)
    return within[0] if within and length >= _LEAST_SHARE * (ended - began) else None


def _strain(event: Recorded[MachinePressure]) -> Strain | None:
    causes = list(_causes(event))
    if not causes:
        return None
    kind, text = causes[0]
    return Strain(event.what.from_ns, event.at_ns, kind, text, event)


def _causes(event: Recorded[MachinePressure]) -> Iterable[tuple[Kind, str]]:
    late_ms, waiting, foreign = event.what.late_ms, event.what.waiting, event.what.foreign
    memory, io = event.what.memory or 0.0, event.what.io or 0.0
    foreign_memory, foreign_io = event.what.foreign_memory or 0.0, event.what.foreign_io or 0.0
    if late_ms >= MOST_LATE_MS:
        yield Kind.HARNESS, f"the harness stood still for {late_ms / 1000:.1f} s"
    if waiting >= MOST_WAITING and foreign >= LEAST_FOREIGN:
        busy = f"{waiting:.0f} threads waited for each processor, of which others used {foreign:.0%}"
        yield Kind.INFRA, f"this machine was busy with other programs: {busy}"
    if memory >= MOST_MEMORY and foreign_memory >= LEAST_FOREIGN:
        stalled = f"nothing could run in {memory:.0%} of the time, and others had {foreign_memory:.0%} of what was used"
        yield Kind.INFRA, f"this machine was short of memory: {stalled}"
    if io >= MOST_IO and foreign_io >= LEAST_FOREIGN:
        yield Kind.INFRA, f"a disk of this machine was busy for others: nothing could run in {io:.0%} of the time"
