"""The tables of an analysis: kept facts in batches that no one rewrites, all else computed anew and put in place."""

import io
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import causes, clusters, facts, flakiness, logs, marts, nights, schemas, staging, trends
from pytest_kmigrate.analysis.foreign import foreign_attempts
from pytest_kmigrate.reports.discovery import Notice
from pytest_kmigrate.reports.ledger import FOLDER as LEDGER_FOLDER
from pytest_kmigrate.reports.paths import literal
from pytest_kmigrate.reports.storage import Storage

Row = dict[str, object]

UNFINISHED = "_unfinished"
"""Tables that are computed anew lie here until all are complete; Spark and others overlook what begins so."""

_WRITTEN_AT_ONCE = 3
"""Small tables are all waiting and little work, so a few at a time keep two cores busy."""

_UNSHOWN = frozenset(
    {"runs", "verdicts", "requirement_attempts", "faults", "durations", "log_forms", *schemas.OBSERVATIONS}
)
"""Tables for questions of one's own; a page is made of the others."""


class TableFolder:
    """The folder of all tables.

    A layer is computed from the written tables of the one below. That keeps every plan short: Spark looks at a whole
    plan whenever it grows, and with one plan from raw text to marts this took longer than all the counting.
    """

    def __init__(self, spark: SparkSession, storage: Storage, *, is_small: bool) -> None:
        self.spark = spark
        self.storage = storage
        self._is_small = is_small
        self._batches: tuple[int, ...] = ()

    def begin(self, batches: Iterable[int]) -> None:
        """From now on the kept facts are those of these batches, and nothing is computed from them yet."""
        self._batches = tuple(batches)
        self.storage.delete(UNFINISHED)

    def free_batch(self) -> int:
        """A number above that of any batch there is, be it in the ledger or left by an interrupted analysis."""
        return 1 + max((number for name in schemas.KEPT for number in self._numbers(name)), default=0)

    def write(self, tables: Mapping[str, DataFrame], done: Callable[[str], None] = lambda _name: None) -> None:
        """Write tables that are computed anew; ``done`` hears of each that is there."""
        self._write({f"{UNFINISHED}/{name}": (name, frame) for name, frame in tables.items()}, done)

    def write_batch(self, batch: int, tables: Mapping[str, DataFrame]) -> None:
        """Write kept facts; nobody sees them before the ledger names the batch."""
        self._write({_batch(name, batch): (name, frame) for name, frame in tables.items()}, lambda _name: None)

    def of_batches(self, name: str, batches: Iterable[int]) -> DataFrame:
        """A kept table, from some batches only."""
        return self._read(name, [_batch(name, batch) for batch in batches])

    def __getitem__(self, name: str) -> DataFrame:
        """A table that was written."""
        return self._read(name, self._folders(name))

    def in_one_part(self, frame: DataFrame) -> DataFrame:
        """While the data is small, one partition: one file per table, and no shuffle anywhere."""
        return frame.coalesce(1) if self._is_small else frame

    def publish(self) -> None:
        """Put what was computed anew in the place of what was there, and remove what nobody counts any more."""
        new = self.storage.names(UNFINISHED)
        for name in new:
            self.storage.delete(name)
            self.storage.move(_new(name), name)
        self.storage.delete(UNFINISHED)
        for name in schemas.KEPT:
            for number in self._numbers(name):
                if number not in self._batches:
                    self.storage.delete(_batch(name, number))
        for name in set(self.storage.names("")) - {*new, *schemas.KEPT, LEDGER_FOLDER}:
            self.storage.delete(name)

    def shown(self) -> dict[str, list[Row]]:
        """The rows of every table that a page is made of, as just written."""
        return {name: self._rows(name) for name in schemas.TABLES if name not in _UNSHOWN}

    def _write(self, tables: Mapping[str, tuple[str, DataFrame]], done: Callable[[str], None]) -> None:
        def write(path: str) -> None:
            name, frame = tables[path]
            # The declared schema is what is written: a column that strayed fails here, not at a reader.
            table = self.in_one_part(frame.to(schemas.TABLES[name]))
            table.write.mode("overwrite").parquet(f"{self.storage.uri}/{path}")
            done(name)

        with ThreadPoolExecutor(_WRITTEN_AT_ONCE) as pool:
            # list() raises what a write raised.
            list(pool.map(inheritable_thread_target(self.spark)(write), tables))

    def _read(self, name: str, paths: list[str]) -> DataFrame:
        if not paths:
            return self.spark.createDataFrame([], schemas.TABLES[name])
        stored = self.spark.read.schema(schemas.TABLES[name])
        return self.in_one_part(stored.parquet(*[literal(f"{self.storage.uri}/{path}") for path in paths]))

    def _rows(self, name: str) -> list[Row]:
        parts = [f"{folder}/{part}" for folder in self._folders(name) for part in self.storage.names(folder)]
        whole = [part for part in parts if part.endswith(".parquet") and part.rpartition("/")[2][0] not in "._"]
        tables = [pq.read_table(io.BytesIO(content)) for content in self.storage.contents(whole).values()]
        rows: list[Row] = pa.concat_tables(tables).to_pylist() if tables else []
        return rows

    def _folders(self, name: str) -> list[str]:
        """Where the parts of a table lie that count now."""
        return [_batch(name, number) for number in self._batches] if name in schemas.KEPT else [_new(name)]

    def _numbers(self, name: str) -> list[int]:
        prefix = "batch="
        return [int(each[len(prefix) :]) for each in self.storage.names(name) if each.startswith(prefix)]


