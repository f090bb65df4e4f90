"""docs/run-folder.md describes what is written today."""

from dataclasses import fields

import pytest

from pytest_kmigrate.model.history import RunHeader, Sample, ZnodeChange
from pytest_kmigrate.model.verdict import About, Verdict, Violation
from tests.run_folder_docs import DOCUMENT, render


def test_the_tables_are_those_of_the_code() -> None:
    """Kinds of events and columns of operations, with their prose."""
    assert render() == DOCUMENT.read_text(), "docs/run-folder.md is stale: run make docs"


@pytest.mark.parametrize("written", [RunHeader, Sample, ZnodeChange, Verdict, Violation, About])
def test_every_key_of_the_other_files_is_named(written: type) -> None:
    """Their prose is written by hand, so a new key shows here."""
    document = DOCUMENT.read_text()
    keys = [each.name for each in fields(written) if each.repr]  # the others are never written
    assert [each for each in keys if f"`{each}`" not in document] == []
