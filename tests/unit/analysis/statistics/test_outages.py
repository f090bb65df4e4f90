"""Infra nights: which nights are set aside, and which must not be."""

from dataclasses import replace

from pytest_kmigrate.analysis.statistics.outages import InfraNight, infra_nights
from tests.bench.calibration import nightly
from tests.bench.planting.nights import Change, Plan, nights

USUAL = Plan(tests=10, nights=30, faults=2, phases=1, mean_log_odds=-5.0)


def _infra(plan: Plan) -> list[InfraNight]:
    return infra_nights(nightly(nights(1, plan)))


def _red(first: int, rate: float) -> tuple[Change, ...]:
    return tuple(Change(cell, first, rate) for cell in range(USUAL.cells))


def test_nights_of_inconclusive_runs_are_set_aside() -> None:
    """Two outages are found, and do not excuse each other; all that people want to know of them is reported."""
    found = _infra(replace(USUAL, outages=(3, 29)))

    assert [each.night for each in found] == [3, 29]
    assert (found[0].runs, found[0].tests_touched) == (20, 9)
    assert found[0].inconclusive > 15
    assert (found[0].wrong, found[0].wrong_runs) == ("inconclusive", found[0].inconclusive)
    assert found[0].usual_rate < 0.1
    assert found[0].p_value < 0.001
    assert found[0].reason.startswith(f"{found[0].inconclusive} of 20 runs inconclusive, usual are ")


def test_a_night_red_everywhere_is_set_aside_when_the_next_was_as_usual() -> None:
    """No release breaks every test for one night only."""
    found = _infra(replace(USUAL, changes=(*_red(20, 0.9), *_red(21, 0.01))))

    assert [each.night for each in found] == [20]
    assert found[0].reason.endswith("and the night after was as usual")
    assert (found[0].wrong, found[0].wrong_runs) == ("violating", found[0].violating)
    assert found[0].inconclusive < 5 < found[0].wrong_runs <= found[0].judged_runs <= found[0].runs


def test_a_regression_is_not_set_aside() -> None:
    """When everything is red from a night on, no night is an outage, and the newest night never is for being red."""
    assert _infra(replace(USUAL, changes=_red(20, 0.9))) == []
    assert _infra(replace(USUAL, changes=_red(29, 0.9))) == []


def test_a_night_that_tried_a_new_commit_is_not_set_aside_for_being_red() -> None:
    """A commit taken back the next day looks like a bad night; but no commit leaves runs without an answer."""
    played = nightly(nights(1, replace(USUAL, outages=(3,), changes=(*_red(20, 0.9), *_red(21, 0.01)))))

    assert [each.night for each in infra_nights(played, (2, 21))] == [3, 20]
    assert [each.night for each in infra_nights(played, (3, 20))] == [3]


def test_one_red_test_is_no_infra_night() -> None:
    """A night in which few tests violate says something about these tests."""
    changes = tuple(Change(cell, night, rate) for cell in range(6) for night, rate in ((20, 1.0), (21, 0.01)))

    assert _infra(replace(USUAL, changes=changes)) == []


def test_nothing_stands_out_from_nothing() -> None:
    """With one night, or nights all alike bad, there is no usual to be worse than."""
    assert _infra(replace(USUAL, nights=1)) == []
    assert _infra(replace(USUAL, usual_inconclusive=0.6)) == []
