"""Requirements that checks and expectations name are those of their document."""

import ast
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import requirement
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


JUDGING = ("expect", "expect_to_stay", "expect_end", "refused")


def nameless(file: Path, owned: set[str]) -> list[str]:
    """The expectations that judge without naming what: of tests with several claims, or with one that a check owns."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = {each.name: each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    tests = [each for name, each in functions.items() if name.startswith("test_") and is_unclear(each, owned)]
    reached = {id(each): each for test in tests for each in calls_from(test, functions)}
    return [f"{file.name}:{each.lineno}" for each in reached.values() if judges_what_it_does_not_name(each)]


def is_unclear(test: ast.FunctionDef, owned: set[str]) -> bool:
    """Whether an expectation of the test that names no requirement may be about several, or one that a check owns."""
    claims = claims_of(test)
    return len(claims) > 1 or any(isinstance(each, ast.Constant) and each.value in owned for each in claims)


def claims_of(test: ast.FunctionDef) -> list[ast.expr]:
    """The requirements in its markers."""
    marks = [each for each in test.decorator_list if isinstance(each, ast.Call)]
    return [row for mark in marks if ast.unparse(mark.func) == "pytest.mark.requirement" for row in mark.args]


def calls_from(function: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> list[ast.Call]:
    """Its own calls by a bare name, and those of the functions beside it that it calls."""
    calls = [each for each in ast.walk(function) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)]
    beside = {ast.unparse(each.func) for each in calls} & functions.keys() - {function.name}
    return [*calls, *(each for name in beside for each in calls_from(functions[name], functions))]


def judges_what_it_does_not_name(call: ast.Call) -> bool:
    """Whether it is an expectation with a kind, and without requirements."""
    given = {each.arg: each.value for each in call.keywords}
    kind = given.get("kind")
    is_asked_only = isinstance(kind, ast.Constant) and kind.value is None
    return ast.unparse(call.func) in JUDGING and "requirements" not in given and not is_asked_only


@pytest.mark.parametrize("document", WITH_CHECKS, ids=lambda each: each.id)
def test_an_expectation_names_its_own_requirement_where_another_might_be_meant(document: Document) -> None:
    """Or it would count for a requirement that it says nothing about."""
    files = sorted((SUITES / folder(document)).glob("test_*.py"))
    assert [each for file in files for each in nameless(file, declared(document))] == []


@pytest.mark.parametrize("document", WITH_CHECKS, ids=lambda each: each.id)
def test_a_document_declares_its_own_requirements(document: Document) -> None:
    """Each is in the catalogue, and of this document."""
    assert {requirement(each).profile for each in declared(document)} == {document.id}
