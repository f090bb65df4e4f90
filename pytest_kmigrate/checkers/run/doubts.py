"""Doubts: events that make a CONFORMS verdict untrustworthy."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from pytest_kmigrate.checkers.evidence.expected_ends import is_expected_end
from pytest_kmigrate.checkers.evidence.moments import meanwhile, targets_of
from pytest_kmigrate.checkers.run.deaths import unexpected_deaths
from pytest_kmigrate.checkers.run.losses import loss_of
from pytest_kmigrate.checkers.run.pressure import standstills
from pytest_kmigrate.model.checks import Cause
from pytest_kmigrate.model.event import Event, Recorded, is_a
from pytest_kmigrate.model.events.evidence import READING_BACK, HarnessTrouble
from pytest_kmigrate.model.events.faults import (
    NOTHING,
    FaultApplied,
    FaultBegan,
    FaultHealed,
    FaultNotWitnessed,
    FaultWitnessed,
)
from pytest_kmigrate.model.events.nodes import NodeDied
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import About, Kind, Outcome, Verdict

_CAUSES = {READING_BACK: Cause.READING_BACK}
SO_NOTHING_IS_PROVED = " - so it proves nothing that "
"""Stands in a doubted verdict between the reasons, which all verdicts of a run share, and what would have held."""


@dataclass(frozen=True)
class Doubt:
    """One reason to believe nothing good of a run; ``text`` is a sentence without a full stop."""

    kind: Kind
    text: str
    event: Event
    of: Cause | None = None
    """What it comes of, where a check judges the same."""
    is_without_end: bool = False
    """Whether the harness died, so that no evidence of the end of the run was recorded."""


def doubts(history: History) -> list[Doubt]:
    """Trouble of machine and harness first, then deaths, then faults that were never witnessed."""
    return [
        *machine_troubles(history),
        *harness_troubles(history),
        *(Doubt(each.kind, each.text, each.event) for each in standstills(history)),
        *deaths_as_doubts(history),
        *planted_deaths(history),
        *unwitnessed_faults(history),
    ]


def not_blamed(verdict: Verdict, lacking: Doubt, still: Collection[str] = ()) -> Verdict:
    """The verdict of a run that lacked part of its machine or harness: what did not come in time is not Kafka's.

    Such a violation becomes INCONCLUSIVE. Where a part of the harness was lost, so does one of safety, unless it was
    seen before that moment and the whole run shows it, too. ``still``: what the same check observes in the whole run.
    Otherwise a check has looked in the midst, at how things are at the end, or has missed what was recorded later.
    """
    is_cut = lacking.kind is Kind.HARNESS and not _stands(verdict, lacking, still)
    verdict = verdict.about_each(_not_blamed(each, lacking, is_cut=is_cut) for each in verdict.about)
    if verdict.outcome is not Outcome.VIOLATES or not (is_cut or verdict.kind is Kind.LIVENESS):
        return verdict
    text = f"{lacking.text} - so Kafka is not to blame that {verdict.summary}"
    return replace(verdict, outcome=Outcome.INCONCLUSIVE, kind=lacking.kind, summary=text, violations=(), count=0)


def _not_blamed(about: About, lacking: Doubt, *, is_cut: bool) -> About:
    if about.outcome is not Outcome.VIOLATES or not (is_cut or about.kind is Kind.LIVENESS):
        return about
    return replace(
        about, outcome=Outcome.INCONCLUSIVE, kind=lacking.kind, summary=lacking.text, observed=(), awaited=()
    )


def _stands(verdict: Verdict, lacking: Doubt, still: Collection[str]) -> bool:
    """Of what has no moment, a run whose end is missing shows nothing."""
    at_any_time, end_ns = not lacking.is_without_end, lacking.event.at_ns
    found = verdict.every or verdict.violations
    before = [each for each in found if (at_any_time if each.at_ns is None else each.at_ns < end_ns)]
    return any(each.observed in still for each in before)


def spared(history: History) -> Doubt | None:
    """What this run lacked of machine or harness, so that no liveness can be judged; None if it lacked nothing."""
    loss = loss_of(history)
    if loss is not None:
        return Doubt(Kind.HARNESS, _trouble(loss), loss, is_without_end=loss is history.death)
    return next(iter(machine_troubles(history)), None)


def machine_troubles(history: History) -> list[Doubt]:
    """What this machine lacked: room, memory, files, addresses.

    What a node complains of while a fault of the run takes something from it is the fault's doing, not the machine's.
    """
    deaths = [event for event in history.of(NodeDied) if event.what.cause]
    found = [
        *(Doubt(Kind.INFRA, f"{event.node} died of this machine: {event.what.cause}", event) for event in deaths),
        *(Doubt(Kind.INFRA, _trouble(event), event) for event in _troubles(history) if _is_of_the_machine(event)),
    ]
    return sorted((each for each in found if not _is_planted(history, each.event)), key=lambda doubt: doubt.event.seq)


def _is_planted(history: History, complaint: Event) -> bool:
    """Whether a fault that may take something from a node was in force on this one before it complained.

    An effect that is not declared may take anything. A complaint without a node is of the machine.
    """
    applied = [event for event in history.of(FaultApplied) if event.seq < complaint.seq]
    on_it = [event for event in applied if complaint.node is not None and complaint.node in targets_of(event)]
    return any(event.what.takes != NOTHING for event in on_it)


def doubted(verdict: Verdict, kind: Kind, because: str, *, is_known: bool = False) -> Verdict:
    """The verdict with this doubt: what conformed is INCONCLUSIVE and says why; whatever else stands as it is.

    ``is_known``: the doubt comes of known bugs, which the run is red by; it shows nothing about requirements then.
    """
    verdict = verdict.about_each(_doubted(each, kind, because, is_known=is_known) for each in verdict.about)
    if verdict.outcome is not Outcome.CONFORMS:
        return verdict
    text = f"{because}{SO_NOTHING_IS_PROVED}{verdict.summary}"
    return replace(verdict, outcome=Outcome.INCONCLUSIVE, kind=kind, summary=text)


def _doubted(about: About, kind: Kind, because: str, *, is_known: bool) -> About:
    if about.outcome is not Outcome.CONFORMS:
        return about
    seen = 0 if is_known else about.seen
    return replace(about, outcome=Outcome.INCONCLUSIVE, kind=kind, seen=seen, summary=because)


def harness_troubles(history: History) -> list[Doubt]:
    """What the harness itself failed to do."""
    found = (event for event in _troubles(history) if not _is_of_the_machine(event))
    return [Doubt(Kind.HARNESS, _trouble(event), event, _CAUSES.get(event.what.what)) for event in found]


def deaths_as_doubts(history: History) -> list[Doubt]:
    """Nodes that died unexpectedly: the test no longer ran under the conditions it assumed."""
    return [
        Doubt(Kind.INFRA, f"{event.node} died by itself with exit code {event.what.exit_code}", event, Cause.DEATH)
        for event in unexpected_deaths(history)
    ]


def planted_deaths(history: History) -> list[Doubt]:
    """Nodes that died of what a fault may have taken from them, unless the test expected their end.

    Neither Kafka nor this machine is known to be the cause, so nothing is proved.
    """
    deaths = [event for event in history.of(NodeDied) if event.what.cause]
    return [
        Doubt(Kind.INFRA, f"{event.node} died while a fault may have been the cause: {event.what.cause}", event)
        for event in deaths
        if _is_planted(history, event) and not is_expected_end(history, event)
    ]


def unwitnessed_faults(history: History) -> list[Doubt]:
    """Faults without a witness that they bit, or whose trigger never fired: nothing was proved about them.

    What else was in force is named: a link that another fault cuts carries nothing that could be slowed.
    """
    witnessed = {event.what.fault_id for event in history.of(FaultWitnessed)}
    given_up = history.of(FaultNotWitnessed)
    sought = {event.what.fault_id: event.what.witness for event in given_up}
    begun: list[Recorded[FaultBegan | FaultNotWitnessed]] = [*given_up, *history.of(FaultBegan)]
    without = {event.what.fault_id: event for event in begun if event.what.fault_id not in witnessed}
    found = [Doubt(Kind.VACUOUS, _unwitnessed(history, event, sought), event) for event in without.values()]
    return sorted(found, key=lambda doubt: doubt.event.seq)


def _troubles(history: History) -> list[Recorded[HarnessTrouble]]:
    return history.of(HarnessTrouble)


def _is_of_the_machine(event: Recorded[HarnessTrouble]) -> bool:
    return bool(event.what.of_machine)


def _trouble(event: Recorded[HarnessTrouble]) -> str:
    error, subject = event.what.error, "this machine" if _is_of_the_machine(event) else "the harness"
    return f"{subject} had trouble: {event.what.what}" + (f" ({error})" if error else "")


def _unwitnessed(history: History, event: Recorded[FaultBegan | FaultNotWitnessed], sought: Mapping[str, str]) -> str:
    looked_for = sought.get(event.what.fault_id)
    reported = f" (looked for: {looked_for})" if looked_for else ""
    return f"{event.what.fault} was never witnessed to bite{reported}{_beside(history, event)}"


def _beside(history: History, event: Event) -> str:
    """Which other faults were in force while this one was; nothing for one that never began."""
    if not is_a(event, FaultBegan):
        return ""
    healed = [each.at_ns for each in history.of(FaultHealed) if each.what.fault_id == event.what.fault_id]
    return meanwhile(history, event.at_ns, min(healed, default=history.end_ns), besides=event.what.fault_id)
