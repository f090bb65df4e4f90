"""Sentences: an anomaly as the two or three operations that contradict one another."""

from collections.abc import Mapping

import numpy as np

from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations

_VERBS = {
    OperationKind.PRODUCE: "acknowledged",
    OperationKind.CONSUME: "consumed",
    OperationKind.COMMIT: "committed",
    OperationKind.FINAL_READ: "finally read",
}


def identity(group: Operations, row: int) -> str:
    """A record by who wrote it."""
    if group.producer[row] < 0:
        return "a record of a foreign producer"
    return f"record {group.sequence[row]} of producer {group.producer[row]}"


def lost_write(group: Operations, _: int, row: int) -> str:
    """Acknowledged, or read by a consumer, and not there."""
    reported = f"{identity(group, row)} was {_seen(group, row)}, but the final read of {_place(group, row)} has it not"
    if group.kind[row] == OperationKind.CONSUME:
        return f"{reported}; no broker acknowledged it, but what a consumer reads is committed"
    return f"{reported}; {who_read(group, int(group.producer[row]), int(group.sequence[row]))}"


def who_read(operations: Operations, producer: int, sequence: int) -> str:
    """Who read a lost record first: one that somebody read was committed, and is no mere answer to a send."""
    is_read = (operations.kind == OperationKind.CONSUME) & (operations.outcome == OperationOutcome.OK)
    reads = np.flatnonzero(is_read & (operations.producer == producer) & (operations.sequence == sequence))
    if len(reads) == 0:
        return "no client ever read it"
    first = int(reads[np.argmin(operations.ended_ns[reads])])
    return f"client {operations.client[first]} had read it at {_s(operations, first)}"


def phantom(group: Operations, _: int, row: int) -> str:
    """There, and never sent."""
    return f"{identity(group, row)} was {_seen(group, row)}, but no client of ours sent it to {_place(group, row)}"


def refused_but_found(group: Operations, _: int, row: int) -> str:
    """There, though its send was refused."""
    return f"{identity(group, row)} was {_seen(group, row)}, but its send was definitely refused"


def duplicate(group: Operations, first: int, row: int) -> str:
    """There twice."""
    return (
        f"{identity(group, row)} is at {_place(group, row)} offset {group.offset[first]} and again at {_at(group, row)}"
    )


def reordering(group: Operations, earlier: int, row: int) -> str:
    """The later one lies before the earlier one."""
    return (
        f"{identity(group, row)} was sent after record {group.sequence[earlier]}, but lies before it: "
        f"at {_place(group, row)} offset {group.offset[row]}, that one at {group.offset[earlier]}"
    )


def inconsistent_offset(group: Operations, other: int, row: int) -> str:
    """One offset, two records."""
    return (
        f"{_place(group, row)} offset {group.offset[row]} held {identity(group, other)} ({_verb(group, other)} at "
        f"{_s(group, other)}) and {identity(group, row)} ({_verb(group, row)} at {_s(group, row)})"
    )


def moved(group: Operations, final: int, row: int) -> str:
    """Acknowledged here, finally there."""
    return f"{identity(group, row)} was {_seen(group, row)}, but finally lies at offset {group.offset[final]}"


def commit_back(group: Operations, higher: int, row: int) -> str:
    """A commit below an earlier one."""
    return (
        f"group {group.group[row]} had committed {group.offset[higher]} in {_place(group, row)} "
        f"by {_s(group, higher)}, then client {group.client[row]} committed {group.offset[row]} at {_s(group, row)}"
    )


def poll_back(group: Operations, before: int, row: int) -> str:
    """A client without a group that went back."""
    return (
        f"client {group.client[row]}, in no group, had read {_place(group, row)} up to {group.offset[before]}, "
        f"then read {_at(group, row)}"
    )


def poll_over(before: int, group: Operations, sent: int, row: int) -> str:
    """A client that read on above a record it never read."""
    reader = f"no client of group {group.group[row]} ever" if group.group[row] else "it never"
    return (
        f"client {group.client[row]} read {_place(group, row)} offset {group.offset[before]} at {_s(group, before)}, "
        f"then {group.offset[row]} at {_s(group, row)}; between them, at {group.offset[sent]}, lies "
        f"{identity(group, sent)}, acknowledged at {_s(group, sent)}, which {reader} read"
    )


def below_committed(floors: Mapping[int, int], group: Operations, row: int) -> str:
    """A client that began below what its group had committed."""
    return (
        f"group {group.group[row]} had committed {floors[row]} in {_place(group, row)}, "
        f"then client {group.client[row]} began to read at {_at(group, row)}"
    )


def aborted_read(group: Operations, write: int, row: int) -> str:
    """Read, though its transaction was aborted."""
    return f"{identity(group, row)} was {_seen(group, row)}, but its transaction {group.transaction[write]} was aborted"


def intermediate_read(group: Operations, last: int, row: int) -> str:
    """Read while its transaction still wrote."""
    return (
        f"{identity(group, row)} was {_seen(group, row)}, while its transaction {group.transaction[last]} was open: "
        f"that sent record {group.sequence[last]} later, at {group.began_ns[last] / 1e9:.3f} s"
    )


def torn_transaction(group: Operations, there: int, row: int) -> str:
    """One write is there, the other is not."""
    is_committed = group.transaction_outcome[row] == OperationOutcome.OK
    fate = "was committed" if is_committed else "ended without an answer"
    return (
        f"transaction {group.transaction[row]} {fate}; its record {group.sequence[there]} was finally read "
        f"in {_place(group, there)}, its record {group.sequence[row]} was not in {_place(group, row)}"
    )


def reordered_transactions(group: Operations, earlier: int, row: int) -> str:
    """The later transaction lies before the earlier one."""
    return (
        f"transaction {group.transaction[row]} began after every send of transaction {group.transaction[earlier]} was "
        f"acknowledged, but lies before it: at {_place(group, row)} offset {group.offset[row]}, "
        f"that one at {group.offset[earlier]}"
    )


def write_before(group: Operations, before: int, after: int) -> str:
    """One edge of a cycle: who wrote first."""
    where = f"{_place(group, before)} at {group.offset[before]} and {group.offset[after]}"
    return f"transaction {group.transaction[before]} wrote before {group.transaction[after]} in {where}"


def read_after(group: Operations, write: int, read: int) -> str:
    """One edge of a cycle: who read what the other wrote."""
    return (
        f"transaction {group.transaction[read]} read {identity(group, write)}, "
        f"which transaction {group.transaction[write]} wrote"
    )


def _seen(group: Operations, row: int) -> str:
    """Such as "acknowledged at orders-2 offset 411 at 12.105 s"."""
    return f"{_verb(group, row)} at {_place(group, row)} offset {_at(group, row)}"


def _at(group: Operations, row: int) -> str:
    return f"{group.offset[row]} at {_s(group, row)}"


def _verb(group: Operations, row: int) -> str:
    return _VERBS[OperationKind(int(group.kind[row]))]


def _place(group: Operations, row: int) -> str:
    return f"{group.topic[row]}-{group.partition[row]}"


def _s(group: Operations, row: int) -> str:
    return f"{group.ended_ns[row] / 1e9:.3f} s"
