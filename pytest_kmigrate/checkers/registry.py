"""Finds checkers and diagnoses: those of a package's modules, so that a new one is known by being there."""

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from pytest_kmigrate.model.checks import AnyChecker, Checker, CheckersByName
from pytest_kmigrate.model.document import Diagnosis
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.spelling import did_you_mean

_GENERAL = "pytest_kmigrate.checkers"
_WITHOUT = (f"{_GENERAL}.kernels.", f"{_GENERAL}.evidence.")
"""What checkers are made of; there are none in it."""


@cache
def checkers_in(package: str) -> tuple[AnyChecker, ...]:
    """The checkers that the modules below a package define, by module and in their order in it."""
    found = ((module, each) for module in _modules(package) for each in vars(module).values())
    return tuple(
        each for module, each in found if isinstance(each, Checker) and each.judge.__module__ == module.__name__
    )


@cache
def diagnoses_in(package: str) -> tuple[Diagnosis, ...]:
    """The diagnoses that the modules below a package define, by module and in their order in it."""
    found = ((module, each) for module in _modules(package) for each in vars(module).values())
    return tuple(
        each for module, each in found if isinstance(each, Diagnosis) and each.explains.__module__ == module.__name__
    )


def _modules(package: str) -> list[ModuleType]:
    found = importlib.import_module(package)
    names = [module.name for module in pkgutil.walk_packages(found.__path__, f"{package}.")]
    return [importlib.import_module(name) for name in names if not name.startswith(_WITHOUT)]


def general_checkers() -> tuple[AnyChecker, ...]:
    """The checkers that belong to no document."""
    return checkers_in(_GENERAL)


def checker_of(name: str, known: CheckersByName) -> AnyChecker:
    """The checker of that name; WrongUseError with the nearest name if there is none."""
    if name in known:
        return known[name]
    advice = did_you_mean(name, known, f"; there are: {', '.join(known)}")
    raise WrongUseError(f"check: expected the name of a checker, got {name!r}{advice}")
