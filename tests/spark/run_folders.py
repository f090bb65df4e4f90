"""Builds run folders as the recorder would write them, small and made up, for the tests of the analysis."""

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pytest_kmigrate.recording.operation_parts import ARROW_SCHEMA
from tests.unit.checkers.histories import Row, operations

Line = dict[str, object]

HEADER: Line = {
    "schema": 1,
    "test_id": "suites/kip_866/test_faults.py::test_takes_over[kill(active-controller)]",
    "seed": 7,
    "kafka": "3.9.1",
    "topology": "zk1-broker3-controller3",
    "provider": "process",
    "profile": "kip-866",
    "requirements": ["K866-FAIL-crash-in-migration"],
    "started_at": "2026-03-01T10:00:00+00:00",
    "reproduce": "pytest suites/kip_866/test_faults.py --kmigrate-seed 7",
}


def verdict(
    check: str = "no_acked_record_lost", outcome: str = "CONFORMS", kind: str | None = None, **more: object
) -> Line:
    """One line of ``verdicts.jsonl``; ``more`` replaces any of its keys."""
    count = 1 if outcome == "VIOLATES" else 0
    line = {"check": check, "outcome": outcome, "kind": kind, "summary": f"{check}: {outcome}", "count": count}
    return {**line, "requirements": [], "violations": [], "facts": {}, "known_bugs": [], **more}


def event(at_ms: float, kind: str, **data: object) -> Line:
    """One line of ``history.jsonl`` without its number, which ``write_run`` gives."""
    return {"at_ns": int(at_ms * 1_000_000), "kind": kind, "node": None, "data": data}


def fault(
    at_ms: float,
    name: str = "kill(active-controller)",
    *,
    target: str = "controller-3000",
    witnessed: bool = True,
    number: int = 1,
) -> list[Line]:
    """The three events of one fault that lasted half a second."""
    fault_id = f"fault-{number}"
    seen = "fault-witnessed" if witnessed else "fault-not-witnessed"
    return [
        event(
            at_ms,
            "fault-began",
            fault=name,
            fault_id=fault_id,
            effect="kill",
            targets=[target],
            trigger="now",
        ),
        event(at_ms + 20, seen, fault_id=fault_id, witness="the process is gone"),
        event(at_ms + 500, "fault-healed", fault_id=fault_id),
    ]


def migration(*faults_in_hybrid: list[Line], whole_run_ms: float = 30_000) -> list[Line]:
    """A migration through three phases and one step, with faults in HYBRID."""
    return [
        event(0, "run-began"),
        event(1_000, "state", of="phase", state="ZOOKEEPER", previous=None),
        event(2_000, "step-began", step="roll brokers into migration mode"),
        event(9_000, "step-ended", step="roll brokers into migration mode", outcome="done"),
        event(10_000, "state", of="phase", state="HYBRID", previous="ZOOKEEPER"),
        *[each for of_fault in faults_in_hybrid for each in of_fault],
        event(20_000, "state", of="phase", state="FINALIZED", previous="HYBRID"),
        event(whole_run_ms, "run-ended"),
    ]


def write_run(  # everything a run folder may be
    runs: Path,
    name: str,
    verdicts: Sequence[Line] = (),
    events: Sequence[Line] | None = None,
    *,
    is_complete: bool = True,
    has_timeline: bool = False,
    **header: object,
) -> Path:
    """Write one run folder; its ``run_id`` is its name unless ``header`` says otherwise."""
    folder = runs / name
    folder.mkdir(parents=True)
    history = migration() if events is None else events
    (folder / "run.json").write_text(json.dumps({**HEADER, "run_id": name, **header}, indent=1) + "\n")
    (folder / "history.jsonl").write_text(_lines([{"seq": seq, **each} for seq, each in enumerate(history)]))
    if verdicts:
        (folder / "verdicts.jsonl").write_text(_lines(verdicts))
    if has_timeline:
        (folder / "timeline.html").write_text("<!doctype html><title>timeline</title>")
    if is_complete:
        (folder / "manifest.json").write_text('{"schema": 1, "sha256": {}}\n')
    return folder


def write_operations(part: Path, *rows: Row) -> None:
    """Write one part of a run's client operations."""
    part.parent.mkdir(exist_ok=True)
    columns = operations(*rows)
    pq.write_table(pa.table({name: getattr(columns, name) for name in ARROW_SCHEMA.names}, ARROW_SCHEMA), part)


def _lines(rows: Sequence[Line]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
