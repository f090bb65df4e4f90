"""Which lines of Kafka's code tests have executed, from JaCoCo's probes of class files and what these say of lines."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import schemas

_CODE = ("profile", "kafka", "class")
_LINE = (*_CODE, "source", "method", "line")


def exercised(code_lines: DataFrame, executions: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per line of the watched code: how many runs executed it, and of which tests.

    Execution data counts for the class file that it was recorded of, by its sum, and for no other.
    """
    runs = attempts.select("folder", "test_id", "profile", "kafka")
    probes = executions.join(runs, "folder").select(
        *_CODE[:2], F.col("class_name").alias("class"), "class_id", "folder", "test_id", _each("executed")
    )
    lines = code_lines.select(*_LINE, "class_id", _each("probes"))
    hit = lines.join(probes, [*_CODE, "class_id", "probe"], "left")
    return (
        hit.groupBy(*_LINE)
        .agg(
            F.count_distinct("folder").alias("runs"),
            F.array_sort(F.collect_set("test_id")).alias("tests"),
        )
        .select(*schemas.TABLES["exercised"].names)
    )


def exercised_classes(lines: DataFrame, code_lines: DataFrame, executions: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per class of the watched code: how much of it was executed, and what never was.

    A line of several methods counts once, and is executed if it was in any. ``other_files``: runs whose data of the
    class are of another class file, and were left out.
    """
    of_line = lines.groupBy(*_CODE, "source", "line").agg(F.max("runs").alias("runs"))
    per_line = of_line.groupBy(*_CODE, "source").agg(
        F.count("*").alias("lines"),
        F.count_if(F.col("runs") > 0).alias("executed"),
        _sorted(F.when(F.col("runs") == 0, F.col("line"))).alias("never"),
    )
    of_method = lines.groupBy(*_CODE, "method").agg(F.max("runs").alias("runs"))
    per_method = of_method.groupBy(*_CODE).agg(
        F.count("*").alias("methods"),
        F.count_if(F.col("runs") > 0).alias("executed_methods"),
        _sorted(F.when(F.col("runs") == 0, F.col("method"))).alias("never_methods"),
    )
    tests = lines.select(*_CODE, F.explode("tests").alias("test")).groupBy(*_CODE)
    joined = (
        per_line.join(per_method, list(_CODE))
        .join(tests.agg(F.count_distinct("test").alias("tests")), list(_CODE), "left")
        .join(_other_files(code_lines, executions, attempts), list(_CODE), "left")
    )
    counted = {name: F.coalesce(name, F.lit(0)).cast("long") for name in ("tests", "other_files")}
    return joined.withColumns(counted).select(*schemas.TABLES["exercised_classes"].names)


def _other_files(code_lines: DataFrame, executions: DataFrame, attempts: DataFrame) -> DataFrame:
    known = code_lines.select(*_CODE, "class_id").distinct()
    runs = attempts.select("folder", "profile", "kafka")
    found = executions.join(runs, "folder").withColumnRenamed("class_name", "class")
    strange = found.join(known, [*_CODE, "class_id"], "left_anti")
    return strange.groupBy(*_CODE).agg(F.count_distinct("folder").alias("other_files"))


def _each(column: str) -> Column:
    """One row per place; one without any where there is none."""
    return F.explode_outer(column).alias("probe")


def _sorted(values: Column) -> Column:
    return F.array_sort(F.collect_set(values))
