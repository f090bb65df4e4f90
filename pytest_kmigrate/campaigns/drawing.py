"""Draws the schedules of a night: a sweep of cells, pairs of effects, and then what narrows most a second.

Pure: the same space, seed and knowledge come to the same lines, on every machine and under every hash seed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from pytest_kmigrate.campaigns.pairing import Pair, pairs_of
from pytest_kmigrate.campaigns.steering import NOTHING_KNOWN, Known, gain
from pytest_kmigrate.faults.effect import Fault
from pytest_kmigrate.faults.schedules.contradictions import Walkable, contradictions
from pytest_kmigrate.faults.schedules.schedule import Begin, Happening, Moment, Release, Schedule
from pytest_kmigrate.faults.schedules.space import Cell, Space, Way
from pytest_kmigrate.faults.schedules.spelling import fault_of

OF_A_HAPPENING_S = 12
"""What a happening adds to a run: it begins, lasts, heals, and the cluster settles."""

_WANTED = 3
"""Happenings of a schedule that is drawn by gain."""
_TRIES = 40
_LONG = 100_000
"""So many operations never come before ``at_most_s``, so that a fault outlasts a session."""
_LASTING = (Release(300, 10), Release(_LONG, 10), Release(_LONG, 30))
_AFTER = (0, 100, 300)
_RELATIONS: Mapping[str, Moment] = {"overlaps": "witnessed", "inside": "witnessed", "follows": "healed"}
_SEEDS = 10**9


@dataclass(frozen=True)
class Drawn:
    """The lines of a night, and what they come to."""

    schedules: tuple[Schedule, ...]
    swept: int
    """How many of them are of the sweep; those of pairs follow, then those by gain."""
    paired: int
    seconds: float
    """What they take one by one, on a processor of their own each, as far as is known."""
    cells: frozenset[Cell]
    """Those that they visit."""


@dataclass
class _Night:
    """Lines as they are drawn, within what the night has of time."""

    space: Space
    there: Walkable
    seed: int
    budget_s: float
    known: Mapping[Cell, Known]
    schedules: list[Schedule] = field(default_factory=list)
    seconds: float = 0
    visits: dict[Cell, int] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Whether there is no time for the shortest run."""
        return self.seconds + min(cost_s(way, 1) for way in self.space.ways) > self.budget_s

    def add(self, way: Way, chosen: Sequence[tuple[Cell, Begin, Release]], random: Random) -> bool:
        """One more line, unless it contradicts itself, or the night is over."""
        schedule = self._schedule(way, chosen, random)
        cost = cost_s(way, len(chosen))
        if list(contradictions(schedule, self.there)) or self.seconds + cost > self.budget_s:
            return False
        self.schedules.append(schedule)
        self.seconds += cost
        for cell, _, _ in chosen:
            self.visits[cell] = self.visits.get(cell, 0) + 1
        return True

    def _schedule(self, way: Way, chosen: Sequence[tuple[Cell, Begin, Release]], random: Random) -> Schedule:
        happenings = [
            Happening(number, self._fault(cell, random), begin, release)
            for number, (cell, begin, release) in enumerate(chosen, 1)
        ]
        topology = random.choice(self.space.topologies).name
        return Schedule(
            document=self.space.document,
            topology=topology,
            happenings=tuple(happenings),
            walk=way.walk,
            starts_at=way.starts_at,
            seed=random.randrange(_SEEDS),
        )

    def _fault(self, cell: Cell, random: Random) -> Fault:
        values = {key: random.choice(some) for key, some in self.space.choices(cell.effect).items()}
        mistakes: list[Any] = []
        fault = fault_of("fault", self.space.spelled(cell, values), (), mistakes)
        assert fault is not None, f"a cell of a space is a fault: {mistakes}"
        return fault


def drawn(
    space: Space,
    there: Walkable,
    *,
    seed: int,
    hours: float,
    side_by_side: int = 1,
    known: Mapping[Cell, Known] = NOTHING_KNOWN,
    new_to: Mapping[Cell, float] = NOTHING_KNOWN,
) -> Drawn:
    """The lines of a night of so many hours, so many of them side by side.

    ``known``: what earlier nights showed of each cell; the sweep leaves out what was witnessed before. ``new_to``: a
    factor on the gain of a cell by other knowledge, such as code of Kafka that only its schedules reached (1: none).
    """
    night = _Night(space, there, seed, hours * 3600 * side_by_side, known)
    _sweep(night, [cell for cell in space.cells if not (known[cell].witnessed if cell in known else 0)])
    swept = len(night.schedules)
    _pairs(night)
    paired = len(night.schedules) - swept
    _gains(night, new_to)
    return Drawn(tuple(night.schedules), swept, paired, night.seconds, frozenset(night.visits))


