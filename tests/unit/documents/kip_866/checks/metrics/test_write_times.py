"""Check that the times of writes to ZooKeeper are times."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.metrics.write_times import write_times_are_times as check
from pytest_kmigrate.model.history import History
from tests.unit.checkers.histories import history, sample
from tests.unit.documents.kip_866.checks.nodes import controller
from tests.unit.documents.kip_866.checks.outcomes import looked_at, outcomes
from tests.unit.documents.kip_866.checks.transactions.logged import BROKER, FIRST, TOPIC, claim, logged, place
from tests.unit.documents.kip_866.diagnoses.naming import named

Refusal = Sequence[tuple[int, int, int]]
SNAPSHOT, DELTA = "METRIC-ZkWriteSnapshotTimeMs", "METRIC-ZkWriteDeltaTimeMs"


def run(
    metric: str = "ZkWriteSnapshotTimeMs",
    count: float | None = 1,
    low: float | None = 5,
    *,
    lag: float | None = 0,
    kafka: str = "3.9.1",
) -> History:
    """An active controller reports this histogram, three times."""
    values = {f"{metric}.Count": count, f"{metric}.Min": low, "ZkWriteBehindLag": lag, "ActiveControllerCount": 1}
    samples = [sample(at, "controller-3000", **values) for at in (1_000, 2_000, 3_000)]
    return history(events=[controller()], samples=samples, kafka=kafka)


@pytest.mark.parametrize(("metric", "row"), [("ZkWriteSnapshotTimeMs", SNAPSHOT), ("ZkWriteDeltaTimeMs", DELTA)])
def test_a_time_below_zero_violates(metric: str, row: str) -> None:
    """Violating: only that of snapshots is known."""
    wrong = run(metric, low=-25)
    verdict = check.judge(wrong)
    assert looked_at(verdict) == {row: "VIOLATES"}
    assert verdict.violations[0].observed.startswith(f"controller-3000 reports {metric}.Min -25 (")
    assert named(wrong, verdict) == (("negative-time-of-snapshots",) if row == SNAPSHOT else ())


def test_a_histogram_that_is_absent_in_dual_write_violates() -> None:
    """Violating, and not known."""
    absent = run(count=None, low=None)
    assert outcomes(check.judge(absent))[SNAPSHOT] == "VIOLATES"
    assert named(absent, check.judge(absent)) == ()


@pytest.mark.parametrize(
    "there", [run(count=0), run(lag=None), history()], ids=["none counted", "no dual write", "no node"]
)
def test_without_a_write_nothing_is_proved(there: History) -> None:
    """Vacuous."""
    assert not looked_at(check.judge(there))


@pytest.mark.parametrize("kafka", ["3.5.2", "4.0.0"])
def test_releases_without_the_metrics_are_not_judged(kafka: str) -> None:
    """Not applicable."""
    assert set(outcomes(check.judge(run(low=-25, kafka=kafka))).values()) == {"NOT_APPLICABLE"}


def delta_of(took_ms: int, high: float | None, *, snapshots: float = 0, refused: Refusal = ()) -> History:
    """A change of two transactions, so far apart in ZooKeeper's log, and the longest time that is reported.

    ``refused``: between them, by when, session and ZooKeeper's error.
    """
    first, last = logged(1_500, FIRST, TOPIC), logged(1_500 + took_ms, FIRST, TOPIC)
    written = [claim(500), logged(600, FIRST, place(100)), first, last, logged(1_510 + took_ms, FIRST, place(101))]
    for at_ms, session, error in refused:
        written.insert(3, logged(at_ms, session, is_multi=True, error=error))
    there = run("ZkWriteDeltaTimeMs")
    more = {"ZkWriteDeltaTimeMs.Max": high, "ZkWriteSnapshotTimeMs.Count": snapshots}
    before, *later = there.samples
    none_yet = replace(
        before, values={**before.values, "ZkWriteDeltaTimeMs.Count": 0, "ZkWriteSnapshotTimeMs.Count": 0}
    )
    samples = [none_yet, *(replace(each, values={**each.values, **more}) for each in later)]
    return replace(there, samples=samples, transactions=written)


def test_the_longest_time_is_that_of_the_longest_change() -> None:
    """Conforming: as ZooKeeper logged it. Violating: a constant 0, and less than half of it; no bug is known."""
    assert looked_at(check.judge(delta_of(300, high=310))) == {DELTA: "CONFORMS"}
    for high in (0, 149):
        verdict = check.judge(delta_of(300, high))
        assert looked_at(verdict) == {DELTA: "VIOLATES"}
        assert verdict.violations[0].observed.startswith(f"controller-3000 reports ZkWriteDeltaTimeMs.Max {high};")
        assert named(delta_of(300, high), verdict) == ()


@pytest.mark.parametrize(
    ("refused", "outcome"),
    [
        ([(1_600, FIRST, -101)], None),
        ([(1_600, BROKER, -101)], "VIOLATES"),
        ([(1_600, FIRST, -110)], "VIOLATES"),
        ([(550, FIRST, -101)], "VIOLATES"),
    ],
    ids=["for want of a znode", "of another session", "as the znode is there", "of the change before"],
)
def test_a_change_that_is_refused_counts_for_no_time(refused: Refusal, outcome: str | None) -> None:
    """Vacuous: the driver gives it up, and the next change follows in its place."""
    found = looked_at(check.judge(delta_of(300, high=0, refused=refused)))
    assert found.get(DELTA) == outcome


def test_a_change_that_takes_no_time_shows_no_time() -> None:
    """Vacuous: ZooKeeper's clock counts milliseconds, and a time of 0 would be right."""
    assert not looked_at(check.judge(delta_of(10, high=0)))
    assert not looked_at(check.judge(delta_of(1_100, high=0))), "one may have been given up, and another begun"
    assert not looked_at(check.judge(run("ZkWriteDeltaTimeMs")))
    assert DELTA not in looked_at(check.judge(delta_of(300, high=0, snapshots=1))), "it may have been a snapshot"
    assert looked_at(check.judge(run())) == {SNAPSHOT: "CONFORMS"}
