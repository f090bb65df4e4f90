"""The reference in docs/reference/ describes the code as it is."""

import pytest

import pytest_kmigrate
from pytest_kmigrate.plugin import fixtures as of_plugin
from tests.reference_docs import FOLDER, pages, render, type_of


@pytest.mark.parametrize("name", pages())
def test_the_generated_tables_are_those_of_the_code(name: str) -> None:
    """Options, fixtures, markers, faults, targets, triggers, checks and tables, with their prose."""
    assert render(name) == (FOLDER / name).read_text(), f"docs/reference/{name} is stale: run make docs"


def test_the_types_of_the_plugins_fixtures_are_public() -> None:
    """A test can be annotated with them, and an editor completes what they have."""
    found = {type_of(each) for each in vars(of_plugin).values() if hasattr(each, "_fixture_function_marker")}
    assert len(found) == 8
    assert found <= set(pytest_kmigrate.__all__)
