"""Check of the migration metrics after finalization."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.metrics.lifetime import migration_metrics_end_with_the_migration
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import history, phase, sample
from tests.unit.documents.kip_866.checks.nodes import broker, controller


def finalized(*events: Event, restarted_ms: int = 10_000, until_ms: int = 20_000, **values: float | None) -> History:
    """Finalized after 11 s, by a controller that was restarted; it reports these from then on."""
    edges = [phase(5_000, "ALL_KRAFT"), phase(11_000, "FINALIZED")]
    nodes = [controller(), *broker(1_000, mode="kraft"), controller(restarted_ms), *events]
    samples = [sample(at, "controller-3000", **values) for at in range(12_000, until_ms, 1_000)]
    return history(events=[*edges, *nodes], samples=samples)


def each_twice() -> History:
    """Two controllers were restarted, and looked at twice each."""
    run = finalized(controller(10_000, 3001), until_ms=18_000)
    others = [sample(at, "controller-3001") for at in (16_500, 17_500)]
    return replace(run, samples=(*run.samples, *others))


@pytest.mark.parametrize("values", [{"MigratingZkBrokerCount": 3.0}, {"ZkWriteBehindLag": 7.0}])
def test_a_value_that_outlives_the_migration_violates(values: dict[str, float]) -> None:
    """Violating: there are no such brokers, and nothing is written."""
    verdict = migration_metrics_end_with_the_migration.judge(finalized(**values))
    assert verdict.outcome is Outcome.VIOLATES
    assert "is 0 or absent after finalization" in verdict.violations[0].expected


@pytest.mark.parametrize("values", [{"MigratingZkBrokerCount": 0.0, "ZkWriteBehindLag": None}, {}])
def test_nothing_or_zero_conforms(values: dict[str, float | None]) -> None:
    """Conforming: both are harmless."""
    assert migration_metrics_end_with_the_migration.judge(finalized(**values)).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    "reported",
    [
        finalized(until_ms=17_000, MigratingZkBrokerCount=3.0),
        finalized(restarted_ms=2_000, MigratingZkBrokerCount=3.0),
        finalized(*broker(3_000, 2), MigratingZkBrokerCount=3.0),
        history(events=[controller()]),
        each_twice(),
    ],
    ids=["too early", "not restarted", "brokers in ZooKeeper mode", "not finalized", "each looked at twice"],
)
def test_without_a_controller_of_after_the_migration_nothing_is_proved(reported: History) -> None:
    """Vacuous: what it reports may still be true."""
    assert migration_metrics_end_with_the_migration.judge(reported).outcome is Outcome.INCONCLUSIVE
