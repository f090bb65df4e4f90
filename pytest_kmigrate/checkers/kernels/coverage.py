"""Coverage: which classes of anomaly some operations could have shown at all; of the others "none" says nothing."""

import enum
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.kernels.anomalies import Aspect
from pytest_kmigrate.checkers.kernels.anomaly import AnomalyClass
from pytest_kmigrate.checkers.kernels.surroundings import Surroundings
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome

Flags = npt.NDArray[np.bool_]
Columns = Mapping[str, npt.NDArray[Any]]


class _Seen(enum.Enum):
    """Operations that a check needs: it has nothing to compare without one of each."""

    SENT = "acknowledged sends"
    KEPT = "acknowledged sends, or records that a consumer read"
    REFUSED = "refused sends"
    IDEMPOTENT = "sends of idempotent producers"
    READ = "records that were read, by whomever"
    POLLED = "records that a consumer read"
    READ_ALONE = "records that a client outside of groups read"
    READ_IN_GROUP = "records that a client of a group read"
    READ_BACK = "final reads"
    LOOKED_BACK = "final reads, or topics that these did not find"
    COMMITTED = "commits"
    TRANSACTION = "sends in transactions"
    READ_IN_TRANSACTION = "records that were read in transactions"
    SETTLED = "workloads that all ended"


_NEEDED: Mapping[Aspect, Mapping[AnomalyClass, frozenset[_Seen]]] = {
    Aspect.RECORD: {
        AnomalyClass.LOST_WRITE: frozenset({_Seen.KEPT, _Seen.LOOKED_BACK}),
        AnomalyClass.PHANTOM: frozenset({_Seen.READ, _Seen.SETTLED}),
        AnomalyClass.REFUSED_BUT_FOUND: frozenset({_Seen.REFUSED, _Seen.READ}),
        AnomalyClass.DUPLICATE: frozenset({_Seen.IDEMPOTENT, _Seen.READ_BACK}),
        AnomalyClass.MOVED: frozenset({_Seen.SENT, _Seen.READ_BACK}),
        AnomalyClass.ABORTED_READ: frozenset({_Seen.TRANSACTION, _Seen.READ}),
    },
    Aspect.OFFSET: {
        AnomalyClass.INCONSISTENT_OFFSET: frozenset({_Seen.READ}),
        AnomalyClass.POLL_SKIP: frozenset({_Seen.SENT, _Seen.POLLED, _Seen.READ_BACK, _Seen.SETTLED}),
    },
    Aspect.PRODUCER: {
        AnomalyClass.REORDERING: frozenset({_Seen.IDEMPOTENT}),
        AnomalyClass.INTERMEDIATE_READ: frozenset({_Seen.TRANSACTION, _Seen.POLLED}),
        AnomalyClass.TORN_TRANSACTION: frozenset({_Seen.TRANSACTION, _Seen.READ_BACK}),
    },
    Aspect.READER: {
        AnomalyClass.NON_MONOTONIC_POLL: frozenset({_Seen.READ_ALONE}),
        AnomalyClass.NON_MONOTONIC_COMMIT: frozenset({_Seen.COMMITTED}),
        AnomalyClass.READ_BELOW_COMMITTED: frozenset({_Seen.COMMITTED, _Seen.READ_IN_GROUP}),
    },
    Aspect.TRANSACTIONS: {
        AnomalyClass.REORDERED_TRANSACTIONS: frozenset({_Seen.TRANSACTION}),
        AnomalyClass.CIRCULAR_READS: frozenset({_Seen.TRANSACTION, _Seen.READ_IN_TRANSACTION}),
    },
}


def could_show(columns: Columns, aspects: Collection[Aspect], around: Surroundings) -> list[AnomalyClass]:
    """The classes that operations with these columns would show if they were there, looked at under some aspects.

    ``in_group`` is a column of its own: whether the client was in a consumer group.
    """
    seen = {each for each, rows in _rows(columns).items() if rows.any()}
    seen |= {_Seen.SETTLED} if around.is_settled else set()
    seen |= {_Seen.LOOKED_BACK} if around.was_read_back else set()
    return [
        name for aspect in Aspect if aspect in aspects for name, needed in _NEEDED[aspect].items() if needed <= seen
    ]


def _rows(columns: Columns) -> dict[_Seen, Flags]:
    kind, is_ok = columns["kind"], columns["outcome"] == OperationOutcome.OK
    is_sent, is_read = kind == OperationKind.PRODUCE, (kind == OperationKind.CONSUME) & is_ok
    is_final = (kind == OperationKind.FINAL_READ) & is_ok
    is_part = columns["transaction"] >= 0
    return {
        _Seen.SENT: is_sent & is_ok,
        _Seen.KEPT: (is_sent & is_ok) | is_read,
        _Seen.REFUSED: is_sent & (columns["outcome"] == OperationOutcome.FAILED),
        _Seen.IDEMPOTENT: is_sent & columns["idempotent"],
        _Seen.READ: is_read | is_final,
        _Seen.POLLED: is_read,
        _Seen.READ_ALONE: is_read & ~columns["in_group"],
        _Seen.READ_IN_GROUP: is_read & columns["in_group"],
        _Seen.READ_BACK: is_final,
        _Seen.COMMITTED: (kind == OperationKind.COMMIT) & is_ok,
        _Seen.TRANSACTION: is_sent & is_part,
        _Seen.READ_IN_TRANSACTION: is_read & is_part,
    }
