"""Check of the migration metrics once there is no migration any more: they end, or say nothing that misleads."""

from collections import Counter
from collections.abc import Iterator

from pytest_kmigrate.checkers.controllers.lives import processes
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates

_OVER_NS = 5_000_000_000
"""By then a controller that was restarted has read the log."""
_METRICS = ("MigratingZkBrokerCount", "ZkWriteBehindLag")


@checker("K866-METRIC-lifetime", in_every_run=always, needs=[Capability.METRICS])
def migration_metrics_end_with_the_migration(history: History) -> Verdict:
    """A controller that was started after finalization reports no broker in migration mode and no lag: 0, or nothing.

    Brokers that still run in ZooKeeper mode would be counted rightly; while there are any, nothing is judged.
    """
    looked_at = list(_after_finalization(history))
    reported = [(each, metric) for each in looked_at for metric in _METRICS if (each.values.get(metric) or 0) > 0]
    first_of = {(each.node, metric): each for each, metric in reversed(reported)}
    standing = {key: each for key, each in first_of.items() if _count(reported, key) >= FEWEST}
    if standing:
        # It misleads an operator; no metadata is at stake, which is what SAFETY says.
        found = [_violation(history, each, metric) for (_, metric), each in sorted(standing.items())]
        return violates(Kind.LIVENESS, found)
    if max(Counter(each.node for each in looked_at).values(), default=0) < FEWEST:
        text = f"no controller was looked at {FEWEST} times that was started after finalization"
        return inconclusive(Kind.VACUOUS, text)
    return conforms(f"{counted(len(looked_at), 'sample')} after finalization, none with a value of the migration")


def _after_finalization(history: History) -> Iterator[Sample]:
    """The samples of processes that began as finalization did: they know of no migration but from the log."""
    finalized = [each.at_ns for each in history.states(PHASE) if each.what.state == Phase.FINALIZED.name]
    if not finalized:
        return
    over_ns = finalized[-1] + _OVER_NS
    started = history.of(NodeStarted)
    for samples in processes(history, "controller"):
        began = [e.at_ns for e in started if e.node == samples[0].node and e.at_ns <= samples[0].at_ns]
        is_new = bool(began) and began[-1] > _last_ns(history, Phase.ALL_KRAFT, finalized[-1])
        for sample in samples if is_new else ():
            if sample.at_ns >= over_ns and not _has_zookeeper_brokers(history, sample):
                yield sample


def _last_ns(history: History, phase: Phase, before_ns: int) -> int:
    edges = (each for each in history.states(PHASE) if each.at_ns < before_ns)
    return max((each.at_ns for each in edges if each.what.state == phase.name), default=before_ns)


def _has_zookeeper_brokers(history: History, sample: Sample) -> bool:
    return any(each.mode == "zookeeper" for each in brokers_at(history, sample.at_ns))


def _count(reported: list[tuple[Sample, str]], key: tuple[str, str]) -> int:
    return sum((each.node, metric) == key for each, metric in reported)


def _violation(history: History, sample: Sample, metric: str) -> Violation:
    observed = f"{sample.node} reported {sample.values[metric]:g}"
    return timed_violation(
        history, f"{metric} is 0 or absent after finalization", observed, sample.at_ns, "metrics/metrics.jsonl"
    )
