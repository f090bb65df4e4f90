"""Client operations of many runs for Spark: the parts below their ``operations/`` folders, as bytes."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.schemas.consistency import PARTS
from pytest_kmigrate.reports.ingestion.paths import literal, path_of

OPERATIONS_FOLDER = "operations"


def is_part(path: str) -> bool:
    """Whether a file of a run holds a part of its operations."""
    return path.startswith(f"{OPERATIONS_FOLDER}/") and path.endswith(".parquet") and path.count("/") == 1


def operation_parts(
    spark: SparkSession, root: str, is_settled: Mapping[str, bool], sha256: Mapping[str, Mapping[str, str]]
) -> DataFrame:
    """The parts of some runs as PARTS; of each folder below ``root`` (any URI Hadoop knows), whether its run ended.

    Every folder must have ``operations/``. Nothing is opened for ``length``, so that alone costs a listing. ``sha256``
    are the digests that manifests name, folder by folder; of a part that none names, they are unknown.
    """
    folders = [root if folder == "." else f"{root}/{folder}" for folder in is_settled]
    files = spark.read.format("binaryFile").load([literal(f"{folder}/{OPERATIONS_FOLDER}") for folder in folders])
    inner = F.substring_index(F.col("path"), "/", -2)
    below = F.regexp_replace("path", "^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?", "")
    folder = F.regexp_replace(F.substr(below, F.lit(len(path_of(root)) + 2)), f"/?{OPERATIONS_FOLDER}/[^/]*$", "")
    named = files.where(F.col("path").endswith(".parquet")).select(
        F.when(folder == "", ".").otherwise(folder).alias("folder"), inner.alias("path"), "length", "content"
    )
    rows = [(folder, settled, dict(sha256.get(folder, {}))) for folder, settled in is_settled.items()]
    runs = spark.createDataFrame(rows, "folder string, is_settled boolean, sha256 map<string, string>")
    of_part = F.try_element_at("sha256", F.col("path"))
    return named.join(F.broadcast(runs), "folder").withColumn("sha256", of_part).select(*PARTS.names)
