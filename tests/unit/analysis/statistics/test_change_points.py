"""Change points: what is a change, where it is, and how sure that is."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from pytest_kmigrate.analysis.statistics import bernoulli_changes, change_points
from pytest_kmigrate.analysis.statistics.arrays import Flags, Floats
from pytest_kmigrate.analysis.statistics.bernoulli_changes import rate_changes
from pytest_kmigrate.analysis.statistics.change_points import believable
from pytest_kmigrate.analysis.statistics.rank_changes import first_p_value, level_changes, rises


def _runs(text: str) -> Flags:
    return np.array([each == "V" for each in text], np.bool_)


def test_a_broken_test_is_found_at_the_run_that_broke_it() -> None:
    """Clean, then never again: one change, at the first violation."""
    changes = rate_changes(_runs("C" * 30 + "V" * 10))

    assert [(each.began, each.at, each.ended) for each in changes] == [(0, 30, 40)]
    assert changes[0].p_value < 1e-6


def test_three_violations_after_twenty_clean_runs_are_a_change() -> None:
    """A change is found as soon as three runs speak of it, and two violations, or one, are never enough."""
    assert [each.at for each in rate_changes(_runs("C" * 20 + "VVV"))] == [20]
    assert rate_changes(_runs("C" * 20_000 + "VV")) == []


@pytest.mark.parametrize(
    "text", ["", "V", "CV", "C" * 50, "V" * 50, "CV" * 50, "CCCV" * 20, "CCCCCVCCVVCCCC", "C" * 9_000 + "V"]
)
def test_nothing_changed(text: str) -> None:
    """Too few runs, one answer only, or both in turn all the time: no change."""
    assert rate_changes(_runs(text)) == []


def test_broken_and_repaired_are_two_changes() -> None:
    """Each with the runs it parts: from the change before to the change after."""
    changes = rate_changes(_runs("C" * 40 + "V" * 30 + "C" * 40))

    assert [(each.began, each.at, each.ended) for each in changes] == [(0, 40, 70), (40, 70, 110)]


def test_a_series_has_few_changes() -> None:
    """A test that is switched on and off for ever is reported as changing a few times, not a hundred."""
    assert len(rate_changes(_runs(("C" * 20 + "V" * 20) * 30))) == change_points.MOST_CHANGES


def test_the_p_value_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the share of all orders of the same answers that can be parted as well: counted one by one."""
    monkeypatch.setattr(bernoulli_changes, "FALSE_ALARM_RATE", 1.0)
    series = _runs("CCCCVCCVVV").astype(np.float64)
    split = bernoulli_changes.scan(series)
    assert split is not None
    as_good = []
    for places in itertools.combinations(range(10), 4):
        other = bernoulli_changes.scan(np.isin(np.arange(10), places).astype(np.float64))
        assert other is not None
        as_good.append(other.statistic >= split.statistic - 1e-9)

    assert bernoulli_changes.p_value(series, split) == pytest.approx(np.mean(as_good))


def test_durations_that_grow_are_found_among_outliers() -> None:
    """Ten times as long once is an outlier; half as long again from some run on is a change."""
    chance = np.random.default_rng(1)
    took = chance.lognormal(0, 0.1, 80)
    took[[5, 20, 33, 70]] *= 10
    took[50:] *= 1.5

    assert [each.at for each in level_changes(took)] == [50]


def test_whether_durations_grew_is_told_by_ranks() -> None:
    """Before all runs took 1.28 times as long four of forty hung: longer on average, and yet it got worse."""
    chance = np.random.default_rng(2)
    took = chance.lognormal(0, 0.1, 80)
    took[[3, 12, 20, 31]] *= 1_000
    took[40:] *= 1.28

    (grew,) = level_changes(took)
    (shrank,) = level_changes(took[::-1])

    assert np.mean(np.log(took[:40])) > np.mean(np.log(took[40:]))
    assert rises(took, grew)
    assert not rises(took[::-1], shrank)


def test_one_value_unlike_all_others_is_no_change() -> None:
    """A lag of none in 199 of 200 runs: one run that had some has changed nothing, wherever it was."""
    for place in (3, 100, 199):
        lag = np.zeros(200)
        lag[place] = 7.0
        assert first_p_value(lag) is None
        assert level_changes(lag) == []


