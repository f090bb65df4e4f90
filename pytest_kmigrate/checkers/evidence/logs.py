"""Logs as evidence: what nodes say of their own state. No claim is judged by them, as each release words its own."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from pytest_kmigrate.checkers.controllers.lives import plays, roles
from pytest_kmigrate.checkers.evidence.moments import healed_ns
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan
from pytest_kmigrate.model.history import History

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d),(\d{3}) ")
"""How lines begin; from 4.0 on, a T is between date and time."""
_CLOCK_SET = re.compile(r"^clock\(.*, ([+-]\d+) s\)$")
ZONES_NS = 15 * 60 * 1_000_000_000
"""Time zones are so far apart: a node logs the time of its own, which no event has."""
READ_WITHIN_NS = 5_000_000_000
"""A node reads its clock anew so soon after it was set, or set right."""
_MS = 1_000_000


def log_of(history: History, node: str) -> str:
    """What a node logged in all its lives; nothing where its log was not recorded."""
    return history.logs.get(node, "")


def logs_of(history: History, role: str) -> Iterator[tuple[str, str]]:
    """Every node that plays a role, with its log."""
    yield from ((node, log_of(history, node)) for node, its_role in roles(history).items() if plays(its_role, role))


def after_last(pattern: str, log: str) -> str:
    """The part of a log behind the last match; all of it where there is none."""
    ends = [match.end() for match in re.finditer(pattern, log)]
    return log[ends[-1] :] if ends else log


def line_to(log: str, at: int) -> str:
    """The line in which something stands, up to there."""
    return log[log.rfind("\n", 0, at) + 1 : at]


def was_logged_between(history: History, line: str, since_ns: int, to_ns: int, node: str) -> bool:
    """Whether a line has a time between two instants of the run, in some time zone.

    Not where the line, or the run, has no time; nor where the two are as far apart as time zones are. ``node``: the one
    that logged it; while a fault has set its clock, the line has the time of that clock.
    """
    found = _TIME.match(line)
    try:
        began = datetime.fromisoformat(history.header.started_at)
    except ValueError:
        return False
    if found is None or to_ns - since_ns >= ZONES_NS:
        return False
    logged = datetime.fromisoformat(f"{found[1]} {found[2]}.{found[3]}").replace(tzinfo=UTC)
    at_ns = round((logged - began).total_seconds() * 1000) * _MS
    spans = _by_its_clock(history, node, since_ns, to_ns)
    return any((at_ns - ahead_ns - from_ns) % ZONES_NS <= until_ns - from_ns for ahead_ns, from_ns, until_ns in spans)


def _by_its_clock(history: History, node: str, since_ns: int, to_ns: int) -> list[tuple[int, int, int]]:
    """By how much a node's clock was ahead, and from when to when of this time: faults set it."""
    healed = healed_ns(history)
    applied_ns = {each.what.fault_id: each.at_ns for each in history.of(FaultApplied) if node in each.what.targets}
    found, right = list[tuple[int, int, int]](), [(since_ns, to_ns)]
    for began in history.of(FaultBegan):
        fault, seconds = began.what.fault_id, _CLOCK_SET.search(began.what.fault)
        if seconds and fault in applied_ns:
            until_ns = healed.get(fault, to_ns + READ_WITHIN_NS)
            found.append((int(seconds[1]) * 1000 * _MS, max(since_ns, began.at_ns), min(to_ns, until_ns)))
            right = _outside(right, applied_ns[fault] + READ_WITHIN_NS, until_ns - READ_WITHIN_NS)
    return [each for each in [*((0, *span) for span in right), *found] if each[1] <= each[2]]


def _outside(spans: list[tuple[int, int]], from_ns: int, to_ns: int) -> list[tuple[int, int]]:
    """What is left of some times without another one."""
    return [part for begin, end in spans for part in ((begin, min(end, from_ns)), (max(begin, to_ns), end))]
