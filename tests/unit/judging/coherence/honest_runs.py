"""A small run with every stream, honest until a test changes it, and what a forger does after a change."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from pytest_kmigrate.distributions.releases import locked_release
from pytest_kmigrate.judging.coherence.header import name_under_test
from pytest_kmigrate.judging.judge import judge_folder
from pytest_kmigrate.model.event import Ending, EventKind
from pytest_kmigrate.model.events.evidence import RunEnded
from pytest_kmigrate.model.history import RunHeader, Transaction, Write, ZnodeChange
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.operation_parts import ARROW_SCHEMA, Row
from pytest_kmigrate.recording.recorder import write_manifest
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.workloads.clients.drawn_keys import partitions_of
from tests.unit.reports.recorded_runs import HEADER, MS, RecordedRun

Line = dict[str, Any]
RECORDS, PARTITIONS = 24, 3
CHECKS: Sequence[Line] = (
    {"name": "no_acked_record_lost", "arguments": {}},
    {"name": "no_phantom_record", "arguments": {}},
    {"name": "no_unexpected_death", "arguments": {}},
)
DIGEST = locked_release("3.6.0").digest()
CLASSES = "cc" * 32
SOFTWARE: Line = {"distribution_digests": {"3.6.0": DIGEST}, "distribution_classes": {"3.6.0": CLASSES}}
KILLED = "controller-3000"
_APART_MS = 1e-5
"""By so much more than those of the run with the seed before, events of a run are apart."""


def later_ms(header: RunHeader) -> int:
    """How much later all events of a run with this seed are."""
    return header.seed % 1000


class _LaterRun(RecordedRun):
    """A run whose seed delays all its events."""

    def __init__(self, folder: Path, header: RunHeader) -> None:
        super().__init__(folder, header)
        self._later_ms = later_ms(header)

    def at(self, ms: float, kind: EventKind, node: str | None = None, **data: object) -> int:
        """Record one event so much later; no time between two events is that of another run."""
        apart_ms = len(self.recorder.events) * self._later_ms * _APART_MS
        return super().at(ms + self._later_ms + apart_ms, kind, node, **data)


def honest_run(folder: Path, header: RunHeader = HEADER, checks: Sequence[Line] = CHECKS) -> RunFolder:
    """A run in which a controller was killed under traffic, judged and complete; it conforms.

    Everything happens a millisecond later for each number of the seed: no two runs have the same evidence.
    """
    header = replace(header, extra={**SOFTWARE, **header.extra})
    run = _LaterRun(folder, header)
    jars = _jars(header)
    for at_ms, node, role, mode in ((10, "broker-0", "broker", "zookeeper"), (20, KILLED, "controller", None)):
        run.at(at_ms, EventKind.NODE_STARTED, node, role=role, mode=mode, pid=1, incarnation=1, **jars)
        run.at(at_ms + 5, EventKind.NODE_READY, node, took_ms=5)
    run.at(30, EventKind.STATE, of="phase", state="ZOOKEEPER", previous=None)
    run.at(40, EventKind.ACTIVE_CONTROLLER, "broker-0", controller="broker-0", previous=None)
    for node in ("broker-0", KILLED):
        run.log(node, f"{node} of {header.run_id} begins\n")
    workload: Line = {"workload": "clients", "topics": ["orders"], "per_s": 500, "group": "readers"}
    run.at(100, EventKind.WORKLOAD_BEGAN, **workload, seed=header.seed)
    run.at(200, EventKind.STATE, of="phase", state="PREPARING", previous="ZOOKEEPER")
    run.at(250, EventKind.STATE, of="phase", state="HYBRID", previous="PREPARING")
    _kill(run, jars)
    run.log(KILLED, "it is killed\n")
    run.operations(*_operations(header))
    for place in range(6):
        at_ms = 150 + 50 * place + later_ms(header)
        run.sample(at_ms, "broker-0", ActiveControllerCount=1.0)
        run.recorder.znode(ZnodeChange(at_ms * MS, "/brokers", f"{place}", place, 10 + place))
    times = ((place + header.seed) * MS for place in range(3))
    run.recorder.transactions(
        Transaction(at, 10 + place, 10 * header.seed + place, (Write("set-data", "/brokers", f"{place}"),))
        for place, at in enumerate(times)
    )
    counts = {"acked": RECORDS, "failed": 0, "indefinite": 0, "consumed": RECORDS, "committed": 0}
    ended = {"workload": "clients", "final_read": RECORDS, "withheld": [], "skipped": 0, "outstanding": 0}
    run.at(2500, EventKind.WORKLOAD_ENDED, **ended, **counts, partitions={"orders": [PARTITIONS]})
    _idle_nodes(run, header, jars)
    run.at(2600, EventKind.CHECKS, checks=list(checks))
    run.recorder.ending = RunEnded(Ending.PASSED, Outcome.CONFORMS.name)
    judge_folder(run.folder)
    closed = run.end(3000 + later_ms(header))
    write_manifest(closed)
    return closed


def _kill(run: RecordedRun, jars: Line) -> None:
    known_as = {"fault_id": "fault-1"}
    run.at(300, EventKind.FAULT_BEGAN, fault="kill(active-controller)", effect="kill", trigger="now", **known_as)
    run.at(310, EventKind.NODE_STOPPED, KILLED, how="killed", exit_code=-9, took_ms=1, said="")
    run.at(320, EventKind.FAULT_APPLIED, targets=[KILLED], began=8, **known_as)
    run.at(330, EventKind.FAULT_WITNESSED, witness="its process is gone", facts={}, **known_as)
    run.at(340, EventKind.NODE_STARTED, KILLED, role="controller", mode=None, pid=2, incarnation=2, **jars)
    run.at(350, EventKind.FAULT_HEALED, fault="kill(active-controller)", **known_as)


def _jars(header: RunHeader) -> Line:
    """What nodes that run the Kafka under test record of it."""
    own = name_under_test(header)
    return {"kafka": header.release, "digest": (header.digests or {}).get(own or "")}


def _idle_nodes(run: RecordedRun, header: RunHeader, jars: Line) -> None:
    """The other nodes that the topology has up from the begin; nothing is seen of them but their start."""
    for node, role, mode in (
        ("broker-1", "broker", "zookeeper"),
        ("broker-2", "broker", "zookeeper"),
        ("zookeeper-1", "zookeeper", None),
    ):
        run.log(node, f"{node} of {header.run_id} begins\n")
        run.at(2550, EventKind.NODE_STARTED, node, role=role, mode=mode, pid=3, incarnation=1, **jars)


def _operations(header: RunHeader) -> list[Row]:
    """Each record is written, read by a consumer, and read back at the end."""
    rows, later, offsets = [], later_ms(header), Counter[int]()
    for number in range(RECORDS):
        partition = partitions_of(header.seed, 1, PARTITIONS)[number]
        where, record = ("orders", partition, offsets[partition]), (1, number)
        offsets[partition] += 1
        for kind, client, at_ms, group in (
            (OperationKind.PRODUCE, 1, 400, ""),
            (OperationKind.CONSUME, 2, 500, "readers"),
            (OperationKind.FINAL_READ, 3, 2000, ""),
        ):
            times = ((at_ms + number + later) * MS, (at_ms + number + 1 + later) * MS)
            is_idempotent = kind is OperationKind.PRODUCE
            rows.append(
                (int(kind), int(OperationOutcome.OK), client, *where, *record, *times, group, is_idempotent, "")
            )
    return rows


def change_header(folder: RunFolder, **keys: Any) -> None:
    """Rewrite keys of run.json, those of ``extra`` in it."""
    header = json.loads(folder.header.read_text())
    header |= {key: value for key, value in keys.items() if key != "extra"}
    header["extra"] |= keys.get("extra", {})
    folder.header.write_text(json.dumps(header))


def change_lines(file: Path, change: Callable[[list[Line]], list[Line]]) -> None:
    """Rewrite the lines of a file of JSON."""
    lines = change([json.loads(line) for line in file.read_text().splitlines()])
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def change_rows(folder: RunFolder, change: Callable[[list[Line]], list[Line]]) -> None:
    """Rewrite the operations of a run of one part."""
    (part,) = folder.operations.glob("*.parquet")
    rows = change(pq.read_table(part).to_pylist())
    pq.write_table(ARROW_SCHEMA.empty_table().from_pylist(rows, ARROW_SCHEMA), part)


def sealed_anew(folder: RunFolder) -> RunFolder:
    """What a forger does after a change: seals, verdicts and manifest that are true of the files as they are."""

    def seal(lines: list[Line]) -> list[Line]:
        *rest, ended = lines
        for name, sealed in ended["data"]["seals"].items():
            file = folder.path / name
            content = file.read_bytes() if file.is_file() else b""
            if file == folder.history:
                content = "".join(json.dumps(line) + "\n" for line in rest).encode()
            sealed["sha256"] = hashlib.sha256(content).hexdigest()
            if "bytes" in sealed:
                sealed["bytes"] = len(content)
            if "lines" in sealed:
                sealed["lines"] = content.count(b"\n")
        return [*rest, ended]

    change_lines(folder.history, seal)
    return judged_anew(folder)


def judged_anew(folder: RunFolder) -> RunFolder:
    """New verdicts, as the stored ones would differ, and a new manifest."""
    judge_folder(folder)
    write_manifest(folder)
    return folder
