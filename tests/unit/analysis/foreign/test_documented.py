"""The page on other tools' results names all that the readers know."""

import re
from pathlib import Path

import pytest

from pytest_kmigrate.analysis.foreign import junit_cases, labels, other_formats
from tests.unit.analysis.foreign.test_junit_dialects import DIALECTS

PAGE = (Path(__file__).parents[4] / "docs" / "how-to" / "other-tools-results.md").read_text()


@pytest.mark.parametrize("tool", [tool for dialect in DIALECTS for tool in dialect.tool.split(", ")])
def test_every_tool_is_listed(tool: str) -> None:
    """Each dialect that is tested, in the table of tools."""
    assert tool in PAGE


@pytest.mark.parametrize("word", sorted(junit_cases._WORDS))
def test_every_word_is_listed(word: str) -> None:
    """With what it comes to."""
    assert f"`{word}`" in PAGE


@pytest.mark.parametrize("tag", [*junit_cases.SKIPS, *junit_cases.UNDECIDED, "failure", "error"])
def test_every_element_is_listed(tag: str) -> None:
    """As it is written."""
    assert f"`<{tag}>`" in PAGE


@pytest.mark.parametrize(
    "sort", sorted({*other_formats._NO_RESULTS.values(), *other_formats._RESULTS_NOT_READ.values()})
)
def test_every_other_format_is_listed(sort: str) -> None:
    """Those that hold no results, and those that are not read."""
    name = re.split(r";| \d", sort)[0]
    assert name in PAGE


@pytest.mark.parametrize("name", labels.OWN)
def test_every_condition_is_listed(name: str) -> None:
    """Those that a label may fill."""
    assert f"`{name}`" in PAGE
