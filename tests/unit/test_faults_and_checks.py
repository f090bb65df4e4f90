"""Every fault and every check has its place in the table of what a fault does to a verdict."""

import inspect
from dataclasses import is_dataclass
from itertools import chain
from pathlib import Path

import pytest

import pytest_kmigrate
from pytest_kmigrate.judging.checks import all_checkers
from tests.faults_and_checks import Family, table

ROOT = Path(__file__).parents[2]
TABLE = table()


def test_every_fault_has_an_effect() -> None:
    """A new fault is classed, once; so is one that is there no more taken out."""
    public = [getattr(pytest_kmigrate, name) for name in pytest_kmigrate.__all__]
    faults = [each.__name__ for each in public if inspect.isclass(each) and is_dataclass(each)]
    known = [each for each in faults if hasattr(getattr(pytest_kmigrate, each), "applied_to")]
    assert sorted(chain.from_iterable(TABLE.faults.values())) == sorted(known)


def test_every_check_is_in_one_family() -> None:
    """A new check is classed, once, by what each fault does to its evidence."""
    assert sorted(chain.from_iterable(family.checks for family in TABLE.families)) == sorted(all_checkers())


@pytest.mark.parametrize("family", TABLE.families, ids=lambda family: family.name)
def test_every_family_says_how_it_stands_under_every_effect(family: Family) -> None:
    """By a word of the table; what is left out of a verdict is shown by tests that are there."""
    assert sorted(family.cells) == sorted(TABLE.effects)
    words = {family.word(effect) for effect in TABLE.effects}
    assert words <= set(TABLE.words)
    assert family.shown_by or "spared" not in words or family.name == "records of clients"
    for test in family.shown_by:
        file, _, name = test.partition("::")
        assert (ROOT / file).exists(), test
        assert not name or f"def {name}(" in (ROOT / file).read_text(), test
