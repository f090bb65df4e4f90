"""Each requirement of a document that has checks is judged by one, claimed by a test, or said to be open, and why."""

import ast
import tomllib
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import Requirement, requirement, requirements
from pytest_kmigrate.documents import documents
from pytest_kmigrate.model.document import Document

HERE = Path(__file__).parent
SUITES = HERE.parent.parent.parent / "suites"
WITH_CHECKS = [each for each in documents() if each.checks]


def folder(document: Document) -> str:
    """The name of a document's folder."""
    return document.id.replace("-", "_")


def declared(document: Document) -> set[str]:
    """The requirements that its checks declare."""
    return {each for checker in document.checks for each in checker.requirements}


def claimed(document: Document) -> set[str]:
    """The requirements that tests of its suite name, in markers or expectations."""
    files = (SUITES / folder(document)).glob("test_*.py")
    constants = (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    return {node.value for node in constants if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def is_accounted_for(row: Requirement) -> bool:
    """Whether it is counted at another row, or judged as one, or no run can judge it."""
    return bool(row.covered_by or row.untestable or row.same_as)


@pytest.mark.parametrize("document", WITH_CHECKS, ids=lambda each: each.id)
def test_a_document_declares_its_own_requirements(document: Document) -> None:
    """Each is in the catalogue, and of this document."""
    assert {requirement(each).profile for each in declared(document)} == {document.id}


@pytest.mark.parametrize("document", WITH_CHECKS, ids=lambda each: each.id)
def test_each_row_is_judged_or_listed_as_open(document: Document) -> None:
    """``open-rows.toml`` lists exactly those that no check and no test speaks for yet."""
    listed = tomllib.loads((HERE / folder(document) / "open-rows.toml").read_text(encoding="utf-8"))
    spoken = declared(document) | claimed(document)
    rows = requirements(document.id)
    lacking = {row.id for row in rows if row.id not in spoken and not is_accounted_for(row)}
    assert sorted(lacking) == listed["open"]
    assert len(lacking) <= listed["at_most"]
