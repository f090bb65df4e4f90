"""Logs as evidence: what nodes say of their own state. No claim is judged by them, as each release words its own."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from pytest_kmigrate.checkers.controllers.lives import plays, roles
from pytest_kmigrate.model.history import History

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d),(\d{3}) ")
"""How lines begin; from 4.0 on, a T is between date and time."""
ZONES_NS = 15 * 60 * 1_000_000_000
"""Time zones are so far apart: a node logs the time of its own, which no event has."""
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


def was_logged_between(history: History, line: str, since_ns: int, to_ns: int) -> bool:
    """Whether a line has a time between two instants of the run, in some time zone.

    Not where the line, or the run, has no time; nor where the two are as far apart as time zones are.
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
    return (at_ns - since_ns) % ZONES_NS <= to_ns - since_ns
