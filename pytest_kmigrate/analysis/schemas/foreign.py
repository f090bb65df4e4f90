"""Results of other projects and tools, as they are staged: rows like attempts, or the reason why there is none."""

from pytest_kmigrate.analysis.schemas.columns import CONDITION, COUNT, FAULTS, MOMENT, NUMBER, TEXT, TEXTS, struct

FOREIGN_RESULTS = struct(
    folder=TEXT,
    file=TEXT,
    line=COUNT,
    reason=TEXT,
    run_id=TEXT,
    test_id=TEXT,
    **CONDITION,
    **FAULTS,
    outcome=TEXT,
    kind=TEXT,
    check=TEXT,
    summary=TEXT,
    known_bugs=TEXTS,
    duration_ms=NUMBER,
    started_at=MOMENT,
    seed=TEXT,
    reproduce=TEXT,
    timeline=TEXT,
)
"""One row per attempt of a test in a foreign file, or per thing in it that could not be read (``reason``)."""
