"""Tables: from the parts of run folders to anomalies and counts, by Spark."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.pandas.types import to_arrow_schema

from pytest_kmigrate.analysis.consistency.dealing import dealt
from pytest_kmigrate.analysis.consistency.judging import (
    ANOMALY,
    CHECKED,
    OPERATIONS,
    SET_ASIDE,
    judged_group,
    whole_part,
)
from pytest_kmigrate.analysis.schemas.consistency import CONSISTENCY, DEALT, JUDGED
from pytest_kmigrate.model.errors import RunFolderError

MOST_BYTES = 32 * 2**20
"""Parts of a run up to this size together are judged in one group: some three million operations, about a gigabyte."""

_DEALT, _JUDGED = to_arrow_schema(DEALT), to_arrow_schema(JUDGED)


def judged(parts: DataFrame, most_bytes: int = MOST_BYTES) -> DataFrame:
    """Everything there is to say about the parts (PARTS) of many runs, as rows of JUDGED; small, so keep it."""
    sizes = parts.groupBy("folder").agg(F.ceil(F.sum("length") / most_bytes).cast("int").alias("slices"))
    whole = parts.join(F.broadcast(sizes), "folder").select(
        "folder", "path", "sha256", "is_settled", "content", "slices"
    )
    return whole.mapInArrow(_dealt, DEALT).groupBy("folder", "aspect", "slice").applyInArrow(_judged, JUDGED)


def anomalies(judged_rows: DataFrame) -> DataFrame:
    """One row per class and group of a run; of a run of which any part could not be read, none."""
    merged = (
        _of_whole_runs(judged_rows, ANOMALY)
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
    counted = _of_whole_runs(judged_rows, OPERATIONS).groupBy("folder", "topic", "partition", "kind", "outcome")
    return counted.agg(F.sum("count").alias("operations"))


def checked_classes(judged_rows: DataFrame) -> DataFrame:
    """One row per run: the classes of anomaly that its operations would have shown."""
    of_runs = _of_whole_runs(judged_rows, CHECKED).groupBy("folder")
    return of_runs.agg(F.array_sort(F.collect_set("name")).alias("classes"))


def set_aside(judged_rows: DataFrame) -> DataFrame:
    """Runs whose operations could not be read, as rows that are set aside: their content is unknown."""
    aside = judged_rows.where(F.col("what") == SET_ASIDE).distinct()
    path = F.concat(F.col("folder"), F.lit("/operations")).alias("path")
    line = F.lit(None).cast("long").alias("line")
    return aside.select("folder", path, line, F.col("text").alias("reason"), F.lit(col=True).alias("is_run"))


def _of_whole_runs(judged_rows: DataFrame, what: str) -> DataFrame:
    """The rows of a sort, without runs of which any part could not be read: the other slices of one prove nothing."""
    damaged = judged_rows.where(F.col("what") == SET_ASIDE).select("folder").distinct()
    return judged_rows.where(F.col("what") == what).join(F.broadcast(damaged), "folder", "left_anti")


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
    same = {name: batch[name] for name in ("folder", "path", "sha256", "is_settled", "content")}
    same["aspect"] = pa.repeat("", rows)
    same["slice"] = pa.repeat(pa.scalar(0, pa.int32()), rows)
    same["is_copy"] = pa.repeat(pa.scalar(value=False), rows)
    return pa.RecordBatch.from_arrays([same[name] for name in _DEALT.names], schema=_DEALT)


def _cut(part: pa.RecordBatch) -> pa.RecordBatch:
    row = {name: part[name][0].as_py() for name in ("folder", "path", "sha256", "is_settled", "slices")}
    try:
        table = whole_part(row["path"], part["content"][0].as_buffer(), row["sha256"])
    except RunFolderError:
        return _as_they_are(part)  # to a group of its own, which will say so
    keys = {name: row[name] for name in ("folder", "path", "is_settled")}
    rows = [
        {**keys, "aspect": s.aspect.value, "slice": s.number, "is_copy": s.is_copy, "content": s.content.to_pybytes()}
        for s in dealt(table, row["slices"])
    ]
    return pa.RecordBatch.from_pylist(rows, schema=_DEALT)


def _judged(group: pa.Table) -> pa.Table:
    return pa.Table.from_pylist(list(judged_group(group)), schema=_JUDGED)
