"""Pairs of effects: a covering array over both effects, their relation, the state and the topology, by covertable."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_kmigrate.faults.schedules.space import Space


@dataclass(frozen=True)
class Pair:
    """Two effects in one state, and how the second stands to the first."""

    first: str
    second: str
    relation: str
    state: str


def pairs_of(space: Space, relations: Sequence[str], salt: str) -> Iterator[Pair]:
    """Every ordered pair of effects at least once, and every pair of any two of the other factors that can be."""
    from covertable import make  # noqa: PLC0415 - not at the command's start

    there = {(cell.effect, cell.state) for cell in space.cells}
    effects, states = sorted({effect for effect, _ in there}), list(space.states)
    if not effects:
        return
    factors = {"first": effects, "second": effects, "relation": list(relations), "state": states}
    cannot = [(effect, state) for effect in effects for state in states if (effect, state) not in there]
    constraints = [
        {"operator": "not", "condition": _both((which, effect), ("state", state))}
        for which in ("first", "second")
        for effect, state in cannot
    ]
    for row in make(factors, strength=2, salt=salt, constraints=constraints):
        yield Pair(row["first"], row["second"], row["relation"], row["state"])


def _both(*parts: tuple[str, str]) -> dict[str, Any]:
    return {
        "operator": "and",
        "conditions": [{"operator": "eq", "left": left, "value": value} for left, value in parts],
    }