def test_where_one_value_is_common_the_p_value_is_exact() -> None:
    """Whether the others lie above it or below, the p-value is that of their rate; ranks gave 5e-43, not 3e-8."""
    chance = np.random.default_rng(5)
    lag = np.where(np.arange(200) < 196, 0.0, chance.lognormal(0, 0.5, 200))

    for values in (lag, -lag, lag + 1):
        (change,) = level_changes(values)
        assert change.at == 196
        assert change.p_value == bernoulli_changes.first_p_value(lag > 0)
        assert rises(values, change) == (values[-1] > values[0])


def test_a_lag_that_is_met_more_often_is_found() -> None:
    """In 2 of 40 runs before, and in 18 of 20 since; what it is then of its own is looked at by ranks again."""
    lag = np.zeros(60)
    lag[[7, 22]] = 5.0
    lag[40:58] = np.random.default_rng(6).lognormal(2, 0.5, 18)

    (change,) = level_changes(lag)

    assert change.at == 40
    assert rises(lag, change)


@pytest.mark.slow
def test_many_flat_series_give_no_false_alarm_and_hide_no_regression() -> None:
    """Of 40 reports of 200 flat series no more than two name one; a duration 1.5 times as long is found among them."""
    chance = np.random.default_rng(3)
    slower = np.repeat([1.0, 1.5], [40, 20])
    alarms, uncorrected, found = 0, 0, 0
    for _ in range(40):
        flat = list(chance.lognormal(0, 0.2, (200, 60)))
        limit = believable(_first(flat))
        alarms += any(level_changes(each, limit) for each in flat)
        uncorrected += any(level_changes(each) for each in flat)
        changed = chance.lognormal(0, 0.2, 60) * slower
        changes = level_changes(changed, believable(_first([*flat, changed])))
        found += any(abs(each.at - 40) <= 3 for each in changes)
    assert alarms <= 2
    assert uncorrected > 10
    assert found >= 36


@pytest.mark.slow
def test_many_flaky_cells_give_no_false_alarm_and_hide_no_broken_one() -> None:
    """Of 40 reports of 200 cells that flake as ever no more than two report a change; one that broke is found there."""
    chance = np.random.default_rng(4)
    broke = np.repeat([0.02, 0.8], [40, 20])
    alarms, uncorrected, found = 0, 0, 0
    for _ in range(40):
        flat = list(chance.random((200, 60)) < chance.uniform(0.05, 0.5, (200, 1)))
        limit = believable(_first_of_rates(flat))
        alarms += any(rate_changes(each, limit) for each in flat)
        uncorrected += any(rate_changes(each) for each in flat)
        changed = chance.random(60) < broke
        changes = rate_changes(changed, believable(_first_of_rates([*flat, changed])))
        found += any(abs(each.at - 40) <= 3 for each in changes)
    assert alarms <= 2
    assert uncorrected > 10
    assert found >= 36


def _first(series: Sequence[Floats]) -> Floats:
    return np.array([first_p_value(each) for each in series], np.float64)


def _first_of_rates(series: Sequence[Flags]) -> Floats:
    """Cells that hardly ever gave one of the answers cannot have changed, and are not counted."""
    found = (bernoulli_changes.first_p_value(each) for each in series)
    return np.array([each for each in found if each is not None], np.float64)


def test_one_series_alone_is_believed_as_before() -> None:
    """Nothing is compared but it; and where all have changed, none of them is believed for less than alone."""
    assert believable(np.array([0.004])) == believable(np.array([1e-9] * 5)) == change_points.FALSE_ALARM_RATE
    assert believable(np.array([0.004, 1.0])) == change_points.FALSE_ALARM_RATE
    assert believable(np.array([1e-9] + [1.0] * 99)) == pytest.approx(0.05 / 100)
    assert believable(np.array([])) == believable(np.array([0.2, 1.0])) == 0


@pytest.mark.parametrize("values", [[], [1.0], [5.0] * 100, [1.0, 2.0] * 50, list(range(7))])
def test_durations_that_do_not_change(values: list[float]) -> None:
    """Nothing, all equal, in turn, or too few: no change."""
    assert level_changes(np.array(values, np.float64)) == []
