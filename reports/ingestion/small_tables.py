"""Tables of few rows: Spark is given their rows and gives them back, and no job has to read or write a file.

To plan the reading of a file, to list it and to send Hadoop's configuration round takes Spark longer than to count a
few hundred rows, and so does every step of its protocol for the files that it writes.
"""

import io
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from pytest_kmigrate.reports.ingestion.storage import LocalStorage

MOST_ROWS, MOST_BYTES = 2_000, 256 * 1024
"""Of a table that is given as rows, and of its files: the rows are part of every plan and travel with every task."""

_FILE = "part-00000.parquet"


def has_rows(storage: LocalStorage, folders: Sequence[str]) -> bool:
    """Whether there is any row in a table that lies in these folders."""
    return any(pq.read_metadata(storage.place(part)).num_rows for part in _parts(storage, folders))


def few_rows(storage: LocalStorage, folders: Sequence[str], schema: StructType) -> pa.Table | None:
    """All rows of a table that lies in these folders; None if they are many."""
    parts = _parts(storage, folders)
    if sum(storage.place(part).stat().st_size for part in parts) > MOST_BYTES:
        return None
    if sum(pq.read_metadata(storage.place(part)).num_rows for part in parts) > MOST_ROWS:
        return None
    typed = _typed(schema)
    read = [pq.read_table(io.BytesIO(content)) for content in storage.contents(parts).values()]
    # In one piece: Spark takes a piece without rows, such as a file of a part that had none, for the end of all.
    return pa.concat_tables([typed.empty_table(), *[each.cast(typed) for each in read]]).combine_chunks()


def write_rows(storage: LocalStorage, folder: str, rows: pa.Table | None, schema: StructType) -> None:
    """Write the rows, or none, as a table of one file, as any reader of Parquet understands it."""
    written = io.BytesIO()
    pq.write_table(_typed(schema).empty_table() if rows is None else rows, written, store_schema=False)
    storage.write(f"{folder}/{_FILE}", written.getvalue())


def _parts(storage: LocalStorage, folders: Sequence[str]) -> list[str]:
    return [f"{folder}/{name}" for folder in folders for name in storage.names(folder) if name.endswith(".parquet")]


def _typed(schema: StructType) -> pa.Schema:
    return to_arrow_schema(schema, timezone="UTC")
