"""Tables: from the parts of run folders to anomalies and counts, by Spark."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.pandas.types import to_arrow_schema

from pytest_kmigrate.analysis.consistency.dealing import dealt
from pytest_kmigrate.analysis.consistency.judging import ANOMALY, OPERATIONS, SET_ASIDE, judged_group
from pytest_kmigrate.analysis.schemas.consistency import CONSISTENCY, DEALT, JUDGED
from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.recording.operation_parts import read_part

MOST_BYTES = 32 * 2**20
"""Parts of a run up to this size together are judged in one group: some three million operations, about a gigabyte."""

_DEALT, _JUDGED = to_arrow_schema(DEALT), to_arrow_schema(JUDGED)


def judged(parts: DataFrame, most_bytes: int = MOST_BYTES) -> DataFrame:
    """Everything there is to say about the parts (PARTS) of many runs, as rows of JUDGED; small, so keep it."""
    sizes = parts.groupBy("folder").agg(F.ceil(F.sum("length") / most_bytes).cast("int").alias("slices"))
    whole = parts.join(F.broadcast(sizes), "folder").select("folder", "path", "is_settled", "content", "slices")
    return whole.mapInArrow(_dealt, DEALT).groupBy("folder", "aspect", "slice").applyInArrow(_judged, JUDGED)


def anomalies(judged_rows: DataFrame) -> DataFrame:
    """One row per class and group of a run; of a run of which any part could not be read, none."""
    damaged = judged_rows.where(F.col("what") == SET_ASIDE).select("folder").distinct()
    merged = (
        judged_rows.where(F.col("what") == ANOMALY)
        .join(F.broadcast(damaged), "folder", "left_anti")
        .groupBy("folder", F.col("name").alias("class"), "kind", "topic", "partition")
        .agg(
            F.sum("count").alias("count"),
            F.min_by("text", "at_ns").alias("counterexample"),
            F.min("at_ns").alias("at_ns"),
            F.min_by("evidence", "at_ns").alias("evidence"),
        )
    )
    return merged.select(*CONSISTENCY["anomalies"].names)


def operation_counts(judged_rows: DataFrame) -> DataFrame:
    """One row per partition, kind and outcome of a run: over how much evidence the anomalies were found."""
    counted = judged_rows.where(F.col("what") == OPERATIONS).groupBy("folder", "topic", "partition", "kind", "outcome")
    return counted.agg(F.sum("count").alias("operations"))


def set_aside(judged_rows: DataFrame) -> DataFrame:
    """Runs whose operations could not be read, as rows that are set aside: nobody knows what was in them."""
    aside = judged_rows.where(F.col("what") == SET_ASIDE).distinct()
    path = F.concat(F.col("folder"), F.lit("/operations")).alias("path")
    line = F.lit(None).cast("long").alias("line")
    return aside.select("folder", path, line, F.col("text").alias("reason"), F.lit(col=True).alias("is_run"))


def _dealt(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of parts as rows of DEALT: as they are, or cut into the slices of a large run."""
    for batch in batches:
        is_large = pc.greater(batch["slices"], 1)
        small = batch.filter(pc.invert(is_large))
        if small.num_rows:
            yield _as_they_are(small)
        for row in range(batch.num_rows):
            if is_large[row].as_py():
                yield _cut(batch.slice(row, 1))


def _as_they_are(batch: pa.RecordBatch) -> pa.RecordBatch:
    rows = batch.num_rows
    same = {name: batch[name] for name in ("folder", "path", "is_settled", "content")}
    same["aspect"] = pa.repeat("", rows)
    same["slice"] = pa.repeat(pa.scalar(0, pa.int32()), rows)
    same["is_copy"] = pa.repeat(pa.scalar(value=False), rows)
    return pa.RecordBatch.from_arrays([same[name] for name in _DEALT.names], schema=_DEALT)


def _cut(part: pa.RecordBatch) -> pa.RecordBatch:
    row = {name: part[name][0].as_py() for name in ("folder", "path", "is_settled", "slices")}
    content = part["content"][0].as_buffer()
    keys = {name: row[name] for name in ("folder", "path", "is_settled")}
    try:
        table = read_part(row["path"], content)
    except RunFolderError:
        # It goes on as it is, to a group of its own, which will say so.
        one = {**keys, "aspect": "", "slice": 0, "is_copy": False, "content": content.to_pybytes()}
        return pa.RecordBatch.from_pylist([one], schema=_DEALT)
    rows = [
        {**keys, "aspect": s.aspect.value, "slice": s.number, "is_copy": s.is_copy, "content": s.content.to_pybytes()}
        for s in dealt(table, row["slices"])
    ]
    return pa.RecordBatch.from_pylist(rows, schema=_DEALT)


def _judged(group: pa.Table) -> pa.Table:
    return pa.Table.from_pylist(list(judged_group(group)), schema=_JUDGED)
