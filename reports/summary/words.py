"""Words: where each requirement stands, by the tally that coverage and certificates have."""

from collections.abc import Sequence

from pytest_kmigrate import catalogue
from pytest_kmigrate.checkers.grading import graded, of_row
from pytest_kmigrate.checkers.tally import Said, Tally, Word, tally
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.summary.rows import Row, count, grouped, listed


def tallied(outcomes: Sequence[Row], *keys: str) -> dict[tuple[object, ...], Tally]:
    """By these columns, the first of which is ``requirement``, the tally of rows of ``requirement_outcomes``."""
    known = {each.id for profile in catalogue.profiles() for each in catalogue.requirements(profile)}
    groups = grouped(outcomes, *keys).items()
    return {group: _tally(str(group[0]), mine, is_known=group[0] in known) for group, mine in groups}


def with_words(requirements: Sequence[Row], outcomes: Sequence[Row]) -> list[Row]:
    """Rows of ``requirements``, each with its word, k of n, by what, and which bugs of others hit its runs."""
    keys = ("requirement", "profile", "kafka")
    found = tallied(outcomes, *keys)
    none = Tally(Word.NOT_JUDGED)
    return [{**row, **_as_row(found.get(tuple(row[key] for key in keys), none))} for row in requirements]


def is_defect(name: object) -> bool:
    """Whether a known bug is a defect; one that this catalogue does not have may be."""
    bug = catalogue.find_bug(str(name))
    return bug is None or Word(bug.class_) is Word.DEFECT


def _tally(requirement: str, outcomes: Sequence[Row], *, is_known: bool) -> Tally:
    grade = graded(requirement) if is_known else graded()
    return tally((_said(requirement, row, is_known=is_known) for row in outcomes), grade)


def _said(requirement: str, row: Row, *, is_known: bool) -> Said:
    bugs = [str(each) for each in listed(row["known_bugs"])]
    outcome = Outcome[str(row["outcome"])] if row["outcome"] else None
    return Said(outcome, frozenset(of_row(requirement, bugs) if is_known else bugs), count(row["runs"]))


def _as_row(found: Tally) -> Row:
    return {
        "word": found.word.name,
        "k": found.violating,
        "n": found.n,
        "by": [list(each) for each in found.by],
        "hit_by": [list(each) for each in found.hit_by],
    }
