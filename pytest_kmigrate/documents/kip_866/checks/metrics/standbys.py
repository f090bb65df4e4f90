"""Checks of what standby controllers report, in every run: nothing of the migration, and no lag."""

from dataclasses import replace

from pytest_kmigrate.documents.kip_866.checks.metrics.active_only import reported_by_standbys
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import MOST_VIOLATIONS, Outcome, Verdict

_STATE, _COUNT, _LAG = "ZkMigrationState", "MigratingZkBrokerCount", "ZkWriteBehindLag"


@checker(
    f"K866-METRIC-{_STATE}-active-only",
    f"K866-METRIC-{_COUNT}-active-only",
    in_every_run=always,
    needs=[Capability.METRICS],
)
def standbys_report_no_migration_metrics(history: History) -> Verdict:
    """A controller that is not active reports neither the state of the migration nor the brokers in migration mode."""
    judged = {metric: reported_by_standbys(history, metric) for metric in (_STATE, _COUNT)}
    worst = max(judged.values(), key=lambda verdict: verdict.outcome)
    violations = [each for verdict in judged.values() for each in verdict.violations]
    about = [
        each
        for metric, verdict in judged.items()
        for each in verdict.speaking_for(f"K866-METRIC-{metric}-active-only").about
    ]
    if worst.outcome is Outcome.VIOLATES:
        reported = [metric for metric, verdict in judged.items() if verdict.outcome is Outcome.VIOLATES]
        kept = tuple(violations[:MOST_VIOLATIONS])
        facts: dict[str, object] = {"metrics": reported}
        every = tuple(each for verdict in judged.values() for each in verdict.every)
        worst = replace(worst, violations=kept, every=every, count=len(every), facts=facts)
    return worst.about_each(about)


@checker(f"K866-METRIC-{_LAG}-active-only", in_every_run=always, needs=[Capability.METRICS])
def former_controllers_report_no_lag(history: History) -> Verdict:
    """A controller that was active in dual write, and is not any more, reports no distance to ZooKeeper."""
    return reported_by_standbys(history, _LAG)
