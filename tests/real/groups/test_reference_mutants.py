"""Defects planted in the reference implementation of KIP-125 are found by the requirement that each breaks.

Some of them here; ``make mutants-of-reference`` runs all.
"""

from pathlib import Path

import pytest

from pytest_kmigrate.documents.kip_125.mutating import planting, reference_mutants
from pytest_kmigrate.reports.fates import Fate

FEW = ("one-offset-store", "begins-at-kafkas-offset")


@pytest.mark.parametrize("name", FEW)
def test_a_mutant_is_found_by_its_requirement(name: str, tmp_path: Path) -> None:
    """Its test ends with a violation of that requirement, with the mutant's members in place of the reference's."""
    (mutant,) = [each for each in reference_mutants() if each.id == name]
    of_reference = planting("3.9.1")
    of_reference.run([mutant], tmp_path)
    found = of_reference.result(mutant, tmp_path / name)
    assert found.fate is Fate.KILLED, found.seen
