"""When bugs are at work: while ZooKeeper is not written any more, and while a controller brings it up to its log."""

import sys
from collections.abc import Iterable
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.controllers.znode_changes import held_in, writes_to
from pytest_kmigrate.checkers.evidence.moments import healed_ns
from pytest_kmigrate.checkers.metadata.changes import State, admissible_states, began_ns, has_failed
from pytest_kmigrate.checkers.metadata.made import changed_ns, znode_of
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import Wrong
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import Claimed, claims, position_set
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import held_by_migration, offset_in
from pytest_kmigrate.documents.kip_866.diagnoses.log_records import last_log, offsets_of
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.document import Window
from pytest_kmigrate.model.event import PHASE, Recorded
from pytest_kmigrate.model.events.faults import FaultApplied
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History, Transaction, ZnodeChange
from pytest_kmigrate.model.keeping import kept

_OF_ONE_ZNODE = ("topics", "configs", "quotas", "scram")
_BEHIND_NS = 3_000_000_000
"""A change that ZooKeeper gets is there by then, and ``/migration`` with it."""
_SLACK_NS = 5_000_000_000
"""What was acknowledged so shortly before a write of ``/migration`` may have come after what is written with it."""
_SEEN_WITHIN_NS = 30_000_000_000
"""A watcher that lost ZooKeeper, too, sees the last write so late, as an ensemble may need several elections."""
_SYNC_NS = 60_000_000_000
"""By then a controller that took over has written what its log has, or never will."""


def unwritten(history: History) -> list[Window]:
    """Each time in which ZooKeeper was not written: from a raise of ``/migration``'s offset to shortly before the next.

    What was changed long before, or is followed by a raise, is in ZooKeeper. A write that leaves the offset ends
    nothing: each batch of a full sync makes one, also of a sync that fails and begins again. A controller may be far
    behind, though: by its record a change is not written, however early it was, if no position came up to it.
    """
    written_ns = [each.at_ns for each in _raises(history)]
    until_ns = [*(at_ns - _BEHIND_NS for at_ns in written_ns[1:]), sys.maxsize]
    before_ns = [0, *written_ns]
    all_three = zip(before_ns, written_ns, until_ns, strict=False)
    by_time = [
        Window(_made_ns(history, before, at_ns) - _SLACK_NS, to_ns)
        for before, at_ns, to_ns in all_three
        if to_ns > at_ns
    ]
    return [*by_time, *(Window(at_ns, at_ns) for at_ns in _never_reached_ns(history))]


@kept
def _never_reached_ns(history: History) -> list[int]:
    """When changes were acknowledged whose records lie behind every position that ``/migration`` ever had.

    What is older than the take-over was copied.
    """
    log, claim = last_log(history), next(kraft_claims(history), None)
    seen = [*map(offset_in, held_by_migration(history)), *map(position_set, history.transactions)]
    positions = [each for each in seen if each is not None]
    if log is None or claim is None or not positions:
        return []
    last = _with_the_last_record(history)
    behind = [event for place, event in last.items() if (offsets_of(log, place) or [-1])[-1] > max(positions)]
    return [changed_ns(each) for each in behind if began_ns(each) > claim.at_ns]


def _with_the_last_record(history: History) -> dict[tuple[str, str], Recorded[MetadataChanged]]:
    """By place of an image, the change that was acknowledged last, if the last record there can be of no other one.

    It may be that of one without an answer, whenever it was asked for, or of one that was under way at the same time.
    """
    states = dict[tuple[str, str], list[State]]()
    for state in admissible_states(history.of(MetadataChanged)):
        states.setdefault((state.family, state.slot[1]), []).append(state)
    found = dict[tuple[str, str], Recorded[MetadataChanged]]()
    for place, own in states.items():
        events = sorted((event for each in own for _, event in each.acknowledged), key=lambda each: each.at_ns)
        is_sure = all(each is events[-1] or each.at_ns <= began_ns(events[-1]) for each in events)
        if events and is_sure and not any(each.indefinite for each in own):
            found[place] = events[-1]
    return found


def _raises(history: History) -> list[ZnodeChange]:
    """The writes of ``/migration`` by which its offset became another one."""
    written = held_by_migration(history)
    offsets = ["", *map(offset_in, written)]
    return [each for each, (former, offset) in zip(written, pairwise(offsets), strict=True) if offset != former]


def _made_ns(history: History, before_ns: int, written_ns: int) -> int:
    """When a write was made: the first one that was seen since a fault began may be older than the fault."""
    healed = healed_ns(history)
    applied = [each for each in history.of(FaultApplied) if before_ns < each.at_ns <= written_ns]
    ended = [(each.at_ns, healed.get(each.what.fault_id, written_ns)) for each in applied]
    return min([began for began, end in ended if written_ns <= end + _SEEN_WITHIN_NS], default=written_ns)


def never_written(history: History, wrong: Wrong, *, but_created: bool = False) -> bool:
    """Whether ZooKeeper's own log has no write of what it lacks between its change and the image that lacks it.

    A controller that takes over after the image writes what is missing. Of partitions it is not asked: the znode of
    their topic is another one. ``but_created``: the empty config with which a topic is created is no such write.
    """
    return not any(
        _was_written(history, each.state, taken.at_ns if taken else sys.maxsize, but_created=but_created)
        for label, lost in wrong.lost.items()
        for taken in [snapshot(history, label)]
        for each in lost
        if each.state.family in _OF_ONE_ZNODE
    )


