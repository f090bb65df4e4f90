"""The mutants of the reference implementation are data that fits its source."""

import ast
import compileall
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import requirements
from pytest_kmigrate.documents.kip_125.mutating import ReferenceMutant, plant, reference_mutants
from pytest_kmigrate.model.errors import WrongUseError

SUITE = Path(__file__).parents[4] / "suites" / "kip_125"
MUTANTS = reference_mutants()


def names_in(module: str) -> set[str]:
    """The tests of a module of the suite."""
    file = SUITE / f"{module}.py"
    tree = ast.parse(file.read_text(encoding="utf-8")) if file.is_file() else ast.Module([], [])
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each.id)
def test_a_mutant_fits_the_reference(mutant: ReferenceMutant, tmp_path: Path) -> None:
    """Its text is there once, what comes of it is Python, and its test and requirement exist."""
    plant(mutant, tmp_path)
    assert compileall.compile_dir(tmp_path, quiet=1)
    module, _, name = mutant.test.partition("::")
    assert name in names_in(module)
    assert mutant.requirement in {each.id for each in requirements("kip-125")}
    assert all(
        (SUITE.parents[1] / "pytest_kmigrate/documents/kip_125/reference" / each[0]).is_file()
        for each in mutant.changes
    )


def test_mutants_are_named_once() -> None:
    """So that each can be chosen."""
    assert len({each.id for each in MUTANTS}) == len(MUTANTS)


def test_a_change_that_fits_nothing_is_refused(tmp_path: Path) -> None:
    """By its file and text."""
    mutant = ReferenceMutant("m", "p", "t::t", "K125-OFF-fetch-max", [["holding.py", "no such text", ""]])
    with pytest.raises(WrongUseError, match=r"m: expected 'no such text' once in holding.py; got 0"):
        plant(mutant, tmp_path)
