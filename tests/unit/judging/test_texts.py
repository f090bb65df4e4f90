"""The page of what changed between two texts of a document."""

from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import requirements
from pytest_kmigrate.judging import matrix
from pytest_kmigrate.judging.texts import page
from pytest_kmigrate.model.errors import WrongUseError

DRAFT = "kip-866-draft"
PAGE = Path(__file__).parents[3] / "docs" / "conformance" / f"{DRAFT}.md"


def test_the_page_is_that_of_the_catalogue() -> None:
    """It changes with the requirements of both texts."""
    assert PAGE.read_text() == page(DRAFT) + "\n", "docs/conformance/ is stale: run make docs"


def test_each_requirement_is_changed_or_repeated() -> None:
    """Once, and what is repeated is only linked."""
    changed, _, same = page(DRAFT).partition("## The same in both")
    for row in requirements(DRAFT):
        assert (f"| `{row.id}` |" in changed) is not bool(row.same_as)
        assert (f"| `{row.id}` |" in same) is bool(row.same_as)


def test_a_document_that_is_in_force_has_no_such_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And one that was replaced has no page of releases."""
    with pytest.raises(WrongUseError, match="expected a document that another one replaced"):
        page("kip-866")
    assert matrix.main(DRAFT, str(tmp_path / "page.md"), "3.9.1=nowhere") == 2
    assert "expected a document that no other one replaced" in capsys.readouterr().err
