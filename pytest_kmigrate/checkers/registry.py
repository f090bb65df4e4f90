"""Finds checkers: those of a package's modules, so that a new one is known by being there."""

import difflib
import importlib
import pkgutil
from functools import cache

from pytest_kmigrate.model.checks import AnyChecker, Checker, CheckersByName
from pytest_kmigrate.model.errors import WrongUseError

_GENERAL = "pytest_kmigrate.checkers"
_WITHOUT = (f"{_GENERAL}.kernels.", f"{_GENERAL}.evidence.")
"""What checkers are made of; there are none in it."""


@cache
def checkers_in(package: str) -> tuple[AnyChecker, ...]:
    """The checkers that the modules below a package define, by module and in their order in it."""
    found = importlib.import_module(package)
    names = [module.name for module in pkgutil.walk_packages(found.__path__, f"{package}.")]
    modules = [importlib.import_module(name) for name in names if not name.startswith(_WITHOUT)]
    return tuple(
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, Checker) and each.judge.__module__ == module.__name__
    )


def general_checkers() -> tuple[AnyChecker, ...]:
    """The checkers that belong to no document."""
    return checkers_in(_GENERAL)


def checker_of(name: str, known: CheckersByName) -> AnyChecker:
    """The checker of that name; WrongUseError with the nearest name if there is none."""
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    advice = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
    raise WrongUseError(f"check: expected the name of a checker, got {name!r}; {advice}")
