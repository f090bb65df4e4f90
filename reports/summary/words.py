"""Words: where each requirement stands, by the tally that coverage and certificates have."""

from collections.abc import Sequence

from pytest_kmigrate import catalogue
from pytest_kmigrate.checkers.grading import grade_of, graded, of_row, word_as
from pytest_kmigrate.checkers.tally import Said, Tally, Word, tally
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.summary.rows import Row, count, excused, grouped, listed


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
    return grade_of(str(name)) is Word.DEFECT


def words_of(attempts: Sequence[Row], *, is_doubtful: bool) -> tuple[Word, ...]:
    """The word of each run as it counts, and one more that is open if a verdict may hang on what was set aside."""
    counted = [excused(each) for each in attempts]
    words = [word_as(Outcome[str(row["outcome"])], map(str, listed(row["known_bugs"]))) for row in counted]
    return (*words, *[Word.INCONCLUSIVE] * is_doubtful)


def words_of_requirements(rows: Sequence[Row], ledger: Sequence[Row]) -> tuple[Word, ...]:
    """Where each requirement of the judged profiles stands, for each version, that a run can judge."""
    untestable = {
        each.id for profile in catalogue.profiles() for each in catalogue.requirements(profile) if each.untestable
    }
    wanted = {str(row["id"]) for row in ledger if not row["covered_by"]} - untestable
    seen = {str(row["requirement"]) for row in rows}
    words = [Word[str(row["word"])] for row in rows if str(row["requirement"]) in wanted]
    return (*words, *[Word.NOT_JUDGED] * len(wanted - seen))


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
