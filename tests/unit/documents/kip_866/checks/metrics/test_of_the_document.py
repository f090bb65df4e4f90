"""Check that the metrics of KIP-866 that distinguish the modes exist."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.metrics.of_the_document import metrics_of_the_document as check
from pytest_kmigrate.model.history import History, Sample
from tests.unit.checkers.histories import history, sample
from tests.unit.documents.kip_866.checks.nodes import broker, controller
from tests.unit.documents.kip_866.checks.outcomes import looked_at, outcomes
from tests.unit.documents.kip_866.diagnoses.naming import named

BROKER, CONTROLLER = "METRIC-BrokerMetadataType", "METRIC-ControllerMetadataType"
ACTIVE_ONLY, FEATURES = "METRIC-ControllerMetadataType-active-only", "METRIC-Features"
NODES = [*broker(0), controller(0), controller(0, 3001)]


def reported(node: str, active: float | None = None, **values: float | None) -> list[Sample]:
    """A node answers three times."""
    return [
        sample(at, node, ActiveControllerCount=active, RaftCurrentEpoch=1, **values) for at in (1_000, 2_000, 3_000)
    ]


def of_broker(value: float | None) -> list[Sample]:
    """What a broker in ZooKeeper mode reports."""
    return reported("broker-1", 0, BrokerMetadataType=value)


def of_active(metadata_type: float | None, features: float | None) -> list[Sample]:
    """What an active controller reports."""
    return reported("controller-3000", 1, ControllerMetadataType=metadata_type, ControllerFeatures=features)


def run(*samples: list[Sample]) -> History:
    """A run in which these were taken."""
    return history(events=NODES, samples=[each for of_one in samples for each in of_one])


def test_metrics_that_exist_and_hold_what_they_should_conform() -> None:
    """Conforming: a standby reports none."""
    standby = reported("controller-3001", 0, ControllerMetadataType=None)
    verdict = check.judge(run(of_broker(1), of_active(3, 2), standby))
    assert set(looked_at(verdict)) == {BROKER, CONTROLLER, ACTIVE_ONLY, FEATURES}
    assert set(looked_at(verdict).values()) == {"CONFORMS"}


def test_a_standby_that_was_looked_at_twice_proves_nothing() -> None:
    """Vacuous for that row."""
    twice = reported("controller-3001", 0, ControllerMetadataType=None)[:2]
    assert ACTIVE_ONLY not in looked_at(check.judge(run(of_broker(1), of_active(3, 2), twice)))


def test_metrics_that_are_absent_violate_as_known_deviations() -> None:
    """Violating: they were asked for; what a standby reports then is no question."""
    absent = run(of_broker(None), of_active(None, None))
    verdict = check.judge(absent)
    assert outcomes(verdict) == {
        BROKER: "VIOLATES",
        CONTROLLER: "VIOLATES",
        ACTIVE_ONLY: "NOT_APPLICABLE",
        FEATURES: "VIOLATES",
    }
    assert verdict.violations[0].observed.startswith("1 of 1 process expose none in 3 samples; the first is broker-1 (")
    assert named(absent, verdict) == (
        "no-metadata-type-of-brokers",
        "no-metadata-type-of-controllers",
        "no-metrics-of-features",
    )


def test_releases_that_cannot_migrate_are_not_asked() -> None:
    """Kafka 4 has nothing of the document, and a run of it is not judged by it."""
    absent = run(of_broker(None), of_active(None, None))
    assert check.in_every_run is not None
    assert check.in_every_run(absent)
    assert not check.in_every_run(replace(absent, header=replace(absent.header, kafka="4.1.0")))


def test_a_metric_that_some_nodes_lack_is_no_known_deviation() -> None:
    """All processes have to lack it."""
    some = run(of_broker(1), reported("broker-2", 0, BrokerMetadataType=None))
    some = history(events=[*NODES, *broker(0, 2)], samples=some.samples)
    assert named(some, check.judge(some)) == ()


@pytest.mark.parametrize(
    ("samples", "row", "observed"),
    [
        (of_broker(2), BROKER, "broker-1 reports 2 in zookeeper mode"),
        (of_active(4, 1), CONTROLLER, "controller-3000 reports 4"),
        (reported("controller-3001", 0, ControllerMetadataType=2), ACTIVE_ONLY, "controller-3001 reports 2"),
    ],
)
def test_a_wrong_value_violates(samples: list[Sample], row: str, observed: str) -> None:
    """Violating: a type that is not the mode's, that does not exist, or of a standby."""
    verdict = check.judge(run(samples))
    assert outcomes(verdict)[row] == "VIOLATES"
    assert verdict.violations[0].observed.startswith(observed)


@pytest.mark.parametrize(
    "samples",
    [
        reported("broker-1", 0),
        [sample(at, "broker-1", ActiveControllerCount=None, BrokerMetadataType=None) for at in (1_000, 2_000, 3_000)],
        of_broker(None)[:2],
        reported("controller-3001", None, ControllerFeatures=None),
        [],
    ],
    ids=["not asked", "no answer", "too few", "not active", "nothing"],
)
def test_what_was_not_asked_is_not_absent(samples: list[Sample]) -> None:
    """Vacuous: not asked, the node did not answer, or too seldom."""
    assert not looked_at(check.judge(run(samples)))