def write_attempts(tables: TableFolder, notices: list[Notice], foreign: DataFrame | None) -> None:
    """What depends on all runs together: their order, which are copies of others, and all that is set aside.

    ``foreign`` are files of other tools, whole; their results are attempts like ours, and read anew each time.
    """
    once = tables.in_one_part(staging.counted_once(tables["runs"])).cache()
    cached = [once]
    runs = once.where(F.col("reason").isNull())
    rows = [(path, None, reason, is_run) for path, reason, is_run in notices]
    aside = tables.spark.createDataFrame(rows, schemas.TABLES["set_aside"])
    for other in (tables["bad_rows"], staging.set_aside(once, is_run=~F.col("is_copy"))):
        aside = aside.unionByName(other.drop("folder"))
    conditions = facts.conditions(runs, tables["faults"])
    attempts = facts.attempts(conditions, tables["verdicts"], tables["durations"])
    if foreign is not None:
        staged = tables.in_one_part(foreign_attempts(foreign)).cache()
        cached.append(staged)
        attempts = attempts.unionByName(staging.good(staged).select(*schemas.ATTEMPTS.names))
        aside = aside.unionByName(staging.set_aside(staged).drop("folder"))
    cached.append(tables.in_one_part(attempts).cache())
    attempts = cached[-1]
    tables.write({"infra_nights": nights.infra_nights(attempts), "set_aside": staging.shortened(aside)})
    per_requirement = facts.requirement_attempts(attempts, runs, tables["verdicts"])
    told = {"attempts": attempts, "requirement_attempts": per_requirement}
    tables.write({name: nights.in_nights(frame, tables["infra_nights"]) for name, frame in told.items()})
    for frame in cached:
        frame.unpersist()


def write_marts(tables: TableFolder, done: Callable[[str], None]) -> None:
    """Compute from the facts what people look at; ``done`` hears of each table that is there."""
    attempts, verdicts, per_requirement = tables["attempts"], tables["verdicts"], tables["requirement_attempts"]
    faults, durations, log_lines = tables["faults"], tables["durations"], tables["log_lines"]
    messages = tables.in_one_part(clusters.normalised(clusters.failure_messages(verdicts, attempts))).cache()
    tables.write(
        {
            "fault_effects": marts.fault_effects(faults, attempts),
            "bugs": marts.bugs(verdicts, attempts),
            "consistency": marts.consistency(verdicts, attempts),
            "consistency_facts": marts.consistency_facts(verdicts, attempts),
            "duration_statistics": marts.duration_statistics(durations, attempts),
            "failure_members": clusters.failure_members(messages),
            "log_forms": logs.log_forms(log_lines, attempts),
            "trends": trends.trends(durations, verdicts, faults, tables["metrics"], attempts),
        },
        done,
    )
    messages.unpersist()
    members, forms = tables["failure_members"], tables["log_forms"]
    held = attempts.where("not is_aside")
    tables.write(
        {
            "flakiness": flakiness.flakiness(attempts),
            "change_points": flakiness.change_points(attempts),
            "requirement_flakiness": flakiness.flakiness(per_requirement, flakiness.REQUIREMENT_CELL),
            "requirement_changes": flakiness.change_points(per_requirement, flakiness.REQUIREMENT_CELL),
            "trend_changes": trends.trend_changes(tables["trends"], tables["infra_nights"]),
            "failure_clusters": clusters.failure_clusters(members, attempts),
            "causes": causes.causes(held, faults, verdicts, members),
            "log_templates": logs.log_templates(log_lines, forms, attempts),
            "log_signs": logs.log_signs(log_lines, forms, held, members),
        },
        done,
    )
    counted = nights.excused(per_requirement)
    tables.write(
        {
            "cells": marts.cells(counted, tables["requirement_flakiness"]),
            "tests": marts.tests(nights.excused(attempts), tables["flakiness"]),
            "requirements": marts.requirements(counted, tables["requirement_flakiness"]),
        },
        done,
    )


def _new(name: str) -> str:
    return f"{UNFINISHED}/{name}"


def _batch(name: str, number: int) -> str:
    return f"{name}/batch={number}"
