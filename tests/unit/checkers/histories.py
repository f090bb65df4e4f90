"""Histories in a few words: rows, events and whole histories for tests of whatever reads a History."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import ClientMetadata, History, RunHeader, Sample, Transaction, ZnodeChange
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.operations import (
    COLUMNS,
    OPTIONAL_COLUMNS,
    OperationKind,
    OperationOutcome,
    Operations,
    no_operations,
)
from tests.unit.typical_events import typical

OK, FAILED, INDEFINITE = OperationOutcome.OK, OperationOutcome.FAILED, OperationOutcome.INDEFINITE
MS = 1_000_000
"""Nanoseconds in a millisecond."""


Row = dict[str, Any]
"""One operation by its columns; what is left out gets a plain default."""

_DEFAULTS: Row = {
    "outcome": OK,
    "client": 1,
    "topic": "orders",
    "partition": 0,
    "offset": -1,
    "producer": -1,
    "sequence": -1,
    "began_ns": 0,
    "ended_ns": 0,
    "group": "",
    "idempotent": False,
    "error": "",
}


def sent(sequence: int, offset: int = -1, **more: Any) -> Row:
    """A send of producer 1, acknowledged and idempotent; its offset is its sequence by default."""
    at = offset if offset >= 0 else sequence
    row: Row = {"kind": OperationKind.PRODUCE, "producer": 1, "sequence": sequence, "offset": at, "idempotent": True}
    return {**row, **more}


def unsure(sequence: int, **more: Any) -> Row:
    """A send that timed out."""
    row: Row = {"outcome": INDEFINITE, "error": "_MSG_TIMED_OUT"}
    return {**sent(sequence), "offset": -1, **row, **more}


def refused(sequence: int, error: str = "MESSAGE_TOO_LARGE", **more: Any) -> Row:
    """A send that failed."""
    row: Row = {"outcome": FAILED, "error": error}
    return {**sent(sequence), "offset": -1, **row, **more}


def read_back(sequence: int, offset: int = -1, **more: Any) -> Row:
    """A final read of a record of producer 1."""
    at = offset if offset >= 0 else sequence
    row: Row = {"kind": OperationKind.FINAL_READ, "client": 90, "producer": 1, "sequence": sequence, "offset": at}
    return {**row, **more}


def consumed(offset: int, at_ms: int = 0, **more: Any) -> Row:
    """A read of client 50 in group "billing"; the record is the one whose sequence is the offset."""
    row: Row = {"kind": OperationKind.CONSUME, "client": 50, "group": "billing", "producer": 1, "sequence": offset}
    return {**row, "offset": offset, "began_ns": at_ms * MS, "ended_ns": at_ms * MS, **more}


def committed(offset: int, at_ms: int, took_ms: int = 1, **more: Any) -> Row:
    """A commit of client 50 in group "billing" that began at ``at_ms``."""
    row: Row = {"kind": OperationKind.COMMIT, "client": 50, "group": "billing", "offset": offset}
    return {**row, "began_ns": at_ms * MS, "ended_ns": (at_ms + took_ms) * MS, **more}


def operations(*rows: Row) -> Operations:
    """Operations of these rows, in their order."""
    dtypes = {name: np.dtype(object) if kind == "string" else np.dtype(kind) for name, kind in COLUMNS.items()}
    dtypes |= {name: np.dtype(kind) for name, (kind, _) in OPTIONAL_COLUMNS.items()}
    absent = {name: value for name, (_, value) in OPTIONAL_COLUMNS.items()}
    full: list[Mapping[str, object]] = [{**_DEFAULTS, **absent, **row} for row in rows]
    columns = {name: np.array([row[name] for row in full], dtype) for name, dtype in dtypes.items()}
    return Operations(**columns) if rows else no_operations()


def event(kind: EventKind, at_ms: int = 0, node: str | None = None, **data: Any) -> Event:
    """An event, by the fields that matter; ``history`` numbers it."""
    return typical(kind, **data).event(0, at_ms * MS, node)


def fault(at_ms: int, name: str = "kill(active-controller)", *, witnessed: bool = True, **data: Any) -> list[Event]:
    """A fault that began, and that it was witnessed; its id is its name."""
    began = event(EventKind.FAULT_BEGAN, at_ms, fault=name, fault_id=name, **data)
    bit = event(EventKind.FAULT_WITNESSED, at_ms + 1, fault_id=name, witness="it bit")
    return [began, bit] if witnessed else [began]


def phase(at_ms: int, name: str) -> Event:
    """A phase edge."""
    return event(EventKind.STATE, at_ms, of="phase", state=name)


def change(at_ms: int, kind: str, subject: str, outcome: str = "ok", **more: Any) -> Event:
    """A metadata change; what is wanted in ``wanted``."""
    data: dict[str, Any] = {"began_ns": (at_ms - 1) * MS, "wanted": {}, **more}
    return event(EventKind.METADATA_CHANGE, at_ms, change=kind, subject=subject, outcome=outcome, **data)


def znode(at_ms: int, path: str, data: str | None, mzxid: int = -1, version: int = -1) -> ZnodeChange:
    """What a path held from then on."""
    return ZnodeChange(at_ms * MS, path, data, version, mzxid)


def sample(at_ms: int, node: str, **values: float | None) -> Sample:
    """One node's metrics at one moment."""
    return Sample(at_ms * MS, node, values)


