"""Lanes of the timeline that are made of many: operations and metadata changes by bucket, and metrics."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import Sample
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations
from pytest_kmigrate.reports.one_run.run_evidence import RunEvidence
from pytest_kmigrate.reports.one_run.timeline_lanes import MS, Lane, Mark, Point, Series, ms, node_style

_BUCKETS_MS = (100, 250, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000)
_MOST_BUCKETS = 800
_MOST_METRICS = 8
_FIRST_METRICS = ("ZkWriteBehindLag", "MigratingZkBrokerCount")
_TOLD_BY_OTHER_LANES = ("ZkMigrationState", "ActiveControllerCount")

Numbers = npt.NDArray[np.int64]


def bucket_ms(evidence: RunEvidence) -> int:
    """The finest bucket that keeps the page small, however long the run was."""
    fitting = (each for each in _BUCKETS_MS if evidence.end_ns / MS / each <= _MOST_BUCKETS)
    return next(fitting, _BUCKETS_MS[-1])


def traffic_lanes(evidence: RunEvidence) -> list[Lane]:
    """Acknowledged writes and reads per second, with a mark where operations failed or got no answer; p99 of writes."""
    width_ms = bucket_ms(evidence)
    operations = evidence.history.operations
    writes, reads = operations.of(OperationKind.PRODUCE), operations.of(OperationKind.CONSUME)
    lanes = []
    if len(writes):
        lanes.append(_throughput("Writes acknowledged", "s1", writes, width_ms))
        lanes.append(_latency(writes, width_ms))
    if len(reads):
        lanes.append(_throughput("Reads", "s2", reads, width_ms))
    return lanes


def _throughput(label: str, style: str, operations: Operations, width_ms: int) -> Lane:
    ok = _buckets(operations, OperationOutcome.OK, width_ms)
    to_per_s = 1000 / width_ms
    per_s: list[Point] = [(float(bucket * width_ms), round(count * to_per_s, 1)) for bucket, count in _counted(ok)]
    marks: list[Mark] = []
    for outcome, mark_style in ((OperationOutcome.FAILED, "bad"), (OperationOutcome.INDEFINITE, "unsure")):
        chosen = operations.where(operations.outcome == outcome)
        buckets = chosen.ended_ns // (width_ms * MS)
        for bucket, count in _counted(buckets):
            errors = ", ".join(sorted({str(error) for error in chosen.error[buckets == bucket]} - {""}))
            tip = f"{count} {outcome.name.lower()} within {width_ms} ms" + (f": {errors}" if errors else "")
            marks.append(Mark(float(bucket * width_ms), mark_style, "✖" if mark_style == "bad" else "?", tip))
    signs = {("bad", "✖"): "operations failed", ("unsure", "?"): "operations got no answer"}
    return Lane(label, marks=marks, series=[Series(label, style, "bars", per_s)], unit="/s", signs=signs)


def _latency(writes: Operations, width_ms: int) -> Lane:
    """The slowest of each bucket's fastest 99 %, at the moment of the answer."""
    answered = writes.where(writes.outcome == OperationOutcome.OK)
    took_ms = (answered.ended_ns - answered.began_ns) / MS
    buckets = answered.ended_ns // (width_ms * MS)
    order = np.lexsort((took_ms, buckets))
    which, first, count = np.unique(buckets[order], return_index=True, return_counts=True)
    rank = first + np.ceil(count * 0.99).astype(np.int64) - 1
    slowest = took_ms[order][rank]
    pairs = zip(which.tolist(), slowest.tolist(), strict=True)
    points: list[Point] = [(float(bucket * width_ms), round(p99, 1)) for bucket, p99 in pairs]
    return Lane("Write latency p99", series=[Series("p99", "s3", "bars", points)], unit=" ms", is_logarithmic=True)


_CHANGE_STYLES = {"ok": ("good", "|"), "failed": ("bad", "✖"), "indefinite": ("unsure", "?")}
_CHANGE_SIGNS = {
    ("good", "|"): "changes acknowledged",
    ("bad", "✖"): "change failed",
    ("unsure", "?"): "change got no answer",
}
_MOST_CHANGES_TOLD = 4


def metadata_lane(evidence: RunEvidence) -> Lane:
    """Metadata changes that were acknowledged, failed, or got no answer; those within one bucket share a mark."""
    width_ms = bucket_ms(evidence)
    together: dict[tuple[int, str], list[Recorded[MetadataChanged]]] = {}
    for event in evidence.history.of(MetadataChanged):
        together.setdefault((event.at_ns // (width_ms * MS), event.what.outcome), []).append(event)
    marks = []
    for (_, outcome), events in together.items():
        style, glyph = _CHANGE_STYLES.get(outcome, ("unsure", "?"))
        reported = [_change(event) for event in events[:_MOST_CHANGES_TOLD]]
        reported += [f"and {len(events) - len(reported)} more"] if len(events) > len(reported) else []
        marks.append(Mark(ms(events[0].at_ns), style, glyph, "\n".join(reported)))
    return Lane("Metadata changes", marks=marks, signs=_CHANGE_SIGNS)


def _change(event: Recorded[MetadataChanged]) -> str:
    error = f" {event.what.error}" if event.what.error else ""
    return f"{event.what.change} {event.what.subject}: {event.what.outcome}{error}"


def metric_lanes(evidence: RunEvidence) -> list[Lane]:
    """A lane per metric that any node exposed, a line per node; those of the migration first."""
    names = list(dict.fromkeys(name for sample in evidence.history.samples for name in sample.values))
    ordered = [*_FIRST_METRICS, *(name for name in names if name not in (*_FIRST_METRICS, *_TOLD_BY_OTHER_LANES))]
    lanes = []
    for name in ordered:
        series = [line for node in evidence.nodes if (line := _metric(evidence, node, name)).points]
        if series:
            lanes.append(Lane(name, series=series, group="metrics"))
    return lanes[:_MOST_METRICS]


def _metric(evidence: RunEvidence, node: str, name: str) -> Series:
    samples = (sample for sample in evidence.history.samples if sample.node == node)
    return Series(node, node_style(evidence, node), "steps", _changes(samples, name, bucket_ms(evidence)))


def _changes(samples: Iterable[Sample], name: str, width_ms: int) -> list[Point]:
    """Where the value changed; of several changes within one bucket the highest, so that no peak is lost."""
    points: list[Point] = []
    for sample in samples:
        value = sample.values.get(name)
        last = points[-1][1] if points else None
        if value == last:
            continue
        at_ms = ms(sample.at_ns)
        if value is not None and last is not None and len(points) > 1 and at_ms - points[-1][0] < width_ms:
            points[-1] = (points[-1][0], max(last, value))
        else:
            points.append((at_ms, value))
    return points


def _buckets(operations: Operations, outcome: OperationOutcome, width_ms: int) -> Numbers:
    chosen: Numbers = operations.ended_ns[operations.outcome == outcome] // (width_ms * MS)
    return chosen


def _counted(buckets: Numbers) -> list[tuple[int, int]]:
    which, counts = np.unique(buckets, return_counts=True)
    return [(int(bucket), int(count)) for bucket, count in zip(which, counts, strict=True)]
