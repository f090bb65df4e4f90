"""A document one can certify against: what a folder in ``documents/`` declares, and others use by this one name."""

from collections.abc import Callable
from dataclasses import dataclass

from pytest_kmigrate.model.checks import AnyChecker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict


@dataclass(frozen=True)
class Diagnosis:
    """A known bug, and how it is recognized behind a violation that was judged already.

    ``explains(history, verdict)`` looks for the bug's own evidence (a state, metric, request or znode that this bug
    leaves and no other does); a symptom that several defects share is none.
    """

    bug_id: str
    explains: Callable[[History, Verdict], bool]


@dataclass(frozen=True)
class Document:
    """One document; its requirements and known bugs are data in its folder (``requirements.toml``, ...)."""

    id: str
    """The profile's name, such as ``kip-866``."""
    title: str
    checks: tuple[AnyChecker, ...] = ()
    """Its own checkers, and general ones that it binds to its requirements by ``speaking``."""
    diagnoses: tuple[Diagnosis, ...] = ()
