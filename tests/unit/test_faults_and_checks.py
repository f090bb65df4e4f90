"""The table of what a fault does to a verdict is whole."""

from pathlib import Path

import pytest

from tests.faults_and_checks import Family, table

ROOT = Path(__file__).parents[2]
TABLE = table()


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
