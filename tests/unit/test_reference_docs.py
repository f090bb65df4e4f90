"""The reference in docs/reference/ describes the code as it is."""

import pytest

from tests.reference_docs import FOLDER, pages, render


@pytest.mark.parametrize("name", pages())
def test_the_generated_tables_are_those_of_the_code(name: str) -> None:
    """Options, fixtures, markers, faults, targets, triggers, checks and tables, with their prose."""
    assert render(name) == (FOLDER / name).read_text(), f"docs/reference/{name} is stale: run make docs"
