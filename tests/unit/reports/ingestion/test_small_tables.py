"""Tables of few rows: what is written comes back as it was, and many rows are left to Spark."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.reports.ingestion import small_tables
from pytest_kmigrate.reports.ingestion.small_tables import few_rows, has_rows, write_rows
from pytest_kmigrate.reports.ingestion.storage import LocalStorage

_SCHEMA = schemas.TABLES["runs"]
_MOMENT = dt.datetime(2026, 3, 1, 10, tzinfo=dt.UTC)


def _rows(*folders: str) -> pa.Table:
    """Rows with a moment, a list and much that is not known."""
    rows = [{"folder": each, "started_at": _MOMENT, "requirements": ["R1", "R2"]} for each in folders]
    return pa.Table.from_pylist(rows, to_arrow_schema(_SCHEMA, timezone="UTC"))


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    """From several folders, one after the other, without what lies beside them."""
    storage = LocalStorage(tmp_path)
    write_rows(storage, "runs/batch=1", _rows("a", "b"), _SCHEMA)
    write_rows(storage, "runs/batch=2", _rows("c"), _SCHEMA)
    (tmp_path / "runs" / "batch=2" / "notes.txt").write_text("no table")

    assert few_rows(storage, ["runs/batch=1", "runs/batch=2"], _SCHEMA) == _rows("a", "b", "c")


def test_a_table_without_rows_has_its_columns(tmp_path: Path) -> None:
    """So has one that was never written: which batches there are, the ledger says."""
    storage = LocalStorage(tmp_path)
    write_rows(storage, "runs", None, _SCHEMA)

    assert few_rows(storage, ["runs"], _SCHEMA) == few_rows(storage, [], _SCHEMA) == _rows()
    assert not has_rows(storage, ["runs"])
    assert not has_rows(storage, ["nowhere"])


def test_one_part_with_rows_is_enough(tmp_path: Path) -> None:
    """Of several batches most may hold none."""
    storage = LocalStorage(tmp_path)
    write_rows(storage, "one", None, _SCHEMA)
    write_rows(storage, "two", _rows("a"), _SCHEMA)

    assert has_rows(storage, ["one", "two"])


def test_rows_come_in_one_piece(tmp_path: Path) -> None:
    """Spark reads no piece after one without rows; much data has such parts, and so have batches."""
    storage = LocalStorage(tmp_path)
    write_rows(storage, "one", None, _SCHEMA)
    write_rows(storage, "two", _rows("a"), _SCHEMA)

    rows = few_rows(storage, ["one", "two"], _SCHEMA)
    assert rows == _rows("a")
    assert [len(each) for each in rows.to_batches()] == [1]


@pytest.mark.parametrize("most", ["MOST_ROWS", "MOST_BYTES"])
def test_many_rows_are_left_to_spark(most: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would travel with every task; many that are alike take few bytes of a file."""
    storage = LocalStorage(tmp_path)
    write_rows(storage, "runs", _rows("a", "b"), _SCHEMA)
    monkeypatch.setattr(small_tables, most, 1)

    assert few_rows(storage, ["runs"], _SCHEMA) is None
