"""A hint where a fixture is missing that a conftest would bring by one line."""

import importlib
from collections.abc import Iterator

import pytest

from pytest_kmigrate.recording.identity import PACKAGE, SUITES


def add_hint(report: pytest.TestReport, error: pytest.FixtureLookupError) -> None:
    """Name the line for the conftest, if a module of fixtures here has the one that was not found."""
    missing = error.argname or ""
    origin = next((module for module in _modules() if missing in importlib.import_module(module).__all__), None)
    text = getattr(report.longrepr, "errorstring", None)
    if origin is not None and text is not None and "not found" in text:
        first, *rest = text.split("\n")
        hint = f" write in the conftest.py beside this test: from {origin} import *"
        report.longrepr.errorstring = "\n".join([first, hint, *rest])  # type: ignore[union-attr]  # it has one


def _modules() -> Iterator[str]:
    """The modules of fixtures, the general ones first."""
    yield f"{PACKAGE.name}.fixtures"
    ours = f"{PACKAGE.name}.{SUITES.name}"
    yield from sorted((f"{ours}.{each.parent.name}.fixtures" for each in SUITES.glob("*/fixtures.py")), key=_by_name)


def _by_name(module: str) -> tuple[bool, str]:
    """KIP-866 before the others: most tests migrate."""
    return ".kip_866." not in module, module
