"""What a member's lines become: events of the history, and rows of operations for what there are many of."""

from collections.abc import Sequence
from typing import Protocol

from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.members import (
    MemberAssigned,
    MemberGauges,
    MemberMode,
    MemberOwns,
    MemberReleased,
    MemberReported,
)
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.workloads.clients.counting import Row
from pytest_kmigrate.workloads.clients.record_value import decode
from pytest_kmigrate.workloads.members.contract import Line

_CONSUME, _COMMIT = OperationKind.CONSUME.value, OperationKind.COMMIT.value
_OK, _FAILED = OperationOutcome.OK.value, OperationOutcome.FAILED.value
_COMMIT_TAKES_NS = 1_000_000_000
"""A line reports when a commit was answered, not when it was sent: so long before, at most."""
_SILENT = ("shutdown_complete",)


class Rows(Protocol):
    """Where rows of operations go."""

    def append(self, row: Row) -> None:
        """Take one row."""
        ...

    def close_part_if_due(self) -> None:
        """Write a part when its time has come."""
        ...

    def close(self) -> None:
        """Write what is left."""
        ...


class Reports:
    """One life of a member; for use by one thread."""

    def __init__(self, member: str, client: int, group: str, recorder: Recorder, rows: Rows) -> None:
        self._who = (member, client)
        self._group = group
        self._recorder = recorder
        self._rows = rows
        self._looked_ns = 0
        self._records: list[tuple[str, int, int, str]] = []
        """Printed one by one, before the line that counts them."""
        self._gauges: dict[str, float] = {}

    def take(self, line: Line, at_ns: int) -> None:
        """Record one line that was printed at ``at_ns`` of the run."""
        match line.name:
            case "record_data":
                self._records.append(line.record)
            case "records_consumed":
                self._consumed(self._records or line.records, at_ns)
                self._records = []
            case "offsets_committed":
                self._committed(line, at_ns)
            case "partitions_assigned":
                source = str(line.keys.get("source", ""))
                self._recorder.record(MemberOwns(*self._who, line.positions, source, at_ns))
            case "partitions_revoked":
                why = str(line.keys.get("why", ""))
                self._recorder.record(MemberReleased(*self._who, line.partitions, why, at_ns))
            case "kafka_assigned" | "kafka_revoked" | "kafka_lost":
                what = line.name.removeprefix("kafka_")
                self._recorder.record(MemberAssigned(*self._who, what, line.partitions, at_ns))
            case "coordination_mode":
                mode, why = str(line.keys["mode"]), str(line.keys.get("why", ""))
                self._recorder.record(MemberMode(*self._who, mode, why, at_ns))
            case "metrics":
                self._changed({str(name): float(value) for name, value in line.keys["gauges"].items()}, at_ns)
            case name if name not in _SILENT:
                self._recorder.record(MemberReported(*self._who, name, line.keys, at_ns))

    def _consumed(self, records: Sequence[tuple[str, int, int, str]], at_ns: int) -> None:
        began_ns, self._looked_ns = self._looked_ns or at_ns, at_ns
        for topic, partition, offset, value in records:
            producer, sequence = decode(value.encode())
            place = (self._who[1], topic, partition, offset, producer, sequence)
            self._rows.append((_CONSUME, _OK, *place, began_ns, at_ns, self._group, False, ""))

    def _committed(self, line: Line, at_ns: int) -> None:
        """Commits to Kafka only: what ZooKeeper was written is in its own log."""
        if line.keys.get("store", "kafka") != "kafka":
            return
        error = "" if line.keys.get("success", True) else str(line.keys.get("error") or "UNKNOWN")
        began_ns = max(0, at_ns - _COMMIT_TAKES_NS)
        for topic, partition, offset in line.offsets:
            place = (self._who[1], topic, partition, offset, -1, -1)
            outcome = _FAILED if error else _OK
            self._rows.append((_COMMIT, outcome, *place, began_ns, at_ns, self._group, False, error))

    def _changed(self, gauges: dict[str, float], at_ns: int) -> None:
        if gauges != self._gauges:
            self._gauges = gauges
            self._recorder.record(MemberGauges(*self._who, gauges, at_ns))
