"""Check of the times that controllers report for their writes to ZooKeeper: they are as long as the writes took."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pytest_kmigrate.catalogue import is_before
from pytest_kmigrate.checkers.controllers.lives import processes
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import span
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import (
    claims,
    data_of,
    dual_writes,
    lacks_its_znode,
    position_set,
)
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History, Sample, Transaction
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.verdict import Kind, Verdict

_DELTA = "ZkWriteDeltaTimeMs"
_SHORTEST_NS = 20_000_000
"""A change that took less, by ZooKeeper's clock of milliseconds, may have been reported as 0 and more."""
_GAP_NS = 1_000_000_000
"""What a controller writes of one change comes closer together, also if ZooKeeper is far away."""
_ROWS = {
    "ZkWriteSnapshotTimeMs": "K866-METRIC-ZkWriteSnapshotTimeMs",
    _DELTA: "K866-METRIC-ZkWriteDeltaTimeMs",
}


def _were_asked_for(history: History) -> bool:
    return any(f"{metric}.Count" in each.values for each in history.samples for metric in _ROWS)


@checker(*_ROWS.values(), in_every_run=_were_asked_for, anomaly="time of a write is none", needs=[Capability.METRICS])
def write_times_are_times(history: History) -> Verdict:
    """A controller in dual write exposes how long it wrote snapshots and changes, and the times are those of writes.

    Judged of the histograms ``ZkWriteSnapshotTimeMs`` and ``ZkWriteDeltaTimeMs`` of each controller that counted any:
    no time is below zero, and the longest for changes is at least half as long as ZooKeeper logged one change to take,
    from its first transaction to its last. Changes that took less than 20 ms there show nothing of that, nor do those
    of which ZooKeeper refused a part for want of a znode: no controller counts their time.
    """
    rows = ByRequirement(*_ROWS.values())
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
    took_ns = _longest_delta_ns(history, asked)
    if metric != _DELTA or took_ns >= _SHORTEST_NS:
        rows.looked_at(row)
    for sample in counting:
        low = sample.values.get(f"{metric}.Min")
        if low is not None and low < 0:
            observed = f"{sample.node} reports {metric}.Min {low:g}"
            _violate(history, rows, row, sample, f"{metric} is a time", observed)
            return
    high = counting[-1].values.get(f"{metric}.Max")
    if metric == _DELTA and took_ns >= _SHORTEST_NS and high is not None and high * 1e6 < took_ns / 2:
        expected = f"the longest {metric} is {took_ns / 2e6:.0f} ms at least"
        observed = f"{counting[-1].node} reports {metric}.Max {high:g}; ZooKeeper logged a change of {span(took_ns)}"
        _violate(history, rows, row, counting[-1], expected, observed)


def _longest_delta_ns(history: History, asked: Sequence[Sample]) -> int:
    """The longest time that a controller wrote one change, which it counted as one and not as a snapshot."""
    spans = [(began, ended) for began, ended, writer in _deltas(history) if writer == asked[0].node]
    return max((ended - began for began, ended in spans if _is_counted(asked, began, ended)), default=0)


def _is_counted(asked: Sequence[Sample], began_ns: int, ended_ns: int) -> bool:
    """Whether one process reported a change more after this time than before it, and no snapshot more."""
    before = next((each for each in reversed(asked) if each.at_ns <= began_ns), None)
    after = next((each for each in asked if each.at_ns >= ended_ns), None)
    if before is None or after is None:
        return False
    more = {metric: _count(after, metric) - _count(before, metric) for metric in _ROWS}
    return more[_DELTA] > 0 and not any(count for metric, count in more.items() if metric != _DELTA)


def _count(sample: Sample, metric: str) -> float:
    return sample.values.get(f"{metric}.Count") or 0


@kept
def _deltas(history: History) -> list[tuple[int, int, str]]:
    """The first transaction of each change, its last one with data, and the controller.

    The write that raises the offset ends a change. What came before a claim, or in another session, is no part of it.
    """
    return list(_delta_by_delta(history))


def _delta_by_delta(history: History) -> Iterator[tuple[int, int, str]]:
    by_session = {
        each.transaction.session: f"controller-{each.controller}" for each in claims(history) if each.is_kraft
    }
    refused = [each for each in history.transactions if lacks_its_znode(each)]
    offset, session, since = -1, -1, -1
    of_change: list[Transaction] = []
    for each in dual_writes(history):
        if each.session != session:
            session, of_change = each.session, []
        if data_of(each):
            of_change.append(each)
        position = position_set(each)
        if position is not None and position > offset:
            # A change that was interrupted or refused may have been given up: then two would look like one.
            is_taken = not any(other.session == session and since < other.zxid < each.zxid for other in refused)
            is_whole = is_taken and all(now.at_ns - then.at_ns <= _GAP_NS for then, now in pairwise(of_change))
            if len(of_change) > 1 and is_whole and session in by_session:
                yield of_change[0].at_ns, of_change[-1].at_ns, by_session[session]
            offset, since, of_change = position, each.zxid, []


def _violate(history: History, rows: ByRequirement, row: str, sample: Sample, expected: str, observed: str) -> None:
    # It misleads an operator; no metadata is at stake, which is what SAFETY says.
    rows.violated(
        row, timed_violation(history, expected, observed, sample.at_ns, "metrics/metrics.jsonl"), Kind.LIVENESS
    )
