"""Check of ``/controller`` as the draft has it: the leader's id, and the boolean isKRaft, which nothing depends on."""

from collections.abc import Iterator, Sequence

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER
from pytest_kmigrate.checkers.controllers.leaderships import leaderships
from pytest_kmigrate.checkers.controllers.lives import controller_ids
from pytest_kmigrate.checkers.controllers.znode_changes import evidence_of, held_in, since_controllers, untampered
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during, phase_at
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION
from pytest_kmigrate.documents.kip_866.crash_points import LONG_BEFORE_THE_CLAIM
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.events.faults import FaultBegan
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Verdict

_SCHEMA, _ID = "K866D-ZNODE-controller-isKRaft", "K866D-ZNODE-controller-id-only"
_INFORMATIONAL = "K866D-ZNODE-controller-informational"
_FIELD, _VERSION = "isKRaft", 2
_CLAIMED_NS = 10_000_000_000
"""By then a controller that leads the quorum, and has taken over, holds the znode."""
_HELD_NS = LONG_BEFORE_THE_CLAIM.held_s * 1_000_000_000
"""A controller that is held before its claim is held for the full time, whenever the fault is healed."""
_DUAL_WRITE = {Phase.HYBRID.name, Phase.ALL_KRAFT.name}
_TAMPERED = f"tamper({CONTROLLER})"


def _has_claims(history: History) -> bool:
    return any(held_in(each).get("brokerid") in controller_ids(history) for each in history.znodes if _is_of(each))


@checker(
    *(_SCHEMA, _ID, _INFORMATIONAL),
    in_every_run=_has_claims,
    anomaly="controller znode unlike the draft",
    needs=[Capability.ZNODES],
)
def the_controller_znode_is_that_of_the_draft(history: History) -> Verdict:
    """``/controller`` of a KRaft controller has version 2, the id of who leads the quorum, and isKRaft, true.

    A new leader has 10 s to put its id there; one that led for less shows nothing unless it has. If a test takes
    isKRaft away, or has it say false, the controller goes on to write ``/migration``, and a new leader takes
    ``/controller``.
    """
    rows = ByRequirement(_SCHEMA, _ID, _INFORMATIONAL)
    changes = since_controllers(history, untampered(history, CONTROLLER))
    by_kraft = [each for each in changes if held_in(each).get("brokerid") in controller_ids(history)]
    for change in by_kraft:
        _judge_schema(history, rows, change)
    _judge_leaders(history, rows, by_kraft)
    for event, to_ns in _changed(history):
        _judge_effect(history, rows, event, to_ns)
    text = f"{counted(len(by_kraft), 'content')} of {CONTROLLER}, each as the draft has it"
    return rows.verdict(text, f"no KRaft controller was seen to take {CONTROLLER}")


def _is_of(change: ZnodeChange, path: str = CONTROLLER) -> bool:
    return change.path == path


def _judge_schema(history: History, rows: ByRequirement, change: ZnodeChange) -> None:
    held = held_in(change)
    if held.get("version") == _VERSION and "timestamp" in held and held.get(_FIELD) is True:
        rows.looked_at(_SCHEMA)
        return
    expected = f"{CONTROLLER} of a KRaft controller has version {_VERSION}, brokerid, timestamp, and {_FIELD} true"
    observed = f"it held {change.data}"
    rows.violated(_SCHEMA, timed_violation(history, expected, observed, change.at_ns, evidence_of(change)))


def _judge_leaders(history: History, rows: ByRequirement, by_kraft: Sequence[ZnodeChange]) -> None:
    """Only in dual write, of leaders that had the time, and no fault that kept them from ZooKeeper."""
    for led in leaderships(history):
        samples = [each for each in led if phase_at(history, each.at_ns) in _DUAL_WRITE]
        if not samples:
            continue
        began_ns, due_ns = samples[0].at_ns, samples[0].at_ns + _CLAIMED_NS
        held = [each for each in by_kraft if each.at_ns <= min(due_ns, samples[-1].at_ns)]
        if not held or faults_during(history, began_ns, due_ns):
            continue
        if any(each.startswith("hold(") for each in faults_during(history, began_ns - _HELD_NS, due_ns)):
            continue
        holder = f"controller-{held_in(held[-1])['brokerid']}"
        if holder == samples[0].node:
            rows.looked_at(_ID)
            continue
        if samples[-1].at_ns < due_ns:
            continue
        observed = f"{holder} held it while {samples[0].node} led"
        expected = f"who leads the quorum holds {CONTROLLER}"
        rows.violated(_ID, timed_violation(history, expected, observed, due_ns, evidence_of(held[-1])))


def _changed(history: History) -> Iterator[tuple[Event, int]]:
    """When a test put content into the znode that has another isKRaft, or none; and when it put in what came next."""
    put = [each for each in history.of(FaultBegan) if each.what.fault == _TAMPERED]
    ends = [*(each.at_ns for each in put[1:]), history.end_ns] if put else []
    for event, to_ns in zip(put, ends, strict=True):
        before = [each for each in history.znodes if _is_of(each) and each.at_ns < event.at_ns]
        after = [each for each in history.znodes if _is_of(each) and each.at_ns >= event.at_ns]
        if before and after and held_in(before[-1]).get(_FIELD) != held_in(after[0]).get(_FIELD):
            yield event, to_ns


def _judge_effect(history: History, rows: ByRequirement, event: Event, to_ns: int) -> None:
    later = [each for each in history.znodes if event.at_ns + 1 < each.at_ns <= to_ns]
    is_written = any(_is_of(each, MIGRATION) and each.data for each in later)
    led = [samples for samples in leaderships(history) if event.at_ns < samples[0].at_ns <= to_ns]
    claimed = {held_in(each).get("brokerid") for each in later if _is_of(each)}
    silent = [f"{MIGRATION} was not written any more"] if not is_written else []
    silent += [
        f"{samples[0].node} led and did not take {CONTROLLER}"
        for samples in led
        if min(samples[-1].at_ns, to_ns) - samples[0].at_ns >= _CLAIMED_NS
        and int(samples[0].node.rpartition("-")[2]) not in claimed
    ]
    if not silent:
        rows.looked_at(_INFORMATIONAL)
    for observed in silent:
        expected = f"nothing depends on {_FIELD} in {CONTROLLER}"
        violation = timed_violation(history, expected, observed, event.at_ns, f"event {event.seq}")
        rows.violated(_INFORMATIONAL, violation, Kind.LIVENESS)