def cost_s(way: Way, happenings: int) -> float:
    """What a run of so many happenings takes on this way."""
    return way.seconds + happenings * OF_A_HAPPENING_S


def _sweep(night: _Night, cells: Iterable[Cell]) -> None:
    """Every cell once: a walk visits one in each state of its way; the way is the one that visits most a second."""
    left = {state: [cell for cell in cells if cell.state == state] for state in night.space.states}
    for state, of_state in left.items():
        _random(night, "sweep", state).shuffle(of_state)
    number = 0
    while any(left.values()):
        way = max(night.space.ways, key=lambda way: _visited(way, left) / cost_s(way, _visited(way, left)))
        random = _random(night, "sweep", number)
        number += 1
        chosen = [(of[-1], _in(of[-1].state), random.choice(_LASTING)) for of in map(left.get, way.states) if of]
        if not night.add(way, chosen, random):
            return
        for cell, _, _ in chosen:
            left[cell.state].remove(cell)


def _visited(way: Way, left: Mapping[str, Collection[Cell]]) -> int:
    return sum(bool(left[state]) for state in way.states)


def _pairs(night: _Night) -> None:
    """Every ordered pair of effects, with relation, state and topology spread over them."""
    if night.is_over:
        return
    for number, pair in enumerate(pairs_of(night.space, tuple(_RELATIONS), str(night.seed))):
        for attempt in range(_TRIES):
            random = _random(night, "pair", number, attempt)
            chosen = _related(night.space, pair, random)
            if night.is_over or night.add(_cheapest(night.space, [pair.state]), chosen, random):
                break


def _related(space: Space, pair: Pair, random: Random) -> list[tuple[Cell, Begin, Release]]:
    first, second = (
        random.choice([cell for cell in space.cells if (cell.effect, cell.state) == (effect, pair.state)])
        for effect in (pair.first, pair.second)
    )
    longer, shorter = Release(_LONG, 20), Release(_LONG, 10)
    one, other = (longer, shorter) if pair.relation == "inside" else (shorter, longer)
    if pair.relation == "follows":
        one, other = random.choice(_LASTING), random.choice(_LASTING)
    after = 0 if pair.relation == "inside" else random.choice(_AFTER)
    return [
        (first, _in(pair.state), one),
        (second, replace(_in(pair.state), after_operations=after, of=1, when=_RELATIONS[pair.relation]), other),
    ]


def _gains(night: _Night, new_to: Mapping[Cell, float]) -> None:
    """What is left of the night goes to cells by their expected narrowing a second; each draw counts as a run."""
    cells, number, refused = night.space.cells, 0, 0
    cheapest = {state: cost_s(_cheapest(night.space, [state]), 1) for state in night.space.states}
    while cells and refused < _TRIES:
        random = _random(night, "gain", number)
        number += 1
        weights = [
            gain(night.known.get(cell, Known()), night.visits.get(cell, 0), cheapest[cell.state])
            * new_to.get(cell, 1.0)
            for cell in cells
        ]
        wanted = random.choices(cells, weights, k=_WANTED)
        ways = [way for way in night.space.ways if wanted[0].state in way.states]
        way = min(ways, key=lambda way: -sum(cell.state in way.states for cell in wanted) / cost_s(way, _WANTED))
        chosen = _chained([cell for cell in wanted if cell.state in way.states], way, random)
        refused = 0 if night.add(way, chosen, random) else refused + 1


def _chained(cells: Sequence[Cell], way: Way, random: Random) -> list[tuple[Cell, Begin, Release]]:
    """Cells in the order of the way; some of those of one state wait for the one before."""
    in_order = sorted(dict.fromkeys(cells), key=lambda cell: way.states.index(cell.state))
    made: list[tuple[Cell, Begin, Release]] = []
    for number, cell in enumerate(in_order):
        begin = replace(_in(cell.state), after_operations=random.choice(_AFTER))
        if number and in_order[number - 1].state == cell.state:
            begin = replace(begin, of=number, when=random.choice(tuple(_RELATIONS.values())))
        made.append((cell, begin, random.choice(_LASTING)))
    return made


def _in(state: str) -> Begin:
    """When the walk has come to a state; where a document walks through none, at once."""
    return Begin(state or None)


def _cheapest(space: Space, states: Sequence[str]) -> Way:
    """The way that visits these states in the least time."""
    return min((way for way in space.ways if set(states) <= set(way.states)), key=lambda way: way.seconds)


def _random(night: _Night, *parts: object) -> Random:
    """A generator of its own for each line, so that one line more changes no other."""
    return Random(" ".join(map(str, (night.seed, *parts))))
