"""Facts about shrinking, against a runner that knows the causes: how few runs it takes, and what is left."""

from collections.abc import Collection
from dataclasses import replace
from random import Random

import pytest

from pytest_kmigrate.campaigns.reds import can_be
from pytest_kmigrate.campaigns.shrinking import MOST_RUNS, Shrunk, shrink
from pytest_kmigrate.faults.processes import Kill
from pytest_kmigrate.faults.schedules.schedule import Begin, Happening, Schedule
from pytest_kmigrate.faults.targets import node

SHRINKS = 400


def _schedule(happenings: int) -> Schedule:
    chained = [
        Happening(number, Kill(node(f"broker-{number}")), Begin("HYBRID", of=number - 1 if number > 1 else None))
        for number in range(1, happenings + 1)
    ]
    return Schedule("kip-866", "large", tuple(chained), ("HYBRID", "ALL_KRAFT", "FINALIZED"), "HYBRID")


def _shrunk(of: int, causes: Collection[int], p: float, random: Random) -> Shrunk:
    def shows(schedule: Schedule) -> bool:
        return set(causes) <= {each.id for each in schedule.happenings} and random.random() < p

    return shrink(_schedule(of), shows, shorter=lambda left: [replace(left, topology="small")])


@pytest.mark.parametrize(("causes", "of"), [(2, 3), (2, 6), (1, 6), (3, 6)])
@pytest.mark.parametrize("p", [1.0, 0.85, 0.7])
def test_few_runs_leave_at_most_one_happening_too_many(causes: int, of: int, p: float) -> None:
    """In 95 of 100 of those whose replays were red at all; a cause is never lost."""
    random = Random(f"{causes} {of} {p}")
    found = [(each, each_causes) for each, each_causes in _many(causes, of, p, random) if each.is_found]
    assert len(found) > 0.95 * SHRINKS
    assert all(each.runs <= MOST_RUNS for each, _ in found)
    assert all(chosen <= {left.id for left in each.schedule.happenings} for each, chosen in found)
    too_many = [len(each.schedule.happenings) - causes for each, _ in found]
    assert sum(extra <= 1 for extra in too_many) >= 0.95 * len(found)
    if p == 1:
        assert set(too_many) == {0}
        assert all(each.schedule.walk == ("HYBRID",) and each.schedule.topology == "small" for each, _ in found)


def _many(causes: int, of: int, p: float, random: Random) -> list[tuple[Shrunk, set[int]]]:
    made = []
    for _ in range(SHRINKS):
        chosen = set(random.sample(range(1, of + 1), causes))
        made.append((_shrunk(of, chosen, p, random), chosen))
    return made


def test_a_red_that_never_comes_again_is_left_as_it_was() -> None:
    """With the interval of how often it could: three green replays say little."""
    asked: list[Schedule] = []

    def never(schedule: Schedule) -> bool:
        asked.append(schedule)
        return False

    found = shrink(_schedule(3), never)
    assert (found.schedule, found.runs, found.is_found) == (_schedule_like(asked), 3, False)
    assert found.interval == pytest.approx((0, 0.632), abs=0.001)


def _schedule_like(asked: list[Schedule]) -> Schedule:
    assert len({each.digest for each in asked}) == 1
    return asked[0]


def test_runs_that_were_granted_are_not_exceeded() -> None:
    """What was not tried stays, and the answer says that it may be too large."""
    found = shrink(_schedule(6), lambda _: True, most_runs=5)
    assert (found.runs, len(found.schedule.happenings), found.is_whole) == (5, 4, False)
    assert found.dropped == (5, 6)


def test_what_waited_for_a_dropped_happening_waits_for_its_state_alone() -> None:
    """And the walk ends where the last thing happens, but begins where it began."""
    found = shrink(_schedule(3), lambda schedule: any(each.id == 3 for each in schedule.happenings))
    (left,) = found.schedule.happenings
    assert (left.id, left.begin) == (3, Begin("HYBRID"))
    assert (found.schedule.starts_at, found.schedule.walk) == ("HYBRID", ("HYBRID",))
    assert found.interval == pytest.approx((0.368, 1), abs=0.001)


@pytest.mark.slow
def test_what_contradicts_itself_without_a_happening_is_no_candidate() -> None:
    """Pytest would refuse it, and the shrink would end: the third would begin with the first, on the same node."""
    kills = [
        Happening(1, Kill(node("broker-1")), Begin("HYBRID")),
        Happening(2, Kill(node("broker-2")), Begin("HYBRID", of=1, when="healed")),
        Happening(3, Kill(node("broker-1")), Begin("HYBRID", of=2, when="healed")),
    ]
    schedule = replace(_schedule(1), topology="zk1-broker3-controller3", happenings=tuple(kills))
    assert can_be(schedule)
    asked: list[Schedule] = []

    def shows(smaller: Schedule) -> bool:
        asked.append(smaller)
        return {1, 3} <= {each.id for each in smaller.happenings}

    assert [each.id for each in shrink(schedule, shows).schedule.happenings] == [1, 3]
    asked.clear()
    assert [each.id for each in shrink(schedule, shows, can_be=can_be).schedule.happenings] == [1, 2, 3]
    assert all(map(can_be, asked))
