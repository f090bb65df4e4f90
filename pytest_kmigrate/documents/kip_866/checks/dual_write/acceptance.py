"""Checks of changes of metadata that a cluster goes on accepting when KRaft controllers have taken over."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import faults_during, phase_at, took_ns, when
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.metadata.changes import began_ns, families_of, has_failed
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import PHASE, Recorded
from pytest_kmigrate.model.events.nodes import NodeStopped
from pytest_kmigrate.model.events.steps import StateChanged
from pytest_kmigrate.model.events.workloads import MetadataChanged, MetadataWorkloadBegan
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.refusals import NOT_CONNECTED
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, not_applicable, violates
from pytest_kmigrate.workloads.metadata.metadata_change import FIRST_ROUND

_Change = Recorded[MetadataChanged]

_ALL_ADMIN = "K866-FWD-all-admin"
_FEWEST = 2
"""Refusals that are no accident, such as of a controller that was being replaced."""
_SWITCHED_OFF = {"DELEGATION_TOKEN_AUTH_DISABLED", "SECURITY_DISABLED"}
"""Errors of a cluster without an authorizer, or without logins."""
_OF_THE_FAMILY = {"CLUSTER_AUTHORIZATION_FAILED", "UNSUPPORTED_VERSION", *_SWITCHED_OFF}
"""Errors that every change of a family would get: one is enough."""
_IS_THERE = "TOPIC_ALREADY_EXISTS"
_OF_ONE_THING = {
    "DELEGATION_TOKEN_NOT_FOUND",
    "INVALID_PARTITIONS",
    "RESOURCE_NOT_FOUND",
    _IS_THERE,
    "UNKNOWN_TOPIC_ID",
    "UNKNOWN_TOPIC_OR_PARTITION",
}
"""Errors about the thing to be changed, which another change may just have made or deleted."""
_OF_TOO_FEW_BROKERS = "INVALID_REPLICATION_FACTOR"
_SESSION_NS = 20_000_000_000
"""How long a broker may still be away for the controller that was: up to a session of ZooKeeper."""


@checker(in_every_run=lambda history: bool(history.of(MetadataChanged)), needs=[Capability.CHANGE])
def metadata_changes_stay_accepted(history: History) -> Verdict:
    """A family of metadata that could be changed before the copy can be changed after it.

    Violated where a family was accepted before HYBRID and every change of it is refused from then on, under no fault:
    twice, or once by an error that the whole family gets. A family that was tried too seldom is named, and makes the
    check INCONCLUSIVE. Changes without an answer are ignored, and so is what was refused as the thing itself is not
    there, where an earlier change of it had no answer, or it was never made as each request to make it was refused.
    Source: K866-DW-full-parity, and the requirement of each family.
    """
    since_ns = next((event.at_ns for event in history.states(PHASE) if _is_copied(event)), None)
    if since_ns is None:
        return not_applicable("nothing was copied, so nothing was changed after it")
    tried = _tried(history, since_ns)
    if not tried:
        return not_applicable("no family was changed before the copy, and after it under no fault")
    failed = {family: of for family, of in tried.items() if all(map(has_failed, of))}
    refused = {family: of for family, of in failed.items() if _is_no_accident(of)}
    if refused:
        found = [_refusal(history, family, of, "as before the copy") for family, of in sorted(refused.items())]
        return violates(Kind.LIVENESS, found)
    accepted = f"{counted(len(tried) - len(failed), 'family', 'families')} changed before the copy and after it"
    if failed:
        open_ones = ", ".join(f"{family} ({_error(of[0])})" for family, of in sorted(failed.items()))
        text = f"refused, too seldom to decide: {open_ones}; {accepted}"
        return inconclusive(Kind.VACUOUS, text, undecided=sorted(failed))
    return conforms(accepted)


@checker(_ALL_ADMIN, in_every_run=lambda history: bool(history.of(MetadataChanged)), needs=[Capability.CHANGE])
def admin_requests_to_zookeeper_brokers_are_carried_out(history: History) -> Verdict:
    """Brokers in ZooKeeper mode have each kind of admin request carried out in dual write: one of each is acknowledged.

    Judged of changes that began while every broker that was up ran in ZooKeeper mode, under no fault, that a broker
    took, and that none left unanswered because it was stopping. A kind of which none is acknowledged violates: twice,
    or once by an error that every one would get; one that the cluster never had, such as ACLs without an authorizer,
    leaves the run open, and topics that lack a broker that was just away. A run conforms if brokers acknowledged each
    kind that its metadata workloads begin with; a test of its own asks for the rarer requests.
    """
    rows = ByRequirement(_ALL_ADMIN)
    tried = defaultdict[str, list[_Change]](list)
    for event in history.of(MetadataChanged):
        if _is_asked_of_zookeeper_brokers(history, event) and not _has_its_reason(history, event):
            tried[event.what.change].append(event)
    off = {kind for kind, of in tried.items() if _is_switched_off(history, kind, of)}
    for kind, of in sorted(tried.items()):
        if kind not in off and not any(map(_is_ok, of)) and _is_no_accident(of):
            rows.violated(_ALL_ADMIN, _refusal(history, kind, of, "by brokers in ZooKeeper mode"), Kind.LIVENESS)
    acknowledged = {kind: sum(map(_is_ok, tried[kind])) for kind in sorted(_kinds_of_workloads(history))}
    lacking = [kind for kind, count in acknowledged.items() if not count]
    if acknowledged and not lacking:
        rows.looked_at(_ALL_ADMIN, sum(acknowledged.values()))
    text = f"each of {counted(len(acknowledged), 'kind')} of admin requests was acknowledged"
    nothing = f"in dual write, brokers in ZooKeeper mode acknowledged none of {', '.join(lacking) or 'the changes'}"
    return rows.verdict(text, nothing)


def _kinds_of_workloads(history: History) -> set[str]:
    """The kinds of changes that the run's workloads begin with; a family that cannot be taken along is in none."""
    begun: list[Mapping[str, Any]] = [each.what.scope for each in history.of(MetadataWorkloadBegan)]
    families = {str(family) for scope in begun for family in scope.get("families", ())}
    return {change for family in families for change in FIRST_ROUND.get(family, ())}


