"""The tally of a requirement over runs: which word it gets, by what, and in how many of how many runs."""

import pytest

from pytest_kmigrate.checkers.tally import Grade, Said, Tally, Word, tally, tally_together
from pytest_kmigrate.model.verdict import Outcome

GRADES = {
    "bug": Grade(Word.DEFECT, is_own=True),
    "wording": Grade(Word.DEPARTURE, is_own=True),
    "unclear": Grade(Word.REMARK, is_own=True),
    "of-another": Grade(Word.DEFECT, is_own=False),
}
GREEN, OPEN, UNSEEN = Said(Outcome.CONFORMS), Said(Outcome.INCONCLUSIVE), Said(None)
NEW = Said(Outcome.VIOLATES)


def by(*known: str, runs: int = 1) -> Said:
    """A run that violates, and what explains it."""
    return Said(Outcome.VIOLATES, frozenset(known), runs)


def of(*runs: Said, required: int = 1) -> Tally:
    """The tally of these runs."""
    return tally(runs, GRADES.__getitem__, required)


@pytest.mark.parametrize(
    ("runs", "word"),
    [
        ([], Word.NOT_JUDGED),
        ([UNSEEN], Word.NOT_JUDGED),
        ([GREEN, UNSEEN], Word.CONFORMS),
        ([OPEN], Word.INCONCLUSIVE),
        ([GREEN, OPEN], Word.CONFORMS),
        ([Said(Outcome.NOT_APPLICABLE)], Word.NOT_APPLICABLE),
        ([GREEN, by("unclear")], Word.REMARK),
        ([GREEN, by("unclear"), by("wording")], Word.DEPARTURE),
        ([GREEN, by("wording"), by("bug")], Word.DEFECT),
        ([GREEN, by("bug"), NEW], Word.VIOLATION),
        ([GREEN, by("of-another")], Word.CONFORMS),
        ([by("of-another")], Word.NOT_JUDGED),
        ([by("of-another"), OPEN], Word.INCONCLUSIVE),
    ],
)
def test_the_word_is_that_of_the_gravest_run_that_decides(runs: list[Said], word: Word) -> None:
    """A run that the bug of another requirement hit decides nothing, and neither does one that could show nothing."""
    assert of(*runs).word is word


def test_k_of_n_are_counted_by_what_explains_them() -> None:
    """One run may be red by two causes; it is one run."""
    found = of(
        by("bug", "wording", runs=2), by("bug"), NEW, Said(Outcome.CONFORMS, runs=4), by("of-another", runs=3), OPEN
    )
    assert (found.violating, found.new, found.n, found.inconclusive) == (4, 1, 8, 1)
    assert found.by == (("bug", 3), ("wording", 2))
    assert found.hit_by == (("of-another", 3),)


def test_a_bug_of_another_requirement_beside_an_own_one_is_not_listed_as_a_hit() -> None:
    """The run decides by the own one."""
    found = of(by("bug", "of-another"))
    assert (found.word, found.by, found.hit_by) == (Word.DEFECT, (("bug", 1),), ())


def test_fewer_conforming_runs_than_required_leave_it_open() -> None:
    """Nothing that was seen is against it, and not enough is for it."""
    assert of(GREEN, GREEN, required=3).word is Word.INCONCLUSIVE
    assert of(GREEN, GREEN, GREEN, required=3).word is Word.CONFORMS


def test_requirements_that_say_the_same_together_conform_as_the_weakest_and_violate_by_any() -> None:
    """Without one of them none conforms."""
    assert tally_together([[GREEN], []], GRADES.__getitem__).word is Word.NOT_JUDGED
    assert tally_together([[GREEN, GREEN], [GREEN]], GRADES.__getitem__).conforming == 1
    assert tally_together([[GREEN], [by("bug")]], GRADES.__getitem__).word is Word.DEFECT
