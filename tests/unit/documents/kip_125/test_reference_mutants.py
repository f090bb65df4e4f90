"""The mutants of the reference implementation are data that fits its source."""

import compileall
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import place_of
from pytest_kmigrate.documents.kip_125.mutating import MUTANTS, ReferenceMutant, plant, planting, reference_mutants
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.fates import Fate, Result

ROOT = Path(__file__).parents[4]
ALL = reference_mutants()
FIRST = """\
[[mutant]]
id = "m"
planted = "Nothing"
test = "test_offsets::test_a_member_begins_at_the_larger_offset"
requirement = "K125-OFF-fetch-max"
changes = [["holding.py", "before", "after"]]
"""


@pytest.mark.parametrize("mutant", ALL, ids=lambda each: each.id)
def test_a_mutant_fits_the_reference(mutant: ReferenceMutant, tmp_path: Path) -> None:
    """Its text is there once, and what comes of it is Python."""
    plant(mutant, tmp_path)
    assert compileall.compile_dir(tmp_path, quiet=1)


def test_a_change_that_fits_nothing_is_refused(tmp_path: Path) -> None:
    """By its file and text."""
    mutant = replace(ALL[0], id="m", changes=(("holding.py", "no such text", "other"),))
    with pytest.raises(WrongUseError, match=r"m: expected 'no such text' once in holding.py; got 0"):
        plant(mutant, tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("K125-OFF-fetch-max", "K125-OFF-unheard-of", "requirement: expected one of the document"),
        ("test_offsets::", "test_unheard_of::", "test: expected module::name with a module of test_"),
        ("larger_offset", "smaller_offset", "test: expected a test of test_offsets"),
        ("holding.py", "unheard_of.py", "changes: expected a file of the reference, its text, and what stands"),
        (', "after"', "", "changes: expected a file of the reference"),
        ('[["holding.py", "before", "after"]]', "[]", "changes: expected a change, got none"),
        ('[["holding.py", "before", "after"]]', '["holding.py"]', "changes: expected a list of lists of texts"),
        ("changes", "change", "change: expected one of id, planted, test, requirement, changes; got an unknown key"),
        ('planted = "Nothing"\n', "", "planted: expected text, got nothing"),
    ],
)
def test_a_wrong_mutant_is_an_error(before: str, after: str, expected: str, tmp_path: Path) -> None:
    """With the file, the mutant, and what was expected."""
    place = replace(place_of("kip-125"), folder=tmp_path)
    (tmp_path / MUTANTS).write_text(FIRST)
    assert [each.id for each in reference_mutants(place)] == ["m"]
    (tmp_path / MUTANTS).write_text(FIRST.replace(before, after))
    with pytest.raises(WrongUseError, match=rf"{MUTANTS}: m: {expected}"):
        reference_mutants(place)


def test_a_mutant_named_twice_is_an_error(tmp_path: Path) -> None:
    """So that each can be chosen."""
    (tmp_path / MUTANTS).write_text(FIRST * 2)
    with pytest.raises(WrongUseError, match="id: expected one that no other row has"):
        reference_mutants(replace(place_of("kip-125"), folder=tmp_path))


def test_a_mutant_without_a_verdict_is_not_judged(tmp_path: Path) -> None:
    """Such as one whose cluster never came up."""
    assert planting("3.9.1").result(ALL[0], tmp_path) == Result(ALL[0], Fate.NOT_JUDGED, "no verdict; see pytest.log")


def test_the_published_page_has_a_row_for_every_mutant() -> None:
    """With the requirement that it must turn red; results are copied from `mutants.md` of the runs."""
    page = (ROOT / "docs" / "reference" / "mutants-of-kip-125.md").read_text(encoding="utf-8")
    rows = {tuple(row.split(" | ")[::2]) for row in page.splitlines() if row.startswith("| `")}
    assert {(f"| `{each.id}`", each.requirement) for each in ALL} == {row[:2] for row in rows}
