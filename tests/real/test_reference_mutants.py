"""A defect planted in the reference implementation of KIP-125 is found by the requirement that it breaks.

One of them here; ``make mutants-of-reference`` runs all.
"""

from pathlib import Path

from pytest_kmigrate.documents.kip_125.mutating import planting, reference_mutants
from pytest_kmigrate.reports.fates import Fate

MUTANT = "one-offset-store"


def test_a_mutant_is_found_by_its_requirement(tmp_path: Path) -> None:
    """Its test ends with a violation of that requirement, with the mutant's members in place of the reference's."""
    (mutant,) = [each for each in reference_mutants() if each.id == MUTANT]
    of_reference = planting("3.9.1")
    of_reference.run([mutant], tmp_path)
    found = of_reference.result(mutant, tmp_path / MUTANT)
    assert found.fate is Fate.KILLED, found.seen