def _was_written(history: History, state: State, until_ns: int, *, but_created: bool) -> bool:
    writes = writes_to(history, znode_of(history, state.family, state.slot[1])[0])
    return any(
        began_ns(state.last) < each.at_ns <= until_ns
        and not (but_created and write.operation == "create" and held_in(write).get("config") == {})
        for each, write in writes
    )


def was_reached(history: History, wrong: Wrong, label: str) -> bool:
    """Whether ``/migration`` had come, before an image, to the last record of the log about anything that is wrong.

    ZooKeeper has had it then: the position is written after what leads to it.
    """
    log, taken = last_log(history), snapshot(history, label)
    until_ns = taken.at_ns if taken is not None else 0
    seen = [
        *(offset_in(each) for each in held_by_migration(history) if each.at_ns <= until_ns),
        *(position_set(each) for each in history.transactions if each.at_ns <= until_ns),
    ]
    last = max((each for each in seen if each is not None), default=-1)
    return any(offsets[-1] <= last for place in wrong.places if (offsets := offsets_of(log, place)))


def since_the_takeover(history: History) -> list[Window]:
    """From the first claim of a KRaft controller on: what is older was in ZooKeeper before.

    Phases are seen by other probes than claims are, so that the one that begins with it may be seen first.
    """
    claim = next(kraft_claims(history), None)
    begun_ns = [
        each.at_ns for each in history.states(PHASE) if each.what.state in (Phase.COPYING.name, Phase.HYBRID.name)
    ]
    return [Window(min([claim.at_ns, *begun_ns]), sys.maxsize)] if claim else []


def are_within(history: History, subjects: Iterable[object], windows: Iterable[Window]) -> bool:
    """Whether each subject that was changed at all was changed last in one of the windows."""
    last: dict[object, int] = {}
    for event in history.of(MetadataChanged):
        if not has_failed(event):
            last[event.what.subject] = changed_ns(event)
    spans = list(windows)
    times = [last[each] for each in subjects if each in last]
    return all(any(each.from_ns <= at_ns <= each.to_ns for each in spans) for at_ns in times)


def loaded_and_synced(history: History, written: Transaction, *changes: Recorded[MetadataChanged]) -> bool:
    """Whether a transaction belongs to the sync of a controller that took over, after it had loaded the changes.

    It was started after they were acknowledged, or has them from the checkpoint that it was started from.
    """
    claim = _claim_of(history, written)
    if claim is None or not claim.is_kraft or not _is_of_the_sync(history, claim, written):
        return False
    name = f"controller-{claim.controller}"
    starts = [each for each in history.of(NodeStarted) if each.node == name]
    before = [each for each in starts if each.at_ns <= claim.transaction.at_ns]
    return bool(before) and all(_has_loaded(before[-1], each, claim) for each in changes)


def is_of_a_sync(history: History, written: Transaction) -> bool:
    """Whether a transaction belongs to the sync of a KRaft controller that took over."""
    claim = _claim_of(history, written)
    return claim is not None and claim.is_kraft and _is_of_the_sync(history, claim, written)


def synced_since_ns(history: History, life: int, until_ns: int) -> int | None:
    """When the last KRaft controller of a life took over whose full sync had ended by then; None: none had.

    What the log had then, ZooKeeper had as the sync ended. The offset in ``/migration`` rises after it only.
    """
    ended = [
        claim.transaction.at_ns
        for claim in claims(history)
        if claim.is_kraft and claim.life == life and _has_synced(history, claim, until_ns)
    ]
    return max(ended, default=None)


def _has_synced(history: History, claim: Claimed, until_ns: int) -> bool:
    begun = claim.transaction
    own = [each for each in history.transactions if each.session == begun.session and each.zxid > begun.zxid]
    return len({position_set(each) for each in own if each.at_ns < until_ns} - {None}) > 1


def _is_of_the_sync(history: History, claim: Claimed, written: Transaction) -> bool:
    """Whether a transaction came soon after its claim, and before the offset in ``/migration`` rose: it rises last."""
    begun = claim.transaction
    own = [each for each in history.transactions if each.session == written.session]
    until = [position_set(each) for each in own if begun.zxid < each.zxid <= written.zxid]
    return len(set(until) - {None}) <= 1 and written.at_ns <= begun.at_ns + _SYNC_NS


def _has_loaded(start: Recorded[NodeStarted], change: Recorded[MetadataChanged], claim: Claimed) -> bool:
    is_of_checkpoint = bool(start.what.inherited) and bool(change.what.inherited)
    return change.at_ns < claim.transaction.at_ns and (is_of_checkpoint or change.at_ns < start.at_ns)


def _claim_of(history: History, written: Transaction) -> Claimed | None:
    """The claim by which the session of a transaction was in charge."""
    own = [each for each in claims(history) if each.transaction.session == written.session]
    return next((each for each in reversed(own) if each.transaction.zxid < written.zxid), None)
