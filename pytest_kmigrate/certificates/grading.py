"""Grades: what a certificate comes to in one word, whether it is complete, and how commands end by it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pytest_kmigrate.certificates.evidence_of_runs import Evidence, RunEvidence
from pytest_kmigrate.certificates.statement import Claims, Grade, NotedSession, Part, PartResult, Red, Row
from pytest_kmigrate.checkers.grading import grade_of
from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.model.exit_status import ExitStatus
from pytest_kmigrate.model.verdict import Outcome

CONFORMS: Grade = "conforms"
BUT_FOR_DEFECTS: Grade = "conforms but for defects that Apache Kafka has as well"
DOES_NOT: Grade = "does not conform"

APACHE_DEFECTS = "apache-defects"
"""What a reader may allow, so that the middle grade ends with 0."""

_DECIDED = (Word.DEFECT, Word.DEPARTURE, Word.REMARK, Word.CONFORMS)
_MOST_LISTED = 5


def parts_of(rows: Sequence[Row]) -> list[PartResult]:
    """The core part, which the grade is about, and the extended one."""
    return [_part("core", rows), _part("extended", rows)]


def _part(part: Part, rows: Sequence[Row]) -> PartResult:
    own = [row for row in rows if row.part == part]
    words = [row.word for row in own]
    return PartResult(
        part=part,
        required=len(own),
        by_word={word.value: count for word, count in sorted(Counter(words).items())},
        grade=DOES_NOT if Word.VIOLATION in words else BUT_FOR_DEFECTS if Word.DEFECT in words else CONFORMS,
        is_complete=not any(map(is_open, own)),
    )


def is_open(row: Row) -> bool:
    """Whether a requirement that applies is undecided, or decided by fewer runs than the plan asks for.

    A violation is decided by one.
    """
    if row.word in (Word.VIOLATION, Word.NOT_APPLICABLE):
        return False
    return row.word not in _DECIDED or (row.word is not Word.DEFECT and row.n < row.required)


def violations_of(evidence: Evidence) -> list[Red]:
    """Violations of SAFETY or of no requirement that nothing known explains, in all runs but those of mutants."""
    return [
        Red(
            run=run.header.run_id,
            test=run.header.test_id,
            check=each.check,
            kind=each.kind.value if each.kind else "",
            summary=each.summary,
        )
        for run in evidence.runs
        if not run.is_void
        for each in run.red
    ]


def is_red(run: RunEvidence, core: Iterable[str]) -> bool:
    """Whether a run violates what counts for the grade; ``core``: ids of the core part, as runs have them."""
    rows = (run.rows[each] for each in core if each in run.rows)
    is_new = any(row.outcome is Outcome.VIOLATES and not row.is_explained for row in rows)
    return not run.is_void and (bool(run.red) or is_new)


def defects_of(rows: Iterable[Row], evidence: Evidence) -> list[str]:
    """Known defects that the core part met, or a check of SAFETY that no requirement has."""
    met = {each for row in rows if row.part == "core" and row.word is Word.DEFECT for each in row.known}
    met |= {each for run in evidence.runs if not run.is_void for each in run.known}
    return sorted(each for each in met if grade_of(each) is Word.DEFECT)


def overall(core: PartResult, violations: Sequence[Red], defects: Sequence[str]) -> Grade:
    """The grade: one violation is enough for the lowest, whatever else is missing."""
    if core.grade == DOES_NOT or violations:
        return DOES_NOT
    return BUT_FOR_DEFECTS if defects else core.grade


def missing_of(
    rows: Sequence[Row], sessions: Sequence[NotedSession], untested: Sequence[str], findings: Sequence[str]
) -> list[str]:
    """Why a certificate is incomplete, in sentences; empty: it is complete."""
    return list(_missing(rows, sessions, untested, findings))


def _missing(
    rows: Sequence[Row], sessions: Sequence[NotedSession], untested: Sequence[str], findings: Sequence[str]
) -> Iterator[str]:
    if findings:
        yield f"evidence with findings: {first_few(findings)}"
    open_ = [row.id for row in rows if row.part == "core" and is_open(row)]
    if open_:
        yield f"{len(open_)} requirements of the level MUST are undecided: {first_few(open_)}"
    if untested:
        yield f"{len(untested)} tests ran less often than the plan asks for: {first_few(untested)}"
    left = [run for each in sessions for run in each.left_out]
    if left:
        yield f"{len(left)} noted runs are left out: {first_few(left)}"
    if not sessions:
        yield "no session was noted, so runs may have been left out"


def first_few(things: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = f" and {len(things) - _MOST_LISTED} more" if len(things) > _MOST_LISTED else ""
    return ", ".join(things[:_MOST_LISTED]) + more


def following(claims: Claims) -> Mapping[str, object]:
    """By key of the claims, what follows from others of them; no evidence is needed for that."""
    parts = parts_of(claims.rows)
    return {
        "parts": parts,
        "grade": overall(parts[0], claims.violations, claims.defects),
        "missing": missing_of(claims.rows, claims.sessions, claims.untested, claims.findings),
    }


def status_of(claims: Claims, open_: Sequence[str] = (), *, allows_defects: bool = False) -> ExitStatus:
    """How a command ends; ``open_``: what verifying left open.

    ``allows_defects``: the middle grade is good enough.
    """
    if claims.grade == DOES_NOT:
        return ExitStatus.VIOLATED
    is_good = claims.grade == CONFORMS or allows_defects
    return ExitStatus.DONE if is_good and not claims.missing and not open_ else ExitStatus.OPEN