def _is_asked_of_zookeeper_brokers(history: History, event: _Change) -> bool:
    """Whether a change began in HYBRID, when it could go to brokers in ZooKeeper mode only, and met no fault."""
    at_ns = began_ns(event)
    up = [each for each in brokers_at(history, at_ns) if each.away_ns is None]
    is_hybrid = phase_at(history, at_ns) == Phase.HYBRID.name and all(each.is_migrating for each in up)
    is_quiet = not faults_during(history, at_ns, event.at_ns) and not _may_be_left(history, event)
    return is_hybrid and is_quiet and event.what.error != NOT_CONNECTED


def _may_be_left(history: History, event: _Change) -> bool:
    """Whether a broker that was stopping may have left a change unanswered, or a topic lacks this broker."""
    if _is_answered(event) and event.what.error != _OF_TOO_FEW_BROKERS:
        return False
    from_ns, to_ns = began_ns(event), event.at_ns
    stops = [each for each in history.of(NodeStopped) if str(each.node).startswith(Role.BROKER.value)]
    return any(each.at_ns - took_ns(each) <= to_ns and from_ns <= each.at_ns for each in stops)


def _is_switched_off(history: History, kind: str, of: list[_Change]) -> bool:
    """Whether the cluster has nothing of the kind: each change was refused for that, and none was ever made."""
    same = (each for each in history.of(MetadataChanged) if each.what.change == kind)
    return {_error(each) for each in of} <= _SWITCHED_OFF and not any(map(_is_ok, same))


def _is_no_accident(of: list[_Change]) -> bool:
    """Whether changes of so many things failed, or by such an error, that another one would fail, too."""
    things = {_thing(each) if _error(each) in _OF_ONE_THING else str(each.seq) for each in of}
    return len(things) >= _FEWEST or _error(of[0]) in _OF_THE_FAMILY


