"""Reads the space of a document from its ``chaos.toml``: every mistake at once, by key."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from pytest_kmigrate.catalogue import place_of
from pytest_kmigrate.faults.schedules.contradictions import Walkable
from pytest_kmigrate.faults.schedules.space import ARROW, BESIDE, Impossible, Space, Way
from pytest_kmigrate.faults.schedules.spelling import keys_of, kinds
from pytest_kmigrate.model.capabilities import Capability, Needs
from pytest_kmigrate.model.errors import TopologyError, WrongUseError
from pytest_kmigrate.topology.loading import find, load, text_of, validated

FILE = "chaos.toml"
"""A file that a document's folder may have."""

ANYWHERE = ""
"""The state of cells of a document that walks through none."""

_Texts = Annotated[list[str], Field(min_length=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WayTable(_Table):
    """One walk."""

    starts_at: str | None = None
    walk: list[str] = []
    passes: list[str] = []
    seconds: Annotated[float, Field(gt=0)]


class CannotTable(_Table):
    """Cells that cannot be."""

    effects: _Texts | None = None
    states: _Texts | None = None
    aims: _Texts | None = None
    because: str


class SpaceFile(_Table):
    """The whole file."""

    topologies: _Texts
    states: list[str] = []
    """In the order of the document; none where it walks through none."""
    ways: Annotated[list[WayTable], Field(min_length=1)]
    nodes: list[str] = []
    links: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = []
    groups: list[Annotated[list[str], Field(min_length=2)]] = []
    values: dict[str, dict[str, list[Any]]] = {}
    cannot: list[CannotTable] = []
    acts: list[str] = []
    """What an operator does, where the document has that in place of faults."""


TABLES: dict[tuple[str, ...], type[BaseModel]] = {(): SpaceFile, ("ways",): WayTable, ("cannot",): CannotTable}


def space_of(there: Walkable, offered: Needs = frozenset(Capability)) -> Space:
    """The space of a document on a provider that offers this; WrongUseError for a document without the file."""
    place = place_of(there.document)
    if not place.has(FILE):
        raise WrongUseError(
            f"{there.document}: expected a document with {FILE}, which declares what may happen to its clusters; "
            f"got none in {place.folder}"
        )
    return read_space(place.folder / FILE, there, offered)


def declared(profile: str) -> Space | None:
    """The space of a document, for who only reads about it; None if it declares none."""
    place = place_of(profile)
    if not place.has(FILE):
        return None
    path = place.folder / FILE
    return _space(validated(SpaceFile, TABLES, path, text_of(path)), profile, frozenset(Capability))


def read_space(path: Path, there: Walkable, offered: Needs = frozenset(Capability)) -> Space:
    """The space that a file declares; WrongUseError with every mistake of it."""
    file = validated(SpaceFile, TABLES, path, text_of(path))
    if mistakes := list(_mistakes(file, there)):
        raise TopologyError(str(path), mistakes)
    return _space(file, there.document, offered)


def _space(file: SpaceFile, document: str, offered: Needs) -> Space:
    return Space(
        document=document,
        topologies=tuple(load(find(each)) for each in file.topologies),
        ways=tuple(_way(each, file.states or ([] if file.acts else [ANYWHERE])) for each in file.ways),
        nodes=tuple(file.nodes),
        links=tuple((source, destination) for source, destination in file.links),
        groups=tuple(tuple(each) for each in file.groups),
        values=file.values,
        impossible=tuple(
            Impossible(each.because, tuple(each.effects or ()), tuple(each.states or ()), tuple(each.aims or ()))
            for each in file.cannot
        ),
        offered=offered,
        acts=tuple(file.acts),
    )


def _way(table: WayTable, states: Sequence[str]) -> Way:
    visited = {table.starts_at, *table.passes, *table.walk, ANYWHERE}
    return Way(tuple(table.walk), table.seconds, tuple(each for each in states if each in visited), table.starts_at)


def _mistakes(file: SpaceFile, there: Walkable) -> Iterator[str]:
    """What names a state, an effect, a key or an aim that is not there."""
    yield from _unknown("states", file.states, there.states)
    yield from _unknown("acts", file.acts, there.acts)
    if there.walk and not file.states:
        yield f"states: expected some of {', '.join(there.walk)}, which the document walks through; got none"
    if [each for each in there.states if each in file.states] != file.states:
        yield f"states: expected each once, in the order of the document; got {', '.join(file.states)}"
    for number, way in enumerate(file.ways):
        yield from _unknown(f"ways[{number}].walk", way.walk, [each for each in there.walk if each in file.states])
        yield from _unknown(f"ways[{number}].passes", way.passes, file.states)
        yield from _unknown(f"ways[{number}].starts_at", [way.starts_at] if way.starts_at else [], there.starts)
    for effect, values in file.values.items():
        yield from _unknown("values", [effect], kinds())
        known = [each.name for each, _ in keys_of(kinds()[effect])] if effect in kinds() else list(values)
        yield from _unknown(f"values.{effect}", values, known)
    aims = [*file.nodes, *map(ARROW.join, file.links), *map(BESIDE.join, file.groups)]
    aims += [point.name for point in there.crash_points]
    for number, rule in enumerate(file.cannot):
        yield from _unknown(f"cannot[{number}].effects", rule.effects or (), kinds())
        yield from _unknown(f"cannot[{number}].states", rule.states or (), file.states)
        yield from _unknown(f"cannot[{number}].aims", rule.aims or (), aims)


def _unknown(key: str, given: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    there = list(known)
    for each in given:
        if each not in there:
            yield f"{key}: expected one of {', '.join(there)}; got {each!r}"
