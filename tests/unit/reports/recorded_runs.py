"""Run folders for the tests of per-run reports, written by the recorder itself."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import RunHeader, Sample
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation, conforms, violates
from pytest_kmigrate.recording.operation_parts import PartWriter, Row
from pytest_kmigrate.recording.recorder import RunRecorder
from pytest_kmigrate.recording.run_folder import RunFolder, run_id_of
from pytest_kmigrate.recording.verdicts import write_verdicts
from tests.unit.typical_events import typical

MS = 1_000_000
TEST = "suites/kip_866/test_faults.py::test_takes_over[kill(active::controller)]"
STARTED = datetime(2026, 3, 1, 10, tzinfo=UTC)
HEADER = RunHeader(
    run_id=run_id_of(TEST, 7, STARTED),
    test_id=TEST,
    seed=7,
    kafka="3.6.0",
    topology="zk1-broker3-controller3",
    requirements=("K866-TEST-controller-failures",),
    started_at=STARTED.isoformat(),
    extra={"reproduce": "pytest suites/kip_866/test_faults.py --kmigrate-seed 7"},
)
GREEN = conforms("none of 100 acknowledged records was lost").by("no_acked_record_lost")


class _Recorder(RunRecorder):
    """A recorder whose clock stands still, from the first event on."""

    now_ms = 0.0

    def now_ns(self) -> int:
        """As set."""
        return int(self.now_ms * MS)


class RecordedRun:
    """A run folder being written, with a clock that the test sets."""

    def __init__(self, folder: Path, header: RunHeader = HEADER) -> None:
        self.folder = RunFolder(folder / "run")
        self.recorder = _Recorder(self.folder, header)

    def at(self, ms: float, kind: EventKind, node: str | None = None, **data: object) -> int:
        """Record one event at this moment; returns its number."""
        self.recorder.now_ms = ms
        return self.recorder.record(typical(kind, **data), node).seq

    def log(self, node: str, text: str) -> None:
        """Let a node write into its log."""
        log = self.folder.log_folder(node) / "server.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a") as file:
            file.write(text)
        known = {**self.recorder.log_files(), node: log}
        self.recorder.log_files = lambda: known

    def operations(self, *rows: Row) -> None:
        """Store client operations."""
        writer = PartWriter(self.folder.operations, "clients")
        writer.extend(rows)
        writer.close()

    def sample(self, ms: float, node: str, **values: float | None) -> None:
        """Store one node's metrics."""
        self.recorder.sample(Sample(int(ms * MS), node, values))

    def end(self, ms: float, *verdicts: Verdict, bugs: Sequence[str] = ()) -> RunFolder:
        """End the run and judge it as asked; without verdicts it was never judged."""
        self.recorder.now_ms = ms
        self.recorder.close()
        if verdicts:
            write_verdicts(self.folder, [_known(each, bugs) if bugs and each.violations else each for each in verdicts])
        return self.folder

    def cut_off(self) -> RunFolder:
        """End as a killed run does: not judged, and with half a last line."""
        folder = self.end(self.recorder.now_ms)
        text = folder.history.read_text()
        folder.history.write_text(text[: text.rindex('"run-ended"')])
        return folder


def wrote(began_ms: float, ended_ms: float, outcome: OperationOutcome = OperationOutcome.OK, error: str = "") -> Row:
    """One write."""
    times = (int(began_ms * MS), int(ended_ms * MS))
    return (int(OperationKind.PRODUCE), int(outcome), 1, "orders", 0, 0, 1, 0, *times, "", True, error)


def lost(at_ms: float | None, *evidence: str) -> Verdict:
    """A verdict that one record was lost."""
    at_ns = None if at_ms is None else int(at_ms * MS)
    violation = Violation("every acknowledged record is read", "orders-2 at 411 was <never> read", at_ns, evidence)
    return violates(Kind.SAFETY, [violation], "1 of 100 acknowledged records was lost").by("no_acked_record_lost")


def faulty_run(folder: Path, header: RunHeader = HEADER) -> RecordedRun:
    """A run up to the moment 2 000 ms: a controller is killed in HYBRID (event 6) and comes back."""
    run = RecordedRun(folder, header)
    node = "controller-3000"
    run.at(10, EventKind.NODE_STARTED, node, role="controller", mode=None, pid=1, kafka="3.6.0", incarnation=1)
    run.at(100, EventKind.NODE_READY, node, took_ms=90)
    run.at(200, EventKind.STATE, of="phase", state="HYBRID", previous="COPYING")
    run.at(300, EventKind.STEP_BEGAN, step="roll-brokers-to-kraft")
    run.at(
        1000, EventKind.FAULT_BEGAN, fault="kill(active-controller)", fault_id="fault-1", effect="kill", trigger="now"
    )
    run.at(1010, EventKind.NODE_STOPPED, node, how="killed", exit_code=-9, took_ms=1)
    run.at(1020, EventKind.FAULT_APPLIED, fault_id="fault-1", targets=[node], began=5)
    run.at(1500, EventKind.FAULT_WITNESSED, fault_id="fault-1", witness="its process is gone", facts={})
    run.at(1600, EventKind.FAULT_HEALED, fault_id="fault-1", fault="kill(active-controller)")
    run.at(1700, EventKind.NODE_STARTED, node, role="controller", mode=None, pid=2, kafka="3.6.0", incarnation=2)
    run.at(1900, EventKind.NODE_READY, node, took_ms=200)
    run.at(2000, EventKind.STEP_ENDED, step="roll-brokers-to-kraft", outcome="done", reason="")
    return run


def with_header(**changes: object) -> RunHeader:
    """The header with some fields changed."""
    changed: Callable[..., RunHeader] = replace
    return changed(HEADER, **changes)


def inline_json(page: str) -> dict[str, object]:
    """What a timeline page hands to its script."""
    text = page.partition('<script type="application/json" id="run">')[2].partition("</script>")[0]
    content: dict[str, object] = json.loads(text)
    return content


def _known(verdict: Verdict, bugs: Sequence[str]) -> Verdict:
    """A verdict of which these bugs explain all, unless it has its own."""
    known = verdict.known_bugs or tuple(bugs)
    red = [replace(each, known_bugs=known) if each.outcome is Outcome.VIOLATES else each for each in verdict.about]
    return replace(verdict, known_bugs=known, about=tuple(red))
