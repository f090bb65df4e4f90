"""Check of the state of the migration: no controller in ZooKeeper mode reports one."""

from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST, LACKED_BY
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, not_applicable, violates

_METRIC = "ZkMigrationState"


@checker("K866-METRIC-ZkMigrationState-not-from-zk", in_every_run=always, needs=[Capability.METRICS])
def zookeeper_brokers_report_no_migration_state(history: History) -> Verdict:
    """A broker in ZooKeeper mode does not expose ``ZkMigrationState``, active controller or not.

    Judged by samples in which it reports whether it is the active controller, which a broker in KRaft mode does not.
    """
    if history.header.kafka.startswith(LACKED_BY[_METRIC]):
        return not_applicable(f"this release has no {_METRIC}")
    by_role = roles(history)
    asked = [each for each in history.samples if by_role.get(each.node) == "broker" and _is_in_zookeeper_mode(each)]
    reported = [each for each in asked if each.values.get(_METRIC) is not None]
    if reported:
        first_of = {each.node: each for each in reversed(reported)}
        found = [_violation(history, first_of[node]) for node in sorted(first_of)]
        numbers = sorted({each.values[_METRIC] or 0 for each in reported})
        # It misleads a dashboard; no metadata is at stake, which is what SAFETY says.
        return violates(Kind.LIVENESS, found, numbers=numbers)
    if len(asked) < FEWEST:
        return inconclusive(Kind.VACUOUS, "no broker in ZooKeeper mode was asked for its metrics")
    return conforms(f"{counted(len(asked), 'sample')} of brokers in ZooKeeper mode without a {_METRIC}")


def _is_in_zookeeper_mode(sample: Sample) -> bool:
    return sample.values.get("ActiveControllerCount") is not None


def _violation(history: History, sample: Sample) -> Violation:
    observed = f"{sample.node} reported {sample.values[_METRIC]:g}"
    expected = f"a broker in ZooKeeper mode reports no {_METRIC}"
    return timed_violation(history, expected, observed, sample.at_ns, "metrics/metrics.jsonl")
