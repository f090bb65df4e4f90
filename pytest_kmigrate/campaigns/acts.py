"""Draws the schedules of a document that has acts in place of faults: every act after every act, then by chance."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from pytest_kmigrate.campaigns.drawing import cost_s
from pytest_kmigrate.faults.schedules.schedule import Begin, Happening, Schedule
from pytest_kmigrate.faults.schedules.space import Space
from pytest_kmigrate.faults.schedules.spelling import Act

OF_A_LINE = 8
"""Acts of one line: so many happenings a schedule may have."""
_SEEDS = 10**9


@dataclass(frozen=True)
class Acted:
    """The lines of a night of acts, and what they come to."""

    schedules: tuple[Schedule, ...]
    paired: int
    """How many of them there are until every act has followed every act; the rest is by chance."""
    pairs: int
    """How many of these pairs they visit."""
    seconds: float
    """What they take one by one, as far as is known."""


def acted(space: Space, *, seed: int, seconds: float) -> Acted:
    """The lines that this time is enough for. An act begins when the one before is over: only their order is chosen."""
    cost = shortest_s(space)
    lines = int(seconds / cost)
    left = {act: list(space.acts) for act in space.acts}
    made: list[Schedule] = []
    paired = 0
    while len(made) < lines:
        random = Random(f"{seed} acts {len(made)}")
        is_pairing = any(left.values())
        acts = list(_line(left, random)) if is_pairing else random.choices(space.acts, k=OF_A_LINE)
        made.append(_schedule(space, acts, random))
        paired += is_pairing
    visited = len(space.acts) ** 2 - sum(map(len, left.values()))
    return Acted(tuple(made), paired, visited, len(made) * cost)


def shortest_s(space: Space) -> float:
    """What the shortest line of a night takes, as far as is known."""
    return min(cost_s(way, OF_A_LINE if space.acts else 1) for way in space.ways)


def _line(left: Mapping[str, list[str]], random: Random) -> Iterator[str]:
    """A walk over pairs of acts that no line has yet, which are taken out; anew where none is left of the last act."""
    act = _most_left(left, random)
    yield act
    for _ in range(OF_A_LINE - 1):
        following = random.choice(left[act]) if left[act] else _most_left(left, random)
        if following in left[act]:
            left[act].remove(following)
        act = following
        yield act


def _most_left(left: Mapping[str, Sequence[str]], random: Random) -> str:
    most = max(map(len, left.values()))
    return random.choice([act for act, following in left.items() if len(following) == most])


def _schedule(space: Space, acts: Sequence[str], random: Random) -> Schedule:
    return Schedule(
        document=space.document,
        topology=random.choice(space.topologies).name,
        happenings=tuple(Happening(number, Act(act), Begin()) for number, act in enumerate(acts, 1)),
        walk=(),
        starts_at=None,
        changes_per_s=0,
        seed=random.randrange(_SEEDS),
    )
