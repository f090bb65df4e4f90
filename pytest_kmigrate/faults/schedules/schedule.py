"""A schedule: a walk through the states of a document, and what happens to the cluster on the way."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from pytest_kmigrate.faults.effect import Fault
from pytest_kmigrate.faults.schedules.spelling import Act, kind_of, spelled
from pytest_kmigrate.model.capabilities import Capability, Needs

SCHEMA = 1
"""Number of the format of a line."""

Moment = Literal["begun", "witnessed", "healed"]


@dataclass(frozen=True)
class Begin:
    """When a happening begins: the walk has come to ``state``, then so many further writes were acknowledged.

    With ``of`` it waits for another happening, too: until that one has begun, was witnessed, or is healed. With ``at``
    it waits for a node that comes to a crash point, and the walk goes on meanwhile; ``after_operations`` counts from
    there.
    """

    state: str | None = None
    """None: where the run begins."""
    after_operations: int = 0
    of: int | None = None
    when: Moment = "witnessed"
    at: str | None = None
    """The name of a crash point of the document; the node is held there until the fault is in force."""


@dataclass(frozen=True)
class Release:
    """When a happening ends: after so many acknowledged writes, once it was seen to bite; after ``at_most_s`` s anyway.

    ``across``: it stays in force until the walk has come to its next state, and only then these count.
    """

    operations: int = 300
    at_most_s: float = 20
    across: bool = False


@dataclass(frozen=True)
class Happening:
    """One fault of a schedule, when it begins and when it is released; or an act, which follows the one before."""

    id: int
    fault: Fault | Act
    begin: Begin = Begin()
    release: Release = Release()

    def __str__(self) -> str:
        return f"{self.id}: {self.fault}"


@dataclass(frozen=True)
class Schedule:
    """What one run walks, and what happens meanwhile; a line of a night."""

    document: str
    topology: str
    happenings: tuple[Happening, ...]
    walk: tuple[str, ...] = ()
    """Values of the state ``phase``, in order; none: the run stays where it begins."""
    starts_at: str | None = None
    """The value from whose checkpoint it begins; None: a cluster that was just started."""
    changes_per_s: float = 2
    """Changes of metadata meanwhile; 0: none."""
    seed: int = 1

    @property
    def states(self) -> tuple[str, ...]:
        """Where it begins, if that is a state, and what the walk comes to; each once, in order."""
        return tuple(dict.fromkeys(each for each in (self.starts_at, *self.walk) if each))

    @property
    def needs(self) -> Needs:
        """What the provider must be able to do."""
        traffic = {Capability.TRAFFIC} | ({Capability.CHANGE} if self.changes_per_s else set())
        points = {Capability.CRASH_POINTS for each in self.happenings if each.begin.at}
        return frozenset(traffic | points).union(*(each.fault.needs for each in self.happenings))

    @property
    def digest(self) -> str:
        """SHA-256 of its spelling, as hexadecimal digits."""
        return hashlib.sha256(line_of(self).encode()).hexdigest()

    @property
    def name(self) -> str:
        """How a test of it is called: where it begins, its effects, and the beginning of its digest."""
        effects = "-".join(kind_of(each.fault) for each in self.happenings)
        return f"{self.starts_at or 'START'}-{effects}{end_of_name(data_of(self))}"

    @property
    def longest_s(self) -> float:
        """How long its faults are in force at the most, one after the other; seconds."""
        return sum(each.release.at_most_s for each in self.happenings)

    def without(self, *ids: int) -> "Schedule":
        """Return it with these happenings left out; what waited for one of them waits for its state alone."""
        left = [each for each in self.happenings if each.id not in ids]
        return replace(self, happenings=tuple(_freed(each) if each.begin.of in ids else each for each in left))

    def named(self, number: int) -> Happening | None:
        """Return the happening of this id."""
        return next((each for each in self.happenings if each.id == number), None)


def data_of(schedule: Schedule) -> dict[str, Any]:
    """The schedule as JSON has it; what is as by default is left out of a begin, a release and a fault."""
    return {
        "schema": SCHEMA,
        "document": schedule.document,
        "topology": schedule.topology,
        "starts_at": schedule.starts_at,
        "walk": list(schedule.walk),
        "changes_per_s": schedule.changes_per_s,
        "seed": schedule.seed,
        "happenings": [_data_of(each) for each in schedule.happenings],
    }


def line_of(schedule: Schedule) -> str:
    """The schedule as one line: the same text for the same schedule, everywhere."""
    return _spelled(data_of(schedule))


def end_of_name(data: Mapping[str, object]) -> str:
    """How the name of a test of a schedule ends, by the schedule as data: with the beginning of its digest."""
    return f"-{hashlib.sha256(_spelled(data).encode()).hexdigest()[:8]}"


def _spelled(data: Mapping[str, object]) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def lines_of(schedules: Sequence[Schedule], header: Mapping[str, object] | None = None) -> str:
    """A night: a first line that says where it comes from, if given, and a line a schedule."""
    first = [json.dumps(header, sort_keys=True, separators=(",", ":"))] if header else []
    return "\n".join([*first, *map(line_of, schedules)]) + "\n"


def _data_of(happening: Happening) -> dict[str, Any]:
    if isinstance(happening.fault, Act):
        return {"id": happening.id, "act": happening.fault.name}
    return {
        "id": happening.id,
        "fault": spelled(happening.fault),
        "begin": _besides(asdict(happening.begin), asdict(Begin())),
        "release": _besides(asdict(happening.release), asdict(Release())),
    }


def _freed(happening: Happening) -> Happening:
    """The happening, waiting for its state alone."""
    return replace(happening, begin=replace(happening.begin, of=None, when=Begin.when))


def _besides(values: Mapping[str, object], defaults: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value != defaults[key]}
