"""Departures that are named by metrics, or by one value of a check and no other."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.metrics.active_only import only_the_active_controller_reports
from pytest_kmigrate.documents.kip_866.checks.metrics.state_numbers import migration_state_has_its_documented_number
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, violates
from tests.unit.checkers.histories import MS, event, history, sample
from tests.unit.documents.kip_866.diagnoses.naming import CONTROLLERS, named, started

ACTIVE, STANDBY = CONTROLLERS[:2]
LAG, STATE, COUNT = "ZkWriteBehindLag", "ZkMigrationState", "MigratingZkBrokerCount"
Value = Callable[[int], float]
"""What a metric is, by the number of the sample."""


def reported(metric: str, active: Value, standby: Value, kafka: str = "3.9.1") -> History:
    """What two controllers report of a metric for 10 s; one record is written with each sample."""
    samples = [each for at in range(20) for each in _both(at, metric, active(at), standby(at))]
    return history(events=started(*CONTROLLERS), samples=samples, kafka=kafka)


def _both(at: int, metric: str, active: float, standby: float) -> list[Sample]:
    of_active = sample(at * 500, ACTIVE, **{"ActiveControllerCount": 1, "RaftHighWatermark": 100 + at, metric: active})
    of_standby = sample(
        at * 500 + 90, STANDBY, **{"ActiveControllerCount": 0, "RaftHighWatermark": 100 + at, metric: standby}
    )
    return [of_active, of_standby]


@pytest.mark.parametrize(
    ("metric", "active", "standby", "bugs"),
    [
        (STATE, lambda at: 2 - at // 10, lambda at: 2 - at // 11, ("metrics-of-the-image",)),
        (COUNT, lambda at: 1 + at // 7, lambda at: 1 + at // 8, ("metrics-of-the-image",)),
        (STATE, lambda _: 1, lambda _: 2, ()),
        (COUNT, lambda _: 3, lambda _: 1, ()),
        (COUNT, lambda _: 3, lambda at: 3 if at < 15 else 2, ()),
    ],
    ids=["states", "counts", "another state", "another count", "another count at last"],
)
def test_standbys_that_show_the_same_image_are_named(
    metric: str, active: Value, standby: Value, bugs: tuple[str, ...]
) -> None:
    """One that reports a value of its own, a former one, say, is another defect."""
    run = reported(metric, active, standby)
    assert named(run, only_the_active_controller_reports.judge(run, metric)) == bugs


def test_a_standby_that_is_ahead_of_a_controller_that_died_is_named() -> None:
    """The state changed as the active controller died: standbys report what the next one does, 4 s later."""
    dead = [each for at in range(8) for each in _both(at, STATE, 2, 2)]
    between = [each for at in range(8, 16) for each in _both(at, STATE, 0, 1)[1:]]
    after = [each for at in range(16, 24) for each in _both(at, STATE, 1, 1)]
    run = history(events=started(*CONTROLLERS), samples=[*dead, *between, *after], kafka="3.9.1")
    assert named(run, only_the_active_controller_reports.judge(run, STATE)) == ("metrics-of-the-image",)


@pytest.mark.parametrize(("behind", "bugs"), [(1, ("metrics-of-the-image",)), (5, ("metrics-of-the-image",)), (9, ())])
def test_a_standby_that_was_paused_reports_what_it_did_before(behind: int, bugs: tuple[str, ...]) -> None:
    """Meanwhile the count has grown. At once, after a short pause only, or 4 s after it, it would be another defect."""
    before = [each for at in range(8) for each in _both(at, COUNT, 3, 2)[at < 7 :]]
    alone = [each for at in range(8, 30) for each in _both(at, COUNT, 3, 0)[:1]]
    after = [each for at in range(30, 50) for each in _both(at, COUNT, 3, 2 if at < 30 + behind else 3)]
    leading = [_both(at, COUNT, 2, 2)[0] for at in range(7)]
    run = history(events=started(*CONTROLLERS), samples=[*leading, *before, *alone, *after], kafka="3.9.1")
    assert named(run, only_the_active_controller_reports.judge(run, COUNT)) == bugs


@pytest.mark.parametrize(
    ("shown", "watermark", "bugs"),
    [
        (2, -1.0, ("metrics-of-the-image",)),
        (2, 107.0, ("metrics-of-the-image",)),
        (1, -1.0, ()),
        (2, 140.0, ()),
        (2, None, ("metrics-of-the-image",)),
    ],
    ids=["not known", "as it was", "another value", "of a later log", "not read"],
)
def test_a_standby_that_is_cut_off_reports_the_log_that_it_has(
    shown: float, watermark: float | None, bugs: tuple[str, ...]
) -> None:
    """For 20 s: what the active one reported at the last high watermark that the standby knew, and nothing else."""
    together = [each for at in range(8) for each in _both(at, COUNT, 2, 2)]
    alone = [_both(at, COUNT, 3, shown) for at in range(20, 60)]
    cut_off = {"ActiveControllerCount": 0, "RaftHighWatermark": watermark, COUNT: shown}
    apart = [each for one, other in alone for each in (one, replace(other, values=cut_off))]
    run = history(events=started(*CONTROLLERS), samples=[*together, *apart], kafka="3.9.1")
    assert named(run, only_the_active_controller_reports.judge(run, COUNT)) == bugs


@pytest.mark.parametrize(("samples", "bugs"), [(1, ("metrics-of-the-image",)), (2, ())], ids=["once", "again"])
def test_a_standby_that_comes_back_knows_the_log_before_it_shows_it(samples: int, bugs: tuple[str, ...]) -> None:
    """In the sample in which its high watermark has grown, and not in the one after it."""
    together = [each for at in range(8) for each in _both(at, COUNT, 2, 2)]
    alone = [_both(at, COUNT, 3, 2) for at in range(20, 60)]
    known = [107.0] * (40 - samples) + [159.0] * samples
    apart = [
        each
        for (one, other), watermark in zip(alone, known, strict=True)
        for each in (one, replace(other, values={**other.values, "RaftHighWatermark": watermark}))
    ]
    run = history(events=started(*CONTROLLERS), samples=[*together, *apart], kafka="3.9.1")
    assert named(run, only_the_active_controller_reports.judge(run, COUNT)) == bugs


@pytest.mark.parametrize("watermark", [150.0, None], ids=["at once", "never"])
def test_a_process_without_a_former_log_does_not_report_what_was_at_first(watermark: float | None) -> None:
    """What the active controller reported by an empty log is none that a standby without a known log may show."""
    at_first = [replace(each, values={**each.values, "RaftHighWatermark": 2}) for each in _both(0, COUNT, 2, 2)]
    later = [each for at in range(1, 60) for each in _both(at, COUNT, 3, 3)]
    shown = {"ActiveControllerCount": 0, "RaftHighWatermark": watermark, COUNT: 2}
    again = event(EventKind.NODE_STARTED, 14_200, STANDBY, role="controller", mode="kraft")
    later[57] = replace(later[57], values={**later[57].values, **shown})
    run = history(events=[*started(*CONTROLLERS), again], samples=[*at_first, *later], kafka="3.9.1")
    assert named(run, only_the_active_controller_reports.judge(run, COUNT)) == ()


def test_a_standby_that_is_behind_a_controller_that_took_over_is_named() -> None:
    """The next active controller changes the state at once; until then standbys report that of the dead one."""
    dead = [each for at in range(8) for each in _both(at, STATE, 1, 1)]
    between = [each for at in range(8, 16) for each in _both(at, STATE, 0, 1)[1:]]
    after = [each for at in range(16, 24) for each in _both(at, STATE, 3, 1 if at == 16 else 3)]
    run = history(events=started(*CONTROLLERS), samples=[*dead, *between, *after], kafka="3.9.1")
    assert named(run, only_the_active_controller_reports.judge(run, STATE)) == ("metrics-of-the-image",)


def test_a_standby_that_is_behind_a_controller_that_died_is_named() -> None:
    """The count grew as the active controller died: until there is the next one standbys report what it was before."""
    dead = [each for at in range(8) for each in _both(at, COUNT, 3 if at == 7 else 2, 2)]
    between = [each for at in range(8, 16) for each in _both(at, COUNT, 0, 2)[1:]]
    after = [each for at in range(16, 24) for each in _both(at, COUNT, 3, 3)]
    run = history(events=started(*CONTROLLERS), samples=[*dead, *between, *after], kafka="3.9.1")
    assert named(run, only_the_active_controller_reports.judge(run, COUNT)) == ("metrics-of-the-image",)


@pytest.mark.parametrize(
    ("wrote_at", "bugs"), [(4, ("metrics-of-the-image",)), (0, ())], ids=["as it died", "long before"]
)
def test_a_standby_learns_of_a_last_write_from_the_next_controller(wrote_at: int, bugs: tuple[str, ...]) -> None:
    """The state changed before the active controller died; the next is active 3 s later, the standby behind."""
    dead = [each for at in range(10) for each in _both(at, STATE, 2 if at <= wrote_at else 1, 2)]
    between = [each for at in range(10, 16) for each in _both(at, STATE, 0, 2)[1:]]
    after = [each for at in range(16, 24) for each in _both(at, STATE, 1, 2 if at == 16 else 1)]
    taken_over = [replace(each, node=CONTROLLERS[2]) if each.node == ACTIVE else each for each in after]
    run = history(events=started(*CONTROLLERS), samples=[*dead, *between, *taken_over], kafka="3.9.1")
    assert named(run, only_the_active_controller_reports.judge(run, STATE)) == bugs


@pytest.mark.parametrize(
    ("loads_at", "bugs"), [(12, ("metrics-of-the-image",)), (40, ())], ids=["loads late", "never loads"]
)
def test_a_standby_that_has_its_image_before_the_active_controller_is_named(
    loads_at: int, bugs: tuple[str, ...]
) -> None:
    """The active one shows its image 6 s after the standby; if it never does, nothing says that both are the same."""
    run = reported(STATE, lambda at: -1 if at < loads_at else 1, lambda _: 1)
    assert named(run, only_the_active_controller_reports.judge(run, STATE)) == bugs


@pytest.mark.parametrize(
    ("standby", "kafka", "bugs"),
    [
        (lambda at: 40 + at, "3.6.0", ("KAFKA-15532",)),
        (lambda at: 40 + at, "3.9.1", ()),
        (lambda _: 40, "3.6.0", ()),
        (lambda at: 40 + 9 * at, "3.6.0", ()),
    ],
    ids=["grows with the log", "on a fixed release", "stays", "grows faster"],
)
def test_a_lag_that_counts_from_a_former_write_is_kafka_15532(
    standby: Value, kafka: str, bugs: tuple[str, ...]
) -> None:
    """It grows with the log, as that controller writes no more."""
    run = reported(LAG, lambda _: 1, standby, kafka)
    assert named(run, only_the_active_controller_reports.judge(run, LAG)) == bugs


@pytest.mark.parametrize(
    ("numbers", "bugs"),
    [
        ((0, 2, 1), ("numbers-of-the-states",)),
        ((2, 1, 3), ("numbers-of-the-states",)),
        ((2, 7), ()),
        ((4,), ()),
    ],
)
def test_two_numbers_that_are_swapped_are_named(numbers: tuple[int, ...], bugs: tuple[str, ...]) -> None:
    """A number that no release defines, or that of a broker in ZooKeeper mode, is another defect."""
    run = reported(STATE, lambda at: numbers[at % len(numbers)], lambda _: 0)
    assert named(run, migration_state_has_its_documented_number.judge(run)) == bugs


TAKEN, READY = "migration_begins_when_every_node_is_ready", "only_live_brokers_count_as_ready"
REPORTED = "zookeeper_brokers_report_no_migration_state"


def violated(check: str, **facts: object) -> Verdict:
    """A check that was violated, with what it found."""
    return violates(Kind.LIVENESS, [Violation("a", "b")], **facts).by(check)


@pytest.mark.parametrize(
    ("verdict", "bugs"),
    [
        (violated("another_check", numbers=[4.0]), ()),
        (violated(REPORTED, numbers=[4.0]), ("zookeeper-brokers-report-a-state",)),
        (violated(REPORTED, numbers=[1.0, 4.0]), ()),
        (violated(READY, are_registrations=True), ("fenced-brokers-counted-as-ready",)),
        (violated(READY, are_registrations=False), ()),
    ],
)
def test_a_departure_is_named_by_its_value_alone(verdict: Verdict, bugs: tuple[str, ...]) -> None:
    """Whatever else is wrong with the same thing is another defect."""
    assert named(history(), verdict) == bugs


DOWN = Violation("/controller is taken once every node is ready", "controller-3001 had been down for 2 s", 20_000 * MS)
WAITS = Violation("/controller is taken by itself within 120 s", "it was not for 150 s", 400_000 * MS)
ONE_AWAY = ["controller-3001"]


@pytest.mark.parametrize(
    ("not_ready", "violation", "ready_ms", "bugs"),
    [
        (ONE_AWAY, DOWN, 5_000, ("takeover-without-a-controller",)),
        ([*ONE_AWAY, "broker-1"], DOWN, 5_000, ()),
        ([], DOWN, 5_000, ()),
        (ONE_AWAY, DOWN, 25_000, ()),
        (ONE_AWAY, WAITS, 5_000, ()),
    ],
    ids=["it had been ready", "a broker, too", "all were ready", "it was ready afterwards only", "nothing begins"],
)
def test_a_take_over_without_a_controller_that_had_been_ready_is_named(
    not_ready: list[str], violation: Violation, ready_ms: int, bugs: tuple[str, ...]
) -> None:
    """The leader asks once whether every controller is; one that never was makes it wait."""
    ready = event(EventKind.NODE_READY, ready_ms, "controller-3001", took_ms=1)
    verdict = violates(Kind.SAFETY, [violation], not_ready=not_ready).by(TAKEN)
    assert named(history(events=[*started(*CONTROLLERS), ready]), verdict) == bugs
