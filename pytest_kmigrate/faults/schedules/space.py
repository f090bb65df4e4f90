"""The space of a document: every cell that a happening of a schedule can be, and why any other cannot."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from functools import cached_property
from typing import Any

from pytest_kmigrate.faults.schedules.spelling import fault_of, keys_of, kinds
from pytest_kmigrate.faults.targets import EVERY, Target
from pytest_kmigrate.faults.znodes import ExpireSession
from pytest_kmigrate.model.capabilities import Capability, Needs
from pytest_kmigrate.model.topology import Role, Topology

ARROW = "->"
BESIDE = " | "


@dataclass(frozen=True, order=True)
class Cell:
    """One effect, in one state of the document, aimed at one thing."""

    effect: str
    state: str
    """"" where the document walks through none: from the beginning."""
    aim: str
    """The target; the two ends of links with an arrow between them; the groups of a partition."""

    def __str__(self) -> str:
        return f"{self.effect}({self.aim}) in {self.state}"


@dataclass(frozen=True)
class Way:
    """One walk through states of the document."""

    walk: tuple[str, ...]
    seconds: float
    """For so long a run of it keeps a processor busy, without any fault."""
    states: tuple[str, ...]
    """Where a happening can begin, in the order of the document: also states that the walk passes without a stay."""
    starts_at: str | None = None
    """The state from whose checkpoint it begins; None: a cluster that was just started."""


@dataclass(frozen=True)
class Impossible:
    """Cells that cannot be; an empty list stands for all there are."""

    because: str
    effects: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    aims: tuple[str, ...] = ()

    def covers(self, cell: Cell) -> bool:
        """Whether the cell is one of them."""
        parts = ((self.effects, cell.effect), (self.states, cell.state), (self.aims, cell.aim))
        return all(not some or one in some for some, one in parts)


@dataclass(frozen=True)
class Space:
    """What a document declares of its nights; cells follow from it and from what faults are and need."""

    document: str
    topologies: tuple[Topology, ...]
    ways: tuple[Way, ...]
    nodes: tuple[str, ...] = ()
    """Aims of faults with one target."""
    links: tuple[tuple[str, str], ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    values: Mapping[str, Mapping[str, Sequence[object]]] = field(default_factory=dict)
    """By effect and key of its fault: the values that are drawn; the first is the sweep's."""
    impossible: tuple[Impossible, ...] = ()
    offered: Needs = frozenset(Capability)
    """What the provider can do."""
    acts: tuple[str, ...] = ()
    """Acts that are drawn in place of faults; such a document has no cells."""

    @cached_property
    def states(self) -> tuple[str, ...]:
        """Every state that a way visits, in the order of the ways that visit most."""
        longest_first = sorted(self.ways, key=lambda way: -len(way.states))
        return tuple(dict.fromkeys(state for way in longest_first for state in way.states))

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell that can be, sorted."""
        return tuple(sorted(cell for cell, why in self.answers.items() if why is None))

    @cached_property
    def answers(self) -> Mapping[Cell, str | None]:
        """Every cell that the words of the file make, and why it cannot be; None: it can."""
        made = (Cell(effect, state, aim) for effect in kinds() for state in self.states for aim in self.aims(effect))
        return {cell: self._why_not(cell) for cell in made}

    def cannot(self, effect: str, state: str, aim: str) -> str | None:
        """Why a line cannot have this; what the document rules out by its effect alone is not drawn, and can be."""
        cell = Cell(effect, state, aim)
        rules = (rule for rule in self.impossible if rule.states or rule.aims)
        return next((rule.because for rule in rules if rule.covers(cell)), None)

    def left_out(self) -> Mapping[str, str]:
        """Effects of which no cell is made at all, each with the reason."""
        known = {each.effect for each in self.answers}
        return {effect: self._unspelled(effect) for effect in kinds() if effect not in known}

    def aims(self, effect: str) -> tuple[str, ...]:
        """What a fault of this kind is aimed at, by the fields of its class."""
        names = _aims_of(effect)
        if self._open_keys(effect):
            return ()
        if names == ("target",):
            return self.nodes
        if names == ("source", "destination"):
            return tuple(ARROW.join(each) for each in self.links)
        return tuple(BESIDE.join(each) for each in self.groups) if names == ("groups",) else ()

    def spelled(self, cell: Cell, values: Mapping[str, object] | None = None) -> dict[str, Any]:
        """The fault of a cell as data, with these values of its other keys; without any: the sweep's."""
        chosen = {key: some[0] for key, some in self._values(cell.effect).items()} if values is None else dict(values)
        names = _aims_of(cell.effect)
        aim: dict[str, object] = {"target": cell.aim}
        if names == ("source", "destination"):
            aim = dict(zip(names, cell.aim.split(ARROW), strict=True))
        elif names == ("groups",):
            aim = {"groups": cell.aim.split(BESIDE)}
        return {"kind": cell.effect, **aim, **chosen}

    def choices(self, effect: str) -> Mapping[str, Sequence[object]]:
        """The values of each key of an effect that may be drawn."""
        return self._values(effect)

    @property
    def digest(self) -> str:
        """SHA-256 of the cells, ways and topologies: two nights with the same one were drawn from the same space."""
        whole = {
            "document": self.document,
            "topologies": [each.name for each in self.topologies],
            "ways": [[each.starts_at, each.walk, each.states, each.seconds] for each in self.ways],
            "cells": [[each.effect, each.state, each.aim, self.spelled(each)] for each in self.cells],
            "values": {effect: dict(self._values(effect)) for effect in sorted(self.values)},
            **({"acts": self.acts} if self.acts else {}),
        }
        return hashlib.sha256(json.dumps(whole, sort_keys=True, default=list).encode()).hexdigest()

    def _values(self, effect: str) -> Mapping[str, Sequence[object]]:
        return self.values.get(effect, {})

    def _open_keys(self, effect: str) -> list[str]:
        """Keys that a fault must have, and neither an aim nor the file gives."""
        needed = [each.name for each, _ in keys_of(kinds()[effect]) if each.default is MISSING]
        return [each for each in needed if each not in _aims_of(effect) and each not in self._values(effect)]

    def _unspelled(self, effect: str) -> str:
        for rule in self.impossible:
            if effect in rule.effects and not rule.states and not rule.aims:
                return rule.because
        keys = self._open_keys(effect)
        return f"no values of {', '.join(keys)} are declared" if keys else "no aim is declared that it has"

    def _why_not(self, cell: Cell) -> str | None:
        kind = kinds()[cell.effect]
        if lacking := sorted(frozenset(kind.needs) - self.offered):
            return f"the provider does not offer {', '.join(lacking)}"
        if not any(cell.state in way.states for way in self.ways):
            return "no way leads there"
        for rule in self.impossible:
            if rule.covers(cell):
                return rule.because
        if kind is ExpireSession and cell.aim in EVERY:
            return "a session is of one node"
        if Capability.LOG_DIRS in kind.needs and not any(_has_disks(each) for each in self.topologies):
            return "no topology has brokers with two log directories"
        return self._unparsed(cell)

    def _unparsed(self, cell: Cell) -> str | None:
        """Why the language refuses the cell's fault; a file of a document may declare what no fault takes."""
        mistakes: list[Any] = []
        fault_of("fault", self.spelled(cell), (), mistakes)
        return "; ".join(map(str, mistakes)) or None


def aim_of(fault: Mapping[str, Any]) -> str:
    """What a fault, as data, is aimed at, as cells have it."""
    if "source" in fault:
        return f"{fault['source']}{ARROW}{fault['destination']}"
    named = (fault.get(key) for key in ("target", "point", "path"))
    return BESIDE.join(fault["groups"]) if "groups" in fault else str(next((each for each in named if each), ""))


def _aims_of(effect: str) -> tuple[str, ...]:
    """The keys by which a fault is aimed at nodes."""
    return tuple(each.name for each, hint in keys_of(kinds()[effect]) if hint in (Target, tuple[Target, ...]))


def _has_disks(topology: Topology) -> bool:
    return any(node.log_dirs > 1 for node in topology.nodes if Role.BROKER in node.role.parts)
