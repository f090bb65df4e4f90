"""Checks of standbys in every run: the same claims as those that a test asks for, metric by metric."""

from pytest_kmigrate.documents.kip_866.checks.metrics.standbys import (
    former_controllers_report_no_lag,
    standbys_report_no_migration_metrics,
)
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.documents.kip_866.checks.metrics.test_active_only import election, standby
from tests.unit.documents.kip_866.checks.outcomes import looked_at, outcomes


def test_each_metric_of_the_migration_has_its_own_outcome() -> None:
    """Violating: one is reported by a standby, the other is not."""
    verdict = standbys_report_no_migration_metrics.judge(election(*standby(ZkMigrationState=None)))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert looked_at(verdict) == {
        "METRIC-ZkMigrationState-active-only": "CONFORMS",
        "METRIC-MigratingZkBrokerCount-active-only": "VIOLATES",
    }
    both = standbys_report_no_migration_metrics.judge(election(*standby()))
    assert set(outcomes(both).values()) == {"VIOLATES"}
    assert (both.count, len(both.violations)) == (2, 2)


def test_a_silent_standby_conforms_and_none_is_vacuous() -> None:
    """Conforming, and vacuous: without a standby there is nothing to report."""
    silent = standby(ZkMigrationState=None, MigratingZkBrokerCount=0.0)
    assert set(outcomes(standbys_report_no_migration_metrics.judge(election(*silent))).values()) == {"CONFORMS"}
    assert not looked_at(standbys_report_no_migration_metrics.judge(election()))


def test_a_former_controller_reports_no_lag() -> None:
    """Violating, conforming and vacuous."""
    assert former_controllers_report_no_lag.judge(election(*standby(ZkWriteBehindLag=9.0))).outcome is Outcome.VIOLATES
    assert former_controllers_report_no_lag.judge(election(*standby())).outcome is Outcome.CONFORMS
    assert former_controllers_report_no_lag.judge(election()).outcome is Outcome.INCONCLUSIVE
