"""Every check a test may ask for, by its checker's name: ``checks.no_acked_record_lost()``."""

from pytest_kmigrate.checkers.registry import checker_of, general_checkers
from pytest_kmigrate.documents import documents
from pytest_kmigrate.model.checks import AnyChecker, CheckersByName, by_name
from pytest_kmigrate.model.errors import WrongUseError


class UnknownCheckError(WrongUseError, AttributeError):
    """No check has this name; pytest shows one sentence, and ``hasattr`` works as for any module."""


def all_checkers() -> CheckersByName:
    """Those that belong to no document, and those of every document."""
    return by_name([*general_checkers(), *(each for document in documents() for each in document.checks)])


def __getattr__(name: str) -> AnyChecker:
    """The checker of that name; calling it makes the check."""
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return checker_of(name, all_checkers())
    except WrongUseError as error:
        raise UnknownCheckError(str(error)) from None


def __dir__() -> list[str]:
    return sorted(all_checkers())
