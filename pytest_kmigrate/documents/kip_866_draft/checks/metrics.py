"""Check of the metrics that only the draft has: active controllers expose them, and they hold what their names say."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.lives import processes
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during, phase_at
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.metrics.distance import judge_distance
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.documents.kip_866_draft.checks.eligible import ineligible_brokers, ineligible_controllers
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict

_BROKERS = "K866D-METRIC-MigrationIneligibleBrokerCount"
_CONTROLLERS = "K866D-METRIC-MigrationIneligibleControllerCount"
_BROKERS_ZERO, _CONTROLLERS_ZERO = f"{_BROKERS}-zero", f"{_CONTROLLERS}-zero"
_LAG, _BLOCKING = "K866D-METRIC-ZooKeeperWriteBehindLag", "K866D-METRIC-ZooKeeperBlockingKRaftMillis"
_OUTSIDE = {Phase.HYBRID.name, Phase.ALL_KRAFT.name, Phase.FINALIZED.name}
METRICS = tuple(each.rpartition("-")[2] for each in (_BROKERS, _CONTROLLERS, _LAG, _BLOCKING))
"""Those that only the draft has, by their names in the catalogue of metrics."""
_NEAR_NS = 5_000_000_000
"""By then a change of who is eligible is counted."""


def _metric(row: str) -> str:
    return row.rpartition("-")[2]


def _were_asked_for(history: History) -> bool:
    return any(_metric(_BROKERS) in each.values for each in history.samples)


@checker(
    *(_BROKERS, _BROKERS_ZERO, _CONTROLLERS, _CONTROLLERS_ZERO, _LAG, _BLOCKING),
    in_every_run=_were_asked_for,
    anomaly="metric of the draft absent",
    needs=[Capability.METRICS],
)
def metrics_of_the_draft(history: History) -> Verdict:
    """Active controllers expose how many brokers and controllers are not eligible, the lag, and the time of blocking.

    Before the copy the counts are of the nodes without the flag or away, afterwards 0; the lag is the distance from the
    last record to ``/migration``; the time grows under a fault only. What does not exist cannot be zero.
    """
    rows = ByRequirement(*metrics_of_the_draft.requirements)
    active = [_of_active(each) for each in processes(history, "controller")]
    active = [each for each in active if len(each) >= FEWEST]
    for row in (_BROKERS, _CONTROLLERS, _LAG, _BLOCKING):
        _judge_existence(history, rows, row, active)
    for samples in active:
        _judge_count(history, rows, _BROKERS, samples, ineligible_brokers)
        _judge_count(history, rows, _CONTROLLERS, samples, ineligible_controllers)
        _judge_growth(history, rows, samples)
    judge_distance(history, rows, _LAG, _metric(_LAG))
    return rows.verdict("the metrics exist, and hold what they are named for", "no controller was active long enough")


def _of_active(samples: Sequence[Sample]) -> list[Sample]:
    asked = (each for each in samples if _metric(_BROKERS) in each.values)
    return [each for each in asked if each.values.get("ActiveControllerCount") == 1]


def _judge_existence(history: History, rows: ByRequirement, row: str, active: Sequence[Sequence[Sample]]) -> None:
    metric = _metric(row)
    without = [each for each in active if all(sample.values.get(metric) is None for sample in each)]
    if not without:
        return
    first = without[0][0]
    observed = (
        f"{len(without)} of {counted(len(active), 'process', 'processes')} expose none; the first is {first.node}"
    )
    violation = timed_violation(
        history, f"active controllers expose {metric}", observed, first.at_ns, "metrics/metrics.jsonl"
    )
    rows.violated(row, violation, Kind.LIVENESS)
    if row in (_BROKERS, _CONTROLLERS) and len(without) == len(active):
        rows.not_applicable(f"{row}-zero", f"no controller has a {metric}, see {row}")


def _judge_count(
    history: History, rows: ByRequirement, row: str, samples: Sequence[Sample], due_at: Callable[[History, int], int]
) -> None:
    """Three samples in a row that differ from what was due all the time around them prove it."""
    wrong = dict.fromkeys((row, f"{row}-zero"), 0)
    for sample in samples:
        number = sample.values.get(_metric(row))
        phase = phase_at(history, sample.at_ns)
        judged = row if phase == Phase.PREPARING.name else f"{row}-zero" if phase in _OUTSIDE else None
        if number is None or judged is None or phase_at(history, max(0, sample.at_ns - _NEAR_NS)) != phase:
            continue
        due = {due_at(history, at_ns) for at_ns in (sample.at_ns - _NEAR_NS, sample.at_ns)} if judged == row else {0}
        rows.looked_at(judged)
        wrong[judged] = 0 if number in due else wrong[judged] + 1
        if wrong[judged] == FEWEST:
            observed = f"{sample.node} reports {number:g} in {phase}"
            expected = f"{_metric(row)} is {' or '.join(map(str, sorted(due)))}"
            violation = timed_violation(history, expected, observed, sample.at_ns, "metrics/metrics.jsonl")
            rows.violated(judged, violation, Kind.LIVENESS)


def _judge_growth(history: History, rows: ByRequirement, samples: Sequence[Sample]) -> None:
    metric = _metric(_BLOCKING)
    reported = [(each, value) for each in samples if (value := each.values.get(metric)) is not None]
    for (before, former), (after, latter) in pairwise(reported):
        rows.looked_at(_BLOCKING)
        if latter > former and not faults_during(history, before.at_ns - _NEAR_NS, after.at_ns):
            observed = f"it grew by {latter - former:g} on {after.node} under no fault"
            expected = f"{metric} grows only while writes wait for ZooKeeper"
            violation = timed_violation(history, expected, observed, after.at_ns, "metrics/metrics.jsonl")
            rows.violated(_BLOCKING, violation, Kind.LIVENESS)
            return
