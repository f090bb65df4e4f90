"""Grades: what a known bug or deviation is to one requirement."""

from collections.abc import Callable, Iterable, Sequence

from pytest_kmigrate.catalogue import find_bug, requirement
from pytest_kmigrate.checkers.tally import Grade, Word, word_of
from pytest_kmigrate.model.verdict import Outcome, Verdict


def graded(*rows: str) -> Callable[[str], Grade]:
    """The grade of each id, as seen from a requirement, or from several that together say the same.

    A bug is a requirement's own if it lists it, or lists none of its document. An id that no catalogue here has, as of
    a newer release, is a defect.
    """
    profiles = {requirement(row).profile for row in rows}

    def grade(known_as: str) -> Grade:
        bug = find_bug(known_as)
        if bug is None:
            return Grade(grade_of(known_as), is_own=True)
        own = {row for row in bug.requirements if requirement(row).profile in profiles}
        return Grade(grade_of(known_as), is_own=not own or not own.isdisjoint(rows))

    return grade


def word_as(outcome: Outcome, known_as: Iterable[str]) -> Word:
    """The word of an outcome; ``known_as``: what explains all of it if it violates."""
    return word_of(outcome, [grade_of(each) for each in known_as])


def words_of_run(outcome: Outcome, verdicts: Sequence[Verdict]) -> list[Word]:
    """The word of a run of this outcome, and of everything known that its verdicts show besides.

    A run whose counted violations are all known is known, whatever else it left open: the bug may have ended it.
    """
    red = [each for each in verdicts if each.outcome is Outcome.VIOLATES]
    counted = [each for each in red if each.counts]
    is_known = bool(counted) and all(each.known_bugs for each in counted)
    known_as = [bug for each in counted for bug in each.known_bugs] if is_known else []
    return [word_as(outcome, known_as), *(word_as(each.outcome, each.known_bugs) for each in red if each.known_bugs)]


def grade_of(known_as: str) -> Word:
    """What a known bug or deviation is; an id that no catalogue here has, as of a newer release, is a defect."""
    bug = find_bug(known_as)
    return Word.DEFECT if bug is None else Word(bug.class_)


def of_row(row: str, known: Iterable[str]) -> list[str]:
    """Of what a verdict is known as, the bugs, and the deviations from this requirement."""
    return [each for each in known if _is_about(each, row)]


def _is_about(known_as: str, row: str) -> bool:
    bug = find_bug(known_as)
    return bug is None or not bug.is_deviation or row in bug.requirements
