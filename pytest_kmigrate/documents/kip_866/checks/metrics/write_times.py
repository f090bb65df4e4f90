"""Check of the times that controllers report for their writes to ZooKeeper: they are there, and none is negative."""

from collections.abc import Sequence

from pytest_kmigrate.catalogue import is_before
from pytest_kmigrate.checkers.controllers.lives import processes
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict

_ROWS = {
    "ZkWriteSnapshotTimeMs": "K866-METRIC-ZkWriteSnapshotTimeMs",
    "ZkWriteDeltaTimeMs": "K866-METRIC-ZkWriteDeltaTimeMs",
}


def _were_asked_for(history: History) -> bool:
    return any(f"{metric}.Count" in each.values for each in history.samples for metric in _ROWS)


@checker(*_ROWS.values(), in_every_run=_were_asked_for, anomaly="time of a write is none", needs=[Capability.METRICS])
def write_times_are_times(history: History) -> Verdict:
    """A controller in dual write exposes how long it wrote snapshots and changes, and no time is below zero.

    Judged of the histograms ``ZkWriteSnapshotTimeMs`` and ``ZkWriteDeltaTimeMs`` of each controller that counted any.
    """
    rows = ByRequirement("write_times_are_times", *_ROWS.values())
    for metric, row in _ROWS.items():
        if is_before(history.header.kafka, "3.6.0") or history.header.kafka.startswith("4."):
            rows.not_applicable(row, f"this release has no {metric}")
            continue
        for samples in processes(history, "controller"):
            _judge(history, rows, row, metric, samples)
    text = "controllers in dual write report how long their writes took"
    return rows.verdict(text, "no controller in dual write was asked for the times of its writes")


def _judge(history: History, rows: ByRequirement, row: str, metric: str, samples: Sequence[Sample]) -> None:
    asked = [
        each for each in samples if f"{metric}.Count" in each.values and each.values.get("ZkWriteBehindLag") is not None
    ]
    in_charge = [each for each in asked if each.values.get("ActiveControllerCount") == 1]
    if len(in_charge) >= FEWEST and all(each.values[f"{metric}.Count"] is None for each in in_charge):
        _violate(history, rows, row, in_charge[0], f"{metric} is exposed", f"{in_charge[0].node} exposes none")
        return
    counting = [each for each in asked if (each.values[f"{metric}.Count"] or 0) > 0]
    if not counting:
        return
    rows.looked_at(row)
    for sample in counting:
        low = sample.values.get(f"{metric}.Min")
        if low is not None and low < 0:
            observed = f"{sample.node} reports {metric}.Min {low:g}"
            _violate(history, rows, row, sample, f"{metric} is a time", observed)
            return


def _violate(history: History, rows: ByRequirement, row: str, sample: Sample, expected: str, observed: str) -> None:
    # It misleads an operator; no metadata is at stake, which is what SAFETY says.
    rows.violated(
        row, timed_violation(history, expected, observed, sample.at_ns, "metrics/metrics.jsonl"), Kind.LIVENESS
    )