def snapshot(at_ms: int, label: str, took_ms: int = 500) -> Event:
    """An image of this label was taken; ``history`` is given the image."""
    began_ns = (at_ms - took_ms) * MS
    return event(EventKind.SNAPSHOT, at_ms, label=label, file=f"metadata/{label}.json", began_ns=began_ns)


def copies(
    at_ms: int, replicas: str, in_sync: str | None = None, node: str = "broker-0", leader: int = 0
) -> ClientMetadata:
    """A broker answers which brokers, such as "0,1,2", have a copy of orders-0, which are in sync, and which leads."""
    text = f"id; 0 replicas={replicas} isr={replicas if in_sync is None else in_sync} leader={leader} leader_epoch=0"
    return ClientMetadata(at_ms * MS, node, 0, (0,), {"orders": text})


def broker_away(from_ms: int, to_ms: int | None = None, number: int = 0) -> list[Event]:
    """A broker ran from the beginning, was stopped, and is ready again (None: never)."""
    name, data = f"broker-{number}", {"role": "broker", "mode": "kraft", "kafka": "3.9.1"}
    events = [event(EventKind.NODE_STARTED, 0, name, **data), event(EventKind.NODE_READY, 1, name)]
    events.append(event(EventKind.NODE_STOPPED, from_ms, name, how="controlled", took_ms=0))
    if to_ms is not None:
        started = event(EventKind.NODE_STARTED, from_ms + 1, name, **data)
        events += [started, event(EventKind.NODE_READY, to_ms, name)]
    return events


def history(
    rows: Iterable[Row] = (),
    events: Iterable[Event] = (),
    *,
    znodes: Sequence[ZnodeChange] = (),
    samples: Sequence[Sample] = (),
    client_metadata: Sequence[ClientMetadata] = (),
    transactions: Sequence[Transaction] = (),
    images: Mapping[str, MetadataImage] | None = None,
    logs: Mapping[str, str] | None = None,
    requirements: tuple[str, ...] = (),
    kafka: str = "3.9.1",
) -> History:
    """A history; events are put in the order of time and numbered."""
    in_order = sorted(events, key=lambda each: each.at_ns)
    return History(
        RunHeader("run-1", "test", 1, kafka, "smallest", requirements=requirements),
        [replace(each, seq=seq) for seq, each in enumerate(in_order)],
        operations(*rows),
        samples=samples,
        client_metadata=client_metadata,
        transactions=transactions,
        znodes=znodes,
        images=images or {},
        logs=logs or {},
    )
