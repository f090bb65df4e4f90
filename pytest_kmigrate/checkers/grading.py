"""Grades: what a known bug or deviation is to one requirement."""

from collections.abc import Callable, Iterable

from pytest_kmigrate.catalogue import find_bug, requirement
from pytest_kmigrate.checkers.tally import Grade, Word


def graded(*rows: str) -> Callable[[str], Grade]:
    """The grade of each id, as seen from a requirement, or from several that together say the same.

    A bug is a requirement's own if it lists it, or lists none of its document. An id that no catalogue here has, as of
    a newer release, is a defect.
    """
    profiles = {requirement(row).profile for row in rows}

    def grade(known_as: str) -> Grade:
        bug = find_bug(known_as)
        if bug is None:
            return Grade(Word.DEFECT, is_own=True)
        own = {row for row in bug.requirements if requirement(row).profile in profiles}
        return Grade(Word(bug.class_), is_own=not own or not own.isdisjoint(rows))

    return grade


def of_row(row: str, known: Iterable[str]) -> list[str]:
    """Of what a verdict is known as, the bugs, and the deviations from this requirement."""
    return [each for each in known if _is_about(each, row)]


def _is_about(known_as: str, row: str) -> bool:
    bug = find_bug(known_as)
    return bug is None or not bug.is_deviation or row in bug.requirements
