"""Check that brokers in ZooKeeper mode report no state of a migration."""

import pytest

from pytest_kmigrate.documents.kip_866.checks.metrics.zookeeper_brokers import (
    zookeeper_brokers_report_no_migration_state,
)
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import history, sample
from tests.unit.documents.kip_866.checks.nodes import broker
from tests.unit.documents.kip_866.diagnoses.naming import named


def reported(*states: float | None, active: float | None = 0, kafka: str = "3.9.1") -> History:
    """What one broker reports, twice a second."""
    values = [{"ActiveControllerCount": active, "ZkMigrationState": each} for each in states]
    samples = [sample(500 * at, "broker-1", **each) for at, each in enumerate(values, 1)]
    return history(events=broker(0), samples=samples, kafka=kafka)


def test_a_broker_that_reports_a_state_violates() -> None:
    """Violating: 4 is what Kafka is known for; another number is not excused by it."""
    verdict = zookeeper_brokers_report_no_migration_state.judge(reported(None, 4, 4))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 1)
    assert verdict.violations[0].observed.startswith("broker-1 reported 4 (1.0 s")
    assert named(reported(4), verdict) == ("zookeeper-brokers-report-a-state",)
    other = reported(4, 1, 4)
    assert named(other, zookeeper_brokers_report_no_migration_state.judge(other)) == ()


def test_a_broker_without_the_metric_conforms() -> None:
    """Conforming: it was asked, and reports that it is no active controller, or that it is."""
    for active in (0, 1):
        verdict = zookeeper_brokers_report_no_migration_state.judge(reported(None, None, None, active=active))
        assert verdict.outcome is Outcome.CONFORMS


@pytest.mark.parametrize("stated", [reported(), reported(4, 4, 4, active=None), reported(None, None)])
def test_without_a_broker_in_zookeeper_mode_nothing_is_proved(stated: History) -> None:
    """Vacuous: no sample, it is in KRaft mode, or it was asked too seldom."""
    verdict = zookeeper_brokers_report_no_migration_state.judge(stated)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_a_release_without_the_metric_is_not_judged() -> None:
    """Not applicable: it came later."""
    verdict = zookeeper_brokers_report_no_migration_state.judge(reported(None, None, None, kafka="3.4.1"))
    assert verdict.outcome is Outcome.NOT_APPLICABLE
