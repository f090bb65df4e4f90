"""Shrinks a schedule that came out red: replays first, then one happening less at a time, a shorter walk, fewer nodes.

Pure but for what is asked of a runner: whether one run of a schedule shows the red that is looked for. Nothing else of
a run is asked, as a shrunk schedule may well violate other things.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_kmigrate.analysis.statistics.bounds import interval_95
from pytest_kmigrate.faults.schedules.schedule import Schedule

Shows = Callable[[Schedule], bool]
"""Runs a schedule once; whether the red that is looked for showed."""

REPLAYS = 3
MOST_RUNS = 20
_TRIES_OF_A_SURE_ONE = 2
_TRIES = 3
"""So often a smaller schedule may come out green before the larger one is kept, where not every replay was red."""


@dataclass(frozen=True)
class Shrunk:
    """What is left of a schedule, and what it took."""

    schedule: Schedule
    shown: int
    """How many of the replays were red."""
    replays: int
    runs: int
    dropped: tuple[int, ...] = ()
    """Ids of the happenings that the red does not need."""
    is_whole: bool = True
    """Whether every smaller schedule was tried: the runs that were granted were enough."""

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share of replays that are red."""
        low, high = interval_95(self.shown, self.replays)
        return float(low), float(high)

    @property
    def is_found(self) -> bool:
        """Whether any replay was red; else nothing was shrunk."""
        return self.shown > 0


class _Runs:
    """Runs that were granted, and those that were made."""

    def __init__(self, shows: Shows, granted: int) -> None:
        self._shows = shows
        self._granted = granted
        self.made = 0

    @property
    def are_over(self) -> bool:
        return self.made >= self._granted

    def red(self, schedule: Schedule, tries: int) -> bool:
        """Whether one of so many runs is red, as far as runs are left."""
        for _ in range(tries):
            if self.are_over:
                return False
            self.made += 1
            if self._shows(schedule):
                return True
        return False


def shrink(
    schedule: Schedule,
    shows: Shows,
    *,
    most_runs: int = MOST_RUNS,
    shorter: Callable[[Schedule], Sequence[Schedule]] = lambda _: (),
    can_be: Callable[[Schedule], bool] = lambda _: True,
) -> Shrunk:
    """The smallest schedule found that shows the red.

    ``shorter`` returns what a schedule could be besides with fewer happenings, smallest first: on fewer nodes, say.
    ``can_be``: whether a schedule contradicts nothing. One whose happening waited for what is left out may, and is no
    candidate: pytest would refuse it.
    """
    runs = _Runs(shows, most_runs)
    replays = min(REPLAYS, most_runs)
    shown = sum(runs.red(schedule, 1) for _ in range(replays))
    if not shown:
        return Shrunk(schedule, 0, replays, runs.made)
    tries = _TRIES_OF_A_SURE_ONE if shown == replays else _TRIES
    left, dropped = schedule, []
    for each in reversed(schedule.happenings):
        smaller = left.without(each.id)
        if smaller.happenings and can_be(smaller) and runs.red(smaller, tries):
            left = smaller
            dropped.append(each.id)
    for candidate in (*_walks(left), *shorter(left)):
        smaller = _with_happenings(candidate, left)
        if smaller.digest != left.digest and can_be(smaller) and runs.red(smaller, tries):
            left = smaller
    return Shrunk(left, shown, replays, runs.made, tuple(sorted(dropped)), is_whole=not runs.are_over)


def _walks(schedule: Schedule) -> Iterator[Schedule]:
    """The walk as far as the last state in which anything happens."""
    states = {each.begin.state for each in schedule.happenings}
    last = max((n for n, state in enumerate(schedule.walk, 1) if state in states), default=None)
    if last is not None and last < len(schedule.walk):
        yield replace(schedule, walk=schedule.walk[:last])


def _with_happenings(candidate: Schedule, left: Schedule) -> Schedule:
    """A candidate as it is once what was tried before it is taken over: its topology, the walk of what is left."""
    walk = min(candidate.walk, left.walk, key=len)
    return replace(candidate, happenings=left.happenings, walk=walk)
