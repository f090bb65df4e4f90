"""Client operations of many runs for Spark: the parts below their ``operations/`` folders, as bytes."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.schemas.consistency import PARTS
from pytest_kmigrate.reports.paths import literal, path_of

OPERATIONS_FOLDER = "operations"


def operation_parts(spark: SparkSession, root: str, is_settled: Mapping[str, bool]) -> DataFrame:
    """The parts of some runs as PARTS; of each folder below ``root`` (any URI Hadoop knows), whether its run ended.

    Every folder must have ``operations/``. Nothing is opened for ``length``, so that alone costs a listing.
    """
    folders = [root if folder == "." else f"{root}/{folder}" for folder in is_settled]
    files = spark.read.format("binaryFile").load([literal(f"{folder}/{OPERATIONS_FOLDER}") for folder in folders])
    inner = F.substring_index(F.col("path"), "/", -2)
    below = F.regexp_replace("path", "^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?", "")
    folder = F.regexp_replace(F.substr(below, F.lit(len(path_of(root)) + 2)), f"/?{OPERATIONS_FOLDER}/[^/]*$", "")
    named = files.where(F.col("path").endswith(".parquet")).select(
        F.when(folder == "", ".").otherwise(folder).alias("folder"), inner.alias("path"), "length", "content"
    )
    settled = spark.createDataFrame(list(is_settled.items()), "folder string, is_settled boolean")
    return named.join(F.broadcast(settled), "folder").select(*PARTS.names)
