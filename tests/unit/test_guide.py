"""What docs/adding-a-document.md shows is a document: its files are complete, its tables are read, its tests pass."""

import ast
import importlib
import re
import runpy
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate import documents, fixtures
from pytest_kmigrate.catalogue import KNOWN_BUGS, KnownBug, Requirement
from pytest_kmigrate.catalogue.deviations import DEVIATIONS, Deviation
from pytest_kmigrate.catalogue.mistakes import MISTAKES, Mistake
from pytest_kmigrate.catalogue.places import REQUIREMENTS, Place
from pytest_kmigrate.catalogue.rows import records
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.plugin import fixtures as of_plugin
from tests.contributions import absent_files

GUIDE = (Path(__file__).parents[2] / "docs" / "adding-a-document.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
FILES = dict(found.groups() for each in BLOCKS if (found := re.match(r"# (\S+/\S+\.\w+)\n(.*)", each, re.DOTALL)))
"""The blocks that begin with the path of a file."""
DOCSTRINGS = ("pytest_kmigrate/documents/kip_999/__init__.py", "suites/kip_999/__init__.py")
TABLES: dict[str, tuple[type[Any], str]] = {
    "requirement": (Requirement, REQUIREMENTS),
    "bug": (KnownBug, KNOWN_BUGS),
    "deviation": (Deviation, DEVIATIONS),
    "mistake": (Mistake, MISTAKES),
}
MADE_BY_US = {"profile", "is_deviation"}
"""Fields that no table has."""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The files of the guide, and the document among those of this package."""
    for path, text in {**FILES, **dict.fromkeys(DOCSTRINGS, '"""KIP-999."""\n')}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    ours = str(tmp_path / "pytest_kmigrate" / "documents")
    monkeypatch.setattr(documents, "__path__", [*documents.__path__, ours])
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("pytest_kmigrate.documents.kip_999")]:
        del sys.modules[name]


def test_the_files_are_all_that_a_document_needs(written: Path) -> None:
    """Seven that are new, and one name in a table; the plan is generated."""
    assert len(FILES) + len(DOCSTRINGS) == 7
    (plan,) = absent_files(written)
    assert "plans/kip-999.json; got none: make docs" in plan


def test_the_document_and_its_tests_work(written: Path) -> None:
    """Its check is that of its row, and the three histories show what they say."""
    made = importlib.import_module("pytest_kmigrate.documents.kip_999.document").DOCUMENT
    assert isinstance(made, Document)
    place = Place("kip-999", "", written / "pytest_kmigrate/documents/kip_999", "the guide")
    rows = records(Requirement, place, REQUIREMENTS, "requirement", profile="kip-999")
    assert [each.requirements for each in made.checks] == [tuple(row.id for row in rows)]
    tests = runpy.run_path(str(written / "tests/unit/documents/test_kip_999.py"))
    histories = [test for name, test in tests.items() if name.startswith("test_")]
    assert len(histories) == 3
    for test in histories:
        test()


def test_the_suite_asks_for_what_there_is() -> None:
    """Its fixtures, the check of the document, and the requirement."""
    tree = ast.parse(FILES["suites/kip_999/test_restarts.py"])
    (test,) = (each for each in tree.body if isinstance(each, ast.FunctionDef))
    assert {each.arg for each in test.args.args} <= {*fixtures.__all__, *vars(of_plugin)}
    assert "checks.restarted_brokers_become_ready()" in ast.unparse(test)
    assert "K999-START-ready" in ast.unparse(test)


@pytest.mark.parametrize("table", TABLES)
def test_the_tables_have_every_key(table: str, tmp_path: Path) -> None:
    """They are read without an error, which sends contributors to this page for the keys."""
    kind, file = TABLES[table]
    blocks = [each for each in BLOCKS if f"\n[[{table}]]\n" in f"\n{each}"]
    (tmp_path / file).write_text("\n".join(blocks), encoding="utf-8")
    known = {"profile": "kip-999"} if kind is Requirement else {}
    assert records(kind, Place("kip-999", "", tmp_path, "the guide"), file, table, **known)
    keys = {each.name.removesuffix("_") for each in fields(kind)} - MADE_BY_US
    assert [each for each in sorted(keys) if not re.search(rf"(^|`){each}( = |`)", GUIDE, re.MULTILINE)] == []
