"""From run folders to Parquet: reads, lets the analysis compute, writes each layer and builds the next one on it."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq
from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import facts, marts, schemas, staging
from pytest_kmigrate.reports.discovery import PATTERN_CHARACTERS, Discovery

Row = dict[str, object]
Frames = dict[str, DataFrame]

_WRITTEN_AT_ONCE = 3
"""Small tables are all waiting and little work, so a few at a time keep two cores busy."""


class TableFolder:
    """The folder the tables of one analysis are written to, one Parquet folder each.

    A layer is computed from the written tables of the one below. That keeps every plan short: Spark looks at a whole
    plan whenever it grows, and with one plan from raw text to marts this took longer than all the counting.
    """

    def __init__(self, spark: SparkSession, path: Path, *, is_small: bool) -> None:
        self._spark = spark
        self._path = path
        self._is_small = is_small

    def write(self, tables: Mapping[str, DataFrame]) -> None:
        """Write some tables; each must have the schema declared for its name."""

        def write(name: str) -> None:
            # The declared schema is what is written: a column that strayed fails here, not at a reader.
            table = self.in_one_part(tables[name].to(schemas.TABLES[name]))
            table.write.mode("overwrite").parquet(f"file://{self._path / name}")

        with ThreadPoolExecutor(_WRITTEN_AT_ONCE) as pool:
            # list() raises what a write raised.
            list(pool.map(inheritable_thread_target(self._spark)(write), tables))

    def __getitem__(self, name: str) -> DataFrame:
        """A table that was written."""
        stored = self._spark.read.schema(schemas.TABLES[name]).parquet(_literal(self._path / name))
        return self.in_one_part(stored)

    def in_one_part(self, frame: DataFrame) -> DataFrame:
        """While the data is small, one partition: one file per table, and no shuffle anywhere."""
        return frame.coalesce(1) if self._is_small else frame


def write_facts(spark: SparkSession, discovery: Discovery, tables: TableFolder) -> None:
    """Stage what lies in the run folders and write the facts, and what had to be set aside."""
    folders = spark.createDataFrame(
        [(run.folder, run.is_complete, run.timeline) for run in discovery.runs], schemas.FOLDERS
    )
    files = _files(spark, discovery)
    runs = tables.in_one_part(staging.staged_runs(folders, files)).cache()
    verdicts = tables.in_one_part(staging.staged_verdicts(files)).cache()
    events = tables.in_one_part(staging.staged_events(files)).cache()
    strangers = [(name, None, reason, False) for name, reason in discovery.strangers]
    aside = spark.createDataFrame(strangers, schemas.TABLES["set_aside"])
    for staged in (runs, verdicts, events):
        aside = aside.unionByName(staging.set_aside(staged))
    tables.write({"runs": staging.good(runs), "set_aside": aside})

    in_phases = facts.phases(staging.good(events).join(tables["runs"].select("folder"), "folder", "left_semi"))
    damaged = verdicts.where(F.col("reason").isNotNull())
    tables.write(
        {
            "verdicts": facts.verdicts(tables["runs"], staging.good(verdicts), damaged),
            "faults": facts.faults(in_phases),
            "durations": facts.durations(in_phases),
        }
    )
    conditions = facts.conditions(tables["runs"], tables["faults"])
    tables.write({"attempts": facts.attempts(conditions, tables["verdicts"], tables["durations"])})
    per_requirement = facts.requirement_attempts(tables["attempts"], tables["runs"], tables["verdicts"])
    tables.write({"requirement_attempts": per_requirement})


def write_marts(tables: TableFolder) -> None:
    """Compute from the facts what people look at."""
    attempts, verdicts, per_requirement = tables["attempts"], tables["verdicts"], tables["requirement_attempts"]
    tables.write(
        {
            "cells": marts.cells(per_requirement),
            "tests": marts.tests(attempts),
            "requirements": marts.requirements(per_requirement),
            "fault_effects": marts.fault_effects(tables["faults"], attempts),
            "bugs": marts.bugs(verdicts, attempts),
            "consistency": marts.consistency(verdicts, attempts),
            "consistency_facts": marts.consistency_facts(verdicts, attempts),
            "duration_statistics": marts.duration_statistics(tables["durations"], attempts),
        }
    )


def read_tables(folder: Path) -> dict[str, list[Row]]:
    """The rows of every written table that a page shows."""
    unshown = {"runs", "verdicts", "requirement_attempts", "faults", "durations"}
    return {name: pq.read_table(folder / name).to_pylist() for name in schemas.TABLES if name not in unshown}


def _files(spark: SparkSession, discovery: Discovery) -> DataFrame:
    """The text of every file of every run, with the folder it is from."""
    paths = [discovery.root / run.folder / file for run in discovery.runs for file in run.files]
    text = spark.read.text([_literal(path) for path in paths], wholetext=True)
    # Spark gives the path percent-encoded; url_decode would also turn a plus sign into a space.
    decoded = F.url_decode(F.replace(F.col("_metadata.file_path"), F.lit("+"), F.lit("%2B")))
    path = F.regexp_replace(decoded, "^file:/+", "/")
    inner = F.substr(path, F.lit(len(str(discovery.root)) + 2))
    folder = F.regexp_replace(inner, "/?[^/]*$", "")
    return text.select(
        F.when(folder == "", ".").otherwise(folder).alias("folder"),
        F.col("_metadata.file_name").alias("file"),
        F.col("value").alias("text"),
    )


def _literal(path: Path) -> str:
    """``path`` for Spark to read: as it is (Hadoop decodes nothing), but for what it would read as a pattern."""
    return "file://" + "".join(f"\\{each}" if each in PATTERN_CHARACTERS else each for each in str(path))
