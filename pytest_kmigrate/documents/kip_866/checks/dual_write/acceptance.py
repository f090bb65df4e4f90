"""Check of changes of metadata that a cluster goes on accepting when KRaft controllers have taken over."""

from collections import defaultdict

from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import faults_during, when
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.metadata.changes import began_ns, families_of, has_failed
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import PHASE, Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, not_applicable, violates

_FEWEST = 2
"""Refusals that are no accident, such as of a controller that was being replaced."""
_OF_THE_FAMILY = {
    "CLUSTER_AUTHORIZATION_FAILED",
    "DELEGATION_TOKEN_AUTH_DISABLED",
    "SECURITY_DISABLED",
    "UNSUPPORTED_VERSION",
}
"""Errors that every change of a family would get: one is enough."""
_OF_ONE_THING = {
    "DELEGATION_TOKEN_NOT_FOUND",
    "INVALID_PARTITIONS",
    "RESOURCE_NOT_FOUND",
    "TOPIC_ALREADY_EXISTS",
    "UNKNOWN_TOPIC_ID",
    "UNKNOWN_TOPIC_OR_PARTITION",
}
"""Errors about the thing to be changed, which another change may just have made or deleted."""


@checker(in_every_run=lambda history: bool(history.of(EventKind.METADATA_CHANGE)), needs=[Capability.CHANGE])
def metadata_changes_stay_accepted(history: History) -> Verdict:
    """A family of metadata that could be changed before the copy can be changed after it.

    Violated where a family was accepted before HYBRID and every change of it is refused from then on, under no fault:
    twice, or once by an error that the whole family gets. A family that was tried too seldom is named, and makes the
    check INCONCLUSIVE. Changes without an answer are ignored.
    Source: K866-DW-full-parity, and the requirement of each family.
    """
    name = "metadata_changes_stay_accepted"
    since_ns = next((event.at_ns for event in history.states(PHASE) if _is_copied(event)), None)
    if since_ns is None:
        return not_applicable(name, "nothing was copied, so nothing was changed after it")
    tried = _tried(history, since_ns)
    if not tried:
        return not_applicable(name, "no family was changed before the copy, and after it under no fault")
    failed = {family: of for family, of in tried.items() if all(map(has_failed, of))}
    refused = {family: of for family, of in failed.items() if len(of) >= _FEWEST or _error(of[0]) in _OF_THE_FAMILY}
    if refused:
        return violates(name, Kind.LIVENESS, [_refusal(history, *each) for each in sorted(refused.items())])
    accepted = f"{counted(len(tried) - len(failed), 'family', 'families')} changed before the copy and after it"
    if failed:
        open_ones = ", ".join(f"{family} ({_error(of[0])})" for family, of in sorted(failed.items()))
        text = f"refused once each, too seldom to decide: {open_ones}; {accepted}"
        return inconclusive(name, Kind.VACUOUS, text, undecided=sorted(failed))
    return conforms(name, accepted)


def _tried(history: History, since_ns: int) -> dict[str, list[Event]]:
    """By family that was changed before the copy: the answered changes of quiet times after it."""
    changes = history.of(EventKind.METADATA_CHANGE)
    before = {family for event in changes if event.at_ns < since_ns and _is_ok(event) for family in families_of(event)}
    tried = defaultdict[str, list[Event]](list)
    for event in changes:
        if _is_of_quiet_time(history, event, since_ns):
            for family in before & families_of(event):
                tried[family].append(event)
    return {family: of for family, of in tried.items() if not (len(of) == 1 and _error(of[0]) in _OF_ONE_THING)}


def _error(event: Event) -> str:
    """The error of a refusal; empty for an accepted change."""
    return str(event.data.get("error")) if has_failed(event) else ""


def _is_copied(event: Event) -> bool:
    return Phase[str(event.data["state"])] >= Phase.HYBRID


def _is_ok(event: Event) -> bool:
    return event.data.get("outcome") == "ok"


def _is_of_quiet_time(history: History, event: Event, since_ns: int) -> bool:
    """Whether a change was answered that began after the copy and met no fault."""
    is_answered = _is_ok(event) or has_failed(event)
    return is_answered and began_ns(event) >= since_ns and not faults_during(history, began_ns(event), event.at_ns)


def _refusal(history: History, family: str, refused: list[Event]) -> Violation:
    first = refused[0]
    errors = ", ".join(sorted({str(event.data.get("error")) for event in refused}))
    observed = f"each of {len(refused)} was refused ({errors}), first {when(history, first.at_ns)}"
    expected = f"changes of {family} are accepted, as before the copy"
    return violation_at(history, expected, observed, first.at_ns, f"event {first.seq}")
