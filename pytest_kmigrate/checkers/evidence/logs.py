"""Logs as evidence: what nodes say of their own state. No claim is judged by them, as each release words its own."""

import re
from collections.abc import Iterator

from pytest_kmigrate.checkers.controllers.lives import plays, roles
from pytest_kmigrate.model.history import History


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