def _has_its_reason(history: History, event: _Change) -> bool:
    """Whether a change may have been refused for what it was about, and not for what is judged."""
    return _may_lack_its_thing(history, event) or _may_lack_brokers(history, event)


def _may_lack_brokers(history: History, event: _Change) -> bool:
    """Whether a topic was refused for want of brokers, and too few were there all the time of a session.

    Or a fault was in force in that time: whom it had cut off, or paused, may still be away for the controller.
    """
    if event.what.error != _OF_TOO_FEW_BROKERS:
        return False
    at_ns = began_ns(event)
    since_ns = at_ns - _SESSION_NS
    there = [_there(history, each, since_ns) for each in (since_ns, at_ns)]
    asked = event.what.wanted.get("replication")
    is_disturbed = bool(faults_during(history, since_ns, event.at_ns))
    return isinstance(asked, int) and (asked > len(there[0] & there[1]) or (asked > 1 and is_disturbed))


def _there(history: History, at_ns: int, since_ns: int) -> set[str]:
    """The brokers that were up at a time, and ready before another one."""
    return {
        each.name
        for each in brokers_at(history, at_ns)
        if each.away_ns is None and each.ready_ns is not None and each.ready_ns <= since_ns
    }


def _may_lack_its_thing(history: History, event: _Change) -> bool:
    """Whether a change came to nothing as its thing is not there, and no answer to an earlier one says that it is.

    An earlier change of that thing had no answer, or each request to make it was refused. An answer that is lost, and
    asked for again, may end in such an error, too.
    """
    if _is_ok(event) or event.what.error not in _OF_ONE_THING:
        return False
    earlier = [each for each in history.of(MetadataChanged) if each.seq < event.seq and _thing(each) == _thing(event)]
    made = [each for each in earlier if each.what.change.startswith("create-")]
    was_never_made = bool(made) and all(has_failed(each) and each.what.error != _IS_THERE for each in made)
    return not all(map(_is_answered, earlier)) or was_never_made


def _thing(event: _Change) -> str:
    """What a change is about: a topic's name is the subject of its creation, and a part of that of its configs."""
    return event.what.subject.removeprefix("topic:")


def _tried(history: History, since_ns: int) -> dict[str, list[_Change]]:
    """By family that was changed before the copy: the answered changes of quiet times after it."""
    changes = history.of(MetadataChanged)
    before = {family for event in changes if event.at_ns < since_ns and _is_ok(event) for family in families_of(event)}
    tried = defaultdict[str, list[_Change]](list)
    for event in changes:
        if _is_of_quiet_time(history, event, since_ns):
            for family in before & families_of(event):
                tried[family].append(event)
    return {family: of for family, of in tried.items() if not (len(of) == 1 and _error(of[0]) in _OF_ONE_THING)}


def _is_answered(event: _Change) -> bool:
    return _is_ok(event) or has_failed(event)


def _error(event: _Change) -> str:
    """The error of a refusal; empty for an accepted change."""
    return event.what.error if has_failed(event) else ""


def _is_copied(event: Recorded[StateChanged]) -> bool:
    return Phase[event.what.state] >= Phase.HYBRID


def _is_ok(event: _Change) -> bool:
    return event.what.outcome == "ok"


def _is_of_quiet_time(history: History, event: _Change, since_ns: int) -> bool:
    """Whether a change was answered that began after the copy and met no fault."""
    is_late = _is_answered(event) and event.what.error != NOT_CONNECTED and began_ns(event) >= since_ns
    is_quiet = is_late and not faults_during(history, began_ns(event), event.at_ns)
    return is_quiet and not _has_its_reason(history, event)


def _refusal(history: History, what: str, refused: list[_Change], how: str) -> Violation:
    first = refused[0]
    errors = ", ".join(sorted({event.what.error for event in refused}))
    how_ended = "was refused" if all(map(has_failed, refused)) else "was refused or not answered"
    observed = f"each of {len(refused)} {how_ended} ({errors}), first {when(history, first.at_ns)}"
    expected = f"changes of {what} are accepted, {how}"
    return violation_at(history, expected, observed, first.at_ns, f"event {first.seq}")
