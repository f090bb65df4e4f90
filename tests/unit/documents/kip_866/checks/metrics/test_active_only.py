"""Check of the metrics that standbys must not report, on what controllers say before and after an election."""

from collections.abc import Sequence

import pytest

from pytest_kmigrate.documents.kip_866.checks.metrics.active_only import only_the_active_controller_reports
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, fault, history, sample

LAG, STATE, BROKERS = "ZkWriteBehindLag", "ZkMigrationState", "MigratingZkBrokerCount"
FORMER, SUCCESSOR = "controller-3000", "controller-3001"
STARTED = [event(EventKind.NODE_STARTED, 0, node, role="controller") for node in (FORMER, SUCCESSOR)]
ELECTION_MS, END_MS = 10_000, 20_000


def controller(
    node: str, active: float | None, from_ms: int, to_ms: int, every_ms: int = 500, **values: float | None
) -> list[Sample]:
    """What one controller reports, again and again."""
    dual_write = {"ZkMigrationState": 1.0, "MigratingZkBrokerCount": 3.0, "ZkWriteBehindLag": 0.0, **values}
    reported = {"ActiveControllerCount": active, **dual_write}
    return [sample(at, node, **reported) for at in range(from_ms, to_ms, every_ms)]


def election(
    *after: Sample, before: Sequence[Sample] = (), more: Sequence[Event] = (), kafka: str = "3.9.1"
) -> History:
    """A controller was active in dual write for 10 s; then its successor is, and the former one reports ``after``."""
    was = before or controller(FORMER, 1, 0, ELECTION_MS)
    samples = [*was, *controller(SUCCESSOR, 1, ELECTION_MS, END_MS), *after]
    return history(events=[*STARTED, *more], samples=samples, kafka=kafka)


def standby(from_ms: int = ELECTION_MS, to_ms: int = END_MS, **values: float | None) -> list[Sample]:
    """What the former controller says once it is no more active."""
    return controller(FORMER, 0, from_ms, to_ms, **values)


SILENT: dict[str, float | None] = {"ZkMigrationState": 0, "MigratingZkBrokerCount": 0, "ZkWriteBehindLag": 0}


@pytest.mark.parametrize("metric", [LAG, STATE, BROKERS])
@pytest.mark.parametrize("value", [None, 0, -1])
def test_a_standby_that_says_nothing_conforms(metric: str, value: float | None) -> None:
    """Conforming: no such MBean, or a value that is no report."""
    verdict = only_the_active_controller_reports.judge(election(*standby(**{metric: value})), metric)
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary == f"20 samples of 1 standby without a {metric} of their own"


@pytest.mark.parametrize(
    ("metric", "value", "reported"),
    [
        (LAG, 14, "14, at last 14"),
        (STATE, 1, "MIGRATION, at last MIGRATION"),
        (BROKERS, 3, "3, at last 3"),
    ],
)
def test_a_standby_that_reports_violates(metric: str, value: float, reported: str) -> None:
    """Violating: reported with the values, and how long it went on; once per controller."""
    again = [*standby(to_ms=14_000, **{metric: value}), *standby(14_000, 16_000, **{metric: 0})]
    run = election(*again, *standby(16_000, **{metric: value}))
    verdict = only_the_active_controller_reports.judge(run, metric)
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 1)
    (found,) = verdict.violations
    assert found.expected == f"a controller that is not active reports no {metric}"
    assert found.observed.startswith(
        f"controller-3000 reported {reported}, in 8 samples in a row (3.5 s), 10.0 s after"
    )
    assert verdict.facts["metric"] == metric


@pytest.mark.parametrize(
    "edge",
    [
        [*standby(10_000, 11_000, ZkWriteBehindLag=9)],
        [*standby(10_000, 10_900, every_ms=100, ZkWriteBehindLag=9)],
        [
            *standby(10_000, 11_000, ZkWriteBehindLag=9),
            *controller(FORMER, None, 11_000, 12_000, ZkWriteBehindLag=None),
        ],
        [*controller(FORMER, 1, 10_000, 11_000, ZkWriteBehindLag=9)],
    ],
    ids=["two samples", "less than a second", "then paused", "active still"],
)
def test_the_edge_of_an_election_is_no_report(edge: list[Sample]) -> None:
    """The values of a sample are read one after the other: one that straddles an election is a pair that never was."""
    verdict = only_the_active_controller_reports.judge(election(*edge, *standby(12_000)), LAG)
    assert verdict.outcome is Outcome.CONFORMS


def test_samples_of_two_lives_of_a_node_are_no_row() -> None:
    """A process that was started again knows nothing of what the former one wrote, and is no witness for it."""
    restarted = event(EventKind.NODE_STARTED, 10_900, FORMER, role="controller")
    around = [*standby(10_000, 10_900, ZkWriteBehindLag=9), *standby(11_000, 11_900, ZkWriteBehindLag=9)]
    verdict = only_the_active_controller_reports.judge(election(*around, *standby(12_000), more=[restarted]), LAG)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


IN_PREPARATION: dict[str, float | None] = {"ZkMigrationState": 2}


@pytest.mark.parametrize(
    "run",
    [
        election(),
        election(*standby(to_ms=11_000)),
        election(*standby(), before=controller(FORMER, 0, 0, ELECTION_MS)),
        election(*standby(), before=controller(FORMER, 1, 0, ELECTION_MS, **IN_PREPARATION)),
        election(*standby(), more=fault(9_000, "isolate(active-controller)")),
        election(*standby(), more=[event(EventKind.NODE_STARTED, 0, FORMER, role="broker")]),
    ],
    ids=["it died", "two samples", "never active", "no dual write", "under a fault", "a broker"],
)
def test_a_lag_that_nobody_could_report_is_inconclusive(run: History) -> None:
    """Vacuous: who wrote nothing to ZooKeeper reports no lag even where former controllers do; nor who is cut off."""
    verdict = only_the_active_controller_reports.judge(run, LAG)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


@pytest.mark.parametrize("metric", [STATE, BROKERS])
def test_a_silent_standby_proves_nothing_while_there_is_nothing_to_tell(metric: str) -> None:
    """Vacuous: the active controller itself has no state, or no broker in migration mode, to report."""
    samples = [*controller(FORMER, 1, 0, END_MS, **SILENT), *controller(SUCCESSOR, 0, 0, END_MS, **SILENT)]
    verdict = only_the_active_controller_reports.judge(history(events=STARTED, samples=samples), metric)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


@pytest.mark.parametrize(("metric", "kafka"), [(LAG, "3.5.2"), (BROKERS, "3.5.2"), (STATE, "3.4.1"), (LAG, "4.0.0")])
def test_a_release_is_not_asked_for_what_it_lacks(metric: str, kafka: str) -> None:
    """Not applicable: the metric is not there yet, or not any more."""
    verdict = only_the_active_controller_reports.judge(election(*standby(**{metric: 1}), kafka=kafka), metric)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
