"""Reads schedules from lines of JSON: every mistake of a line at once, each with its key and what was expected."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

from pytest_kmigrate.faults.schedules.aims import misplaced
from pytest_kmigrate.faults.schedules.contradictions import Walkable, contradictions
from pytest_kmigrate.faults.schedules.header import NIGHT, damages, header_in
from pytest_kmigrate.faults.schedules.lines import THE_LINE, json_of, lines_in, object_in, spread_over
from pytest_kmigrate.faults.schedules.schedule import SCHEMA, Begin, Happening, Moment, Release, Schedule
from pytest_kmigrate.faults.schedules.spelling import Act, Mistake, fault_of, refuse_others, wrong
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.topology.loading import find, load, shipped

MOST_HAPPENINGS = 8
LONGEST_S = 600
MOST_OPERATIONS = 100_000
LARGEST_ID = 99
LARGEST_SEED = 10**18 - 1
MOST_CHANGES_PER_S = 100
KEYS = ("schema", "document", "topology", "starts_at", "walk", "changes_per_s", "seed", "happenings")
_SPANNED = re.compile(r"(the line|document|topology|walk|starts_at|happenings)\b")
"""Keys that rules over several keys rest on: if one of them is wrong, these rules would report the same again."""


@dataclass(frozen=True)
class Night:
    """Schedules in the order of their lines, and what the first line says of where they come from."""

    schedules: tuple[Schedule, ...]
    header: Mapping[str, object]


def read_night(path: Path, walkable: Callable[[str], Walkable]) -> Night:
    """The schedules of a file; WrongUseError with every mistake of every line, by file, line and key."""
    lines = lines_in(path)
    header, first, found = header_in(lines)
    mistakes = [(1, each) for each in found]
    schedules: dict[int, Schedule] = {}
    for number, line in enumerate(lines[first:], first + 1):
        found = []
        schedule = schedule_of(line, walkable, found) if line.strip() else None
        mistakes += [(number, each) for each in found]
        schedules |= {number: schedule} if schedule else {}
    if not mistakes:
        mistakes += [(1, each) for each in damages(header, lines[first:], tuple(schedules.values()))]
    if not mistakes:
        mistakes += _repeated(schedules)
    if mistakes:
        raise WrongUseError("\n".join(f"{path}: line {number}: {each}" for number, each in _joined(lines, mistakes)))
    if not schedules:
        raise WrongUseError(
            f"{path}: expected at least one schedule; got none: write one, or draw a night by kmigrate chaos draw"
        )
    return Night(tuple(schedules.values()), header)


def _repeated(schedules: Mapping[int, Schedule]) -> Iterator[tuple[int, Mistake]]:
    """Lines that come twice: both are one test, which runs once and has one place in the night."""
    first: dict[str, int] = {}
    for number, each in schedules.items():
        before = first.setdefault(each.digest, number)
        if before != number:
            text = f"expected another schedule than line {before}; got the same: take it out, or change its seed"
            yield number, Mistake(THE_LINE, text)


def _joined(lines: Sequence[str], mistakes: list[tuple[int, Mistake]]) -> list[tuple[int, Mistake]]:
    """The mistakes, as one where JSON goes over several lines, as editors and guides show it."""
    begin = next((number for number, each in mistakes if each.key == THE_LINE), 0)
    over = spread_over(lines[begin - 1 :]) if begin else 0
    if over < 2:
        return mistakes
    text = f"expected a schedule as one line of JSON; got JSON over {over} lines: join them, as jq -c does"
    return [*((number, each) for number, each in mistakes if number < begin), (begin, Mistake(THE_LINE, text))]


def schedule_of(line: str, walkable: Callable[[str], Walkable], mistakes: list[Mistake]) -> Schedule | None:
    """The schedule of a line; None, and every mistake is added, if it is none."""
    found: list[Mistake] = []
    schedule = _schedule(line, walkable, found)
    mistakes += found
    return None if found else schedule


def _schedule(line: str, walkable: Callable[[str], Walkable], mistakes: list[Mistake]) -> Schedule | None:
    data = json_of(line, mistakes)
    data = None if mistakes and data is None else object_in(data, mistakes)
    if data is None:
        return None
    if NIGHT in data:
        mistakes.append(
            Mistake(THE_LINE, "expected a schedule; got the first line of a night, which begins a file of its own")
        )
        return None
    refuse_others("", data, KEYS, mistakes)
    if type(data.get("schema")) is not int or data["schema"] != SCHEMA:
        mistakes.append(wrong("schema", f"{SCHEMA}", data.get("schema")))
    there = _document(data.get("document"), walkable, mistakes)
    topology = _topology(data.get("topology"), mistakes)
    nodes = frozenset(node.name for node in topology.nodes) if topology else frozenset()
    walk, starts_at = _walk(data, there, mistakes) if there.is_known else ((), None)
    schedule = Schedule(
        document=there.document,
        topology=str(data.get("topology")),
        happenings=tuple(_happenings(data.get("happenings"), nodes, there, mistakes)),
        walk=walk,
        starts_at=starts_at,
        changes_per_s=_changes(data, there, mistakes),
        seed=_whole("seed", data.get("seed", 1), LARGEST_SEED, mistakes),
    )
    if topology is not None and not any(_SPANNED.match(each.key) for each in mistakes):
        mistakes += [*contradictions(schedule, there), *misplaced(schedule, topology, there)]
    return schedule


def _changes(data: Mapping[str, Any], there: Walkable, mistakes: list[Mistake]) -> float:
    if not there.acts:
        return _number("changes_per_s", data.get("changes_per_s", 2), MOST_CHANGES_PER_S, mistakes)
    if given := data.get("changes_per_s", 0):
        mistakes.append(wrong("changes_per_s", "0, as acts change what they change", given))
    return 0


def _document(given: object, walkable: Callable[[str], Walkable], mistakes: list[Mistake]) -> Walkable:
    if not isinstance(given, str):
        mistakes.append(wrong("document", "the name of a document, such as kip-866", given))
        return Walkable(str(given), is_known=False)
    try:
        return walkable(given)
    except WrongUseError as error:
        mistakes.append(Mistake("document", str(error).removeprefix("profile: ")))
        return Walkable(given, is_known=False)


def _topology(given: object, mistakes: list[Mistake]) -> Topology | None:
    """The topology of this name."""
    if not isinstance(given, str):
        mistakes.append(wrong("topology", "the name of a shipped topology, or a file", given, shipped()))
        return None
    try:
        return load(find(given))
    except WrongUseError as error:
        mistakes.append(Mistake("topology", str(error)))
        return None


def _walk(data: Mapping[str, Any], there: Walkable, mistakes: list[Mistake]) -> tuple[tuple[str, ...], str | None]:
    walk, starts_at = data.get("walk", []), data.get("starts_at")
    before = len(mistakes)
    if not isinstance(walk, list) or any(each not in there.walk for each in walk):
        known = f"a list of {', '.join(there.walk)}" if there.walk else f"[], as {there.document} walks through nothing"
        mistakes.append(wrong("walk", known, walk))
    if starts_at is not None and starts_at not in there.starts:
        known = f"{', '.join(there.starts)}, or null" if there.starts else "null"
        mistakes.append(wrong("starts_at", known, starts_at, there.starts))
    if len(mistakes) > before:
        return (), None
    places = [there.states.index(each) for each in ([starts_at] if starts_at else []) + walk if each in there.states]
    if places != sorted(places) or len(set(walk)) < len(walk):
        mistakes.append(
            wrong("walk", f"the states in their order ({', '.join(there.states)}), each once, from starts_at on", walk)
        )
    return tuple(walk), starts_at


def _happenings(given: object, nodes: frozenset[str], there: Walkable, mistakes: list[Mistake]) -> Iterator[Happening]:
    if not isinstance(given, list) or not 0 < len(given) <= MOST_HAPPENINGS:
        size = len(given) if isinstance(given, list) else given
        mistakes.append(wrong("happenings", f"a list of 1 to {MOST_HAPPENINGS}", size))
        return
    for number, each in enumerate(given):
        key = f"happenings[{number}]"
        if there.acts or (isinstance(each, dict) and "act" in each):
            yield from _act(key, each, there, mistakes)
            continue
        table = _table(key, each, Happening, mistakes)
        if not isinstance(each, dict):
            continue
        identity = _whole(f"{key}.id", table.get("id"), LARGEST_ID, mistakes)
        fault = fault_of(f"{key}.fault", table.get("fault"), nodes, mistakes, there.crash_points)
        begin = _begin(f"{key}.begin", table.get("begin", {}), mistakes)
        release = _release(f"{key}.release", table.get("release", {}), mistakes)
        if fault is not None:
            yield Happening(identity, fault, begin, release)


def _act(key: str, given: object, there: Walkable, mistakes: list[Mistake]) -> Iterator[Happening]:
    """An act, which begins when the one before is over; documents have acts or faults."""
    if not isinstance(given, dict):
        mistakes.append(wrong(key, "an object of id, act", given))
        return
    if not there.acts:
        mistakes.append(wrong(f"{key}.act", f"none, as {there.document} has faults", given["act"]))
        return
    refuse_others(f"{key}.", given, ("id", "act"), mistakes)
    identity, act = _whole(f"{key}.id", given.get("id"), LARGEST_ID, mistakes), given.get("act")
    if isinstance(act, str) and act in there.acts:
        yield Happening(identity, Act(act))
    else:
        mistakes.append(wrong(f"{key}.act", f"one of {', '.join(there.acts)}", act, there.acts))


def _begin(key: str, given: object, mistakes: list[Mistake]) -> Begin:
    table = _table(key, given, Begin, mistakes)
    state, of, moment = table.get("state"), table.get("of"), table.get("when", Begin.when)
    if state is not None and not isinstance(state, str):
        mistakes.append(wrong(f"{key}.state", "a state of the walk, or none", state))
    if moment not in get_args(Moment):
        mistakes.append(wrong(f"{key}.when", f"one of {', '.join(get_args(Moment))}", moment, get_args(Moment)))
    number = None if of is None else _whole(f"{key}.of", of, LARGEST_ID, mistakes)
    after = _whole(f"{key}.after_operations", table.get("after_operations", 0), MOST_OPERATIONS, mistakes)
    at = table.get("at")
    if at is not None and not isinstance(at, str):
        mistakes.append(wrong(f"{key}.at", "the name of a crash point, or none", at))
        at = None
    return Begin(state, after, number, moment, at)


def _release(key: str, given: object, mistakes: list[Mistake]) -> Release:
    table = _table(key, given, Release, mistakes)
    across = table.get("across", False)
    if not isinstance(across, bool):
        mistakes.append(wrong(f"{key}.across", "true or false", across))
    operations = _whole(f"{key}.operations", table.get("operations", Release.operations), MOST_OPERATIONS, mistakes)
    at_most_s = _number(f"{key}.at_most_s", table.get("at_most_s", Release.at_most_s), LONGEST_S, mistakes)
    if at_most_s == 0 and table.get("at_most_s") == 0:
        mistakes.append(wrong(f"{key}.at_most_s", "more than 0", at_most_s))
    return Release(operations, at_most_s, bool(across))


def _table(key: str, given: object, table: type[Any], mistakes: list[Mistake]) -> dict[str, Any]:
    """An object with keys of a dataclass; an empty one, with the mistake added, for anything else."""
    names = [each.name for each in fields(table)]
    if not isinstance(given, dict):
        mistakes.append(wrong(key, f"an object of {', '.join(names)}", given))
        return {}
    refuse_others(f"{key}.", given, names, mistakes)
    return given


def _whole(key: str, given: object, most: int, mistakes: list[Mistake]) -> int:
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= most:
        return given
    mistakes.append(wrong(key, f"a whole number from 0 to {most}", given))
    return 0


def _number(key: str, given: object, most: float, mistakes: list[Mistake]) -> float:
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= most:
        return int(given) if given == int(given) else given
    mistakes.append(wrong(key, f"a number from 0 to {most:g}", given))
    return 0
