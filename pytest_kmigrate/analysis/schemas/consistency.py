"""Consistency: the parts of run folders that hold client operations, and what was wrong with these operations."""

from pyspark.sql.types import BinaryType, IntegerType, StructType

from pytest_kmigrate.analysis.schemas.columns import COUNT, FLAG, NUMBER, TEXT, TEXTS, struct

PARTS = struct(folder=TEXT, path=TEXT, length=COUNT, sha256=TEXT, is_settled=FLAG, content=BinaryType())
"""One row per file below a run's ``operations/``, whole: its path for people, its bytes, the digest they should have
where somebody vouches for it, whether the run came to its end (until then, sends in flight have no row yet)."""

DEALT = struct(
    folder=TEXT,
    aspect=TEXT,
    slice=IntegerType(),
    path=TEXT,
    sha256=TEXT,
    is_settled=FLAG,
    is_copy=FLAG,
    content=BinaryType(),
)
"""Operations of a run on their way to the one group that judges them: files as they are (``aspect`` empty), or the rows
of a file that belong to one slice of a run too large for one group. Copies, needed by many slices, count in none."""

JUDGED = struct(
    what=TEXT,
    folder=TEXT,
    name=TEXT,
    topic=TEXT,
    partition=IntegerType(),
    kind=TEXT,
    outcome=TEXT,
    count=COUNT,
    text=TEXT,
    at_ns=COUNT,
    evidence=TEXT,
)
"""What came out of one group: ``what`` is "anomaly", "operations" (how many of a kind and outcome),
"checked" (a class that would have been seen) or "set aside"."""

CONSISTENCY: dict[str, StructType] = {
    "anomalies": struct(
        folder=TEXT,
        **{"class": TEXT},
        kind=TEXT,
        topic=TEXT,
        partition=IntegerType(),
        count=COUNT,
        counterexample=TEXT,
        at_ns=COUNT,
        evidence=TEXT,
    ),
    "operation_counts": struct(
        folder=TEXT, topic=TEXT, partition=IntegerType(), kind=TEXT, outcome=TEXT, operations=COUNT
    ),
    "checked_classes": struct(folder=TEXT, classes=TEXTS),
    "metadata_divergences": struct(
        folder=TEXT,
        left=TEXT,
        right=TEXT,
        family=TEXT,
        subject=TEXT,
        left_value=TEXT,
        right_value=TEXT,
        moments=COUNT,
        first_moment=TEXT,
        first_ns=COUNT,
        last_ns=COUNT,
        at_least_ms=NUMBER,
        at_most_ms=NUMBER,
    ),
}
"""Table name -> its columns, in order."""
