"""Other engines: their data, their answers, and how these are held against each other."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.bench.engines import data, in_duckdb, in_polars
from tests.bench.engines.comparing import Asked, Setting, said_of_memory, table
from tests.bench.engines.engine import MARTS, differing_rows
from tests.bench.measuring import Cost

ONE = pa.table({"test": ["a", "b"], "runs": [3, 4], "rate": [0.5, None]})


def test_answers_are_alike_in_any_order_and_but_for_rounding() -> None:
    """Neither the order of rows and columns nor the last digit is a difference; missing is like missing."""
    other = pa.table({"rate": [None, 0.5 + 1e-12], "runs": [4, 3], "test": ["b", "a"]})

    assert differing_rows(ONE, other) == 0


@pytest.mark.parametrize(
    ("column", "values"),
    [("runs", [3, 5]), ("runs", [3, None]), ("rate", [0.5, 0.0]), ("rate", [0.5001, None]), ("test", ["a", "c"])],
)
def test_a_difference_is_counted_once_per_row(column: str, values: list[object]) -> None:
    """Whichever value differs, and a number where there should be none, too."""
    other = ONE.set_column(ONE.column_names.index(column), column, pa.array(values))

    assert differing_rows(ONE, other) == 1


def test_too_few_rows_are_a_difference() -> None:
    """An answer that lacks a row does not pass for the rest of it."""
    assert differing_rows(ONE, ONE.slice(1)) == 2


def test_facts_are_as_many_as_asked_for_and_the_same_each_time(tmp_path: Path) -> None:
    """Both tables have that many rows, in pieces or not, and the same seed gives the same ones."""
    one, again = data.written(tmp_path / "one", 4_000), data.piece(0, 0, 400)

    for name in data.TABLES:
        rows = pq.read_table(one / name)
        assert rows.equals(again[name].select(rows.column_names))
    assert pq.read_table(one / "durations").num_rows == pq.read_table(one / "requirement_attempts").num_rows == 4_000


@pytest.mark.slow
def test_duckdb_and_polars_agree(tmp_path: Path) -> None:
    """Two engines, asked in their own words, give the same marts; so what Spark is held against means something."""
    facts = data.written(tmp_path / "facts", 20_000)

    with (
        in_duckdb.started(facts, cores=1, memory_gib=None) as duckdb,
        in_polars.started(facts, cores=1, memory_gib=None) as polars,
    ):
        answers = {mart: (duckdb(mart), polars(mart)) for mart in MARTS}

    assert {mart: differing_rows(*both) for mart, both in answers.items()} == dict.fromkeys(MARTS, 0)


def test_the_table_tells_how_many_times_as_long(tmp_path: Path) -> None:
    """Each is held against the quickest under the same circumstances that had an answer; a failure is shown as one."""

    def asked(seconds: float, failure: str = "") -> Asked:
        marts = [dict.fromkeys(("start", *MARTS), seconds / 4)] * (not failure)
        return Asked([Cost(seconds, seconds, 1.0, 0, "")], marts, failure)

    rows = table(
        {
            Setting("spark", 100, 2): asked(12.0),
            Setting("duckdb", 100, 2): asked(3.0),
            Setting("spark", 100, 2, 2.0): asked(30.0),
            Setting("duckdb", 100, 2, 2.0): asked(1.0, "out of memory"),
        }
    )

    assert [(row["engine"], row["times the quickest"], row["failure"]) for row in rows] == [
        ("spark", 4.0, ""),
        ("duckdb", 1.0, ""),
        ("spark", 1.0, ""),
        ("duckdb", None, "out of memory"),
    ]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("INFO so\nmemory of 16 bytes failed\nstack backtrace:\n", "memory of 16 bytes failed"),
        ("Traceback\n  at x\nError: Out of Memory\n", "Error: Out of Memory"),
        ("started\nkilled\n", "killed"),
        ("", "it said nothing"),
    ],
)
def test_why_an_engine_failed_is_told_in_its_words(output: str, said: str) -> None:
    """The line about memory, wherever it is; else the last one."""
    assert said_of_memory(output) == said
