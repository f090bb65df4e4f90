"""Check of the metrics that only the active controller may report: of a standby they are absent, or say nothing."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.lives import processes
from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import faults_during, when
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST, LACKED_BY, told_by
from pytest_kmigrate.documents.kip_866.phases import ZkMigrationState
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, not_applicable, violates

_LAG = "ZkWriteBehindLag"
_STANDS_NS = 1_000_000_000
"""A sample's values are not read at one moment: one pair may be of before and after an election, a row is not."""


@dataclass(frozen=True)
class _Row:
    """Samples in a row of one process that was not the active controller, each with a value or each without."""

    samples: Sequence[Sample]
    is_telling: bool
    was_active: bool
    """Whether that process had been the active controller in dual write."""

    @property
    def stands(self) -> bool:
        """Whether it is more than the edge of an election."""
        return len(self.samples) >= FEWEST and self.samples[-1].at_ns - self.samples[0].at_ns >= _STANDS_NS


@checker(*(f"K866-METRIC-{metric}-active-only" for metric in LACKED_BY), needs=[Capability.METRICS])
def only_the_active_controller_reports(history: History, metric: str) -> Verdict:
    """A controller that is not active does not expose the metric, or with the value 0 or less, which says nothing.

    Judged by samples in a row in which it says that it is not active. That the metric holds its peace is shown by
    a standby while the active controller has something to report; of ``ZkWriteBehindLag``, which counts from what a
    controller wrote to ZooKeeper itself, by one that was active in dual write before, and with no fault in force.
    Source: K866-METRIC-ZkMigrationState-active-only, K866-METRIC-MigratingZkBrokerCount-active-only,
    K866-METRIC-ZkWriteBehindLag-active-only.
    """
    verdict = reported_by_standbys(history, metric)
    return verdict.speaking_for(f"K866-METRIC-{metric}-active-only")


def reported_by_standbys(history: History, metric: str) -> Verdict:
    """Judge one metric, a key of ``LACKED_BY``."""
    if history.header.kafka.startswith(LACKED_BY[metric]):
        return not_applicable(f"this release has no {metric}")
    rows = [row for row in _rows(history, metric) if row.stands]
    telling = [row for row in rows if row.is_telling]
    if telling:
        first_of = {row.samples[0].node: row for row in reversed(telling)}
        found = [_reported(history, metric, row) for row in first_of.values()]
        # It misleads a dashboard; no record and no metadata is at stake, which is what SAFETY says.
        return violates(Kind.LIVENESS, found, metric=metric)
    silent = list(_silent(history, metric, [row for row in rows if not row.is_telling]))
    if len(silent) < FEWEST:
        who = "that had been active in dual write was" if metric == _LAG else "was"
        return inconclusive(Kind.VACUOUS, f"no standby {who} looked at while there was a {metric} to report")
    nodes = {sample.node for sample in silent}
    told_of = f"{counted(len(silent), 'sample')} of {counted(len(nodes), 'standby', 'standbys')}"
    return conforms(f"{told_of} without a {metric} of their own", samples=len(silent))


def _rows(history: History, metric: str) -> Iterator[_Row]:
    for samples in processes(history, "controller"):
        was_active = False
        kinds = itertools.groupby(samples, lambda each: (each.values.get("ActiveControllerCount"), _says(each, metric)))
        for (active, is_telling), group in kinds:
            row = list(group)
            if active == 0:
                yield _Row(row, is_telling, was_active)
            elif active == 1:
                was_active |= any(_in_dual_write(history, each) for each in row)


def _says(sample: Sample, metric: str) -> bool:
    return (sample.values.get(metric) or 0) > 0


def _in_dual_write(history: History, sample: Sample) -> bool:
    return told_by(history, sample, "ZkMigrationState") == ZkMigrationState.MIGRATION.value


def _silent(history: History, metric: str, rows: Sequence[_Row]) -> Iterator[Sample]:
    """The samples without the metric that show that it is kept quiet, because there was something to report."""
    if metric == _LAG:
        of_former = (sample for row in rows if row.was_active for sample in row.samples)
        yield from (each for each in of_former if not faults_during(history, each.at_ns, each.at_ns))
        return
    every = itertools.chain.from_iterable(processes(history, "controller"))
    told_ns = [each.at_ns for each in every if each.values.get("ActiveControllerCount") == 1 and _says(each, metric)]
    first_ns, last_ns = min(told_ns, default=0), max(told_ns, default=-1)
    yield from (each for row in rows for each in row.samples if first_ns <= each.at_ns <= last_ns)


def _reported(history: History, metric: str, row: _Row) -> Violation:
    first, last = row.samples[0], row.samples[-1]
    values = f"{told_by(history, first, metric)}, at last {told_by(history, last, metric)}"
    observed = (
        f"{first.node} reported {values}, in {len(row.samples)} samples in a row ({span(last.at_ns - first.at_ns)}), "
        f"{when(history, first.at_ns)}"
    )
    expected = f"a controller that is not active reports no {metric}"
    return violation_at(history, expected, observed, first.at_ns, "metrics/metrics.jsonl")
