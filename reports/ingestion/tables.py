"""The tables of an analysis: kept facts in batches that no one rewrites, all else computed anew and put in place."""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # PySpark's bridge has no types
from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import (
    causes,
    chaos,
    clusters,
    exercise,
    facts,
    flakiness,
    logs,
    marts,
    mutation,
    nights,
    schemas,
    staging,
    trends,
)
from pytest_kmigrate.analysis.foreign import Label, foreign_attempts
from pytest_kmigrate.reports.ingestion.discovery import Notice
from pytest_kmigrate.reports.ingestion.ledger import EARLIER, UNFINISHED
from pytest_kmigrate.reports.ingestion.ledger import FOLDER as LEDGER_FOLDER
from pytest_kmigrate.reports.ingestion.paths import literal
from pytest_kmigrate.reports.ingestion.small_tables import few_rows, has_rows, write_rows
from pytest_kmigrate.reports.ingestion.storage import LocalStorage, Storage

Row = dict[str, object]
Made = Callable[[], DataFrame]
"""A table that is yet to be computed: Spark looks at every step of it, which takes longer than counting a few runs."""


class Begin(Protocol):
    """Begins to write a table."""

    def __call__(self, name: str, made: Made | None, of: Sequence[str] = ()) -> None:
        """``made`` computes it; None where there is nothing that could be in it.

        Each of its rows is made of rows of every table of ``of``: without any there, nothing is computed.
        """
        ...


_WRITTEN_AT_ONCE = 3
"""Small tables are all waiting and little work, so a few at a time keep two cores busy."""

_UNSHOWN = frozenset(
    {
        "runs",
        "verdicts",
        "requirement_attempts",
        "faults",
        "durations",
        "figures",
        "log_forms",
        "code_lines",
        "exercised",
        "happenings",
        *schemas.OBSERVATIONS,
    }
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
        self._begun: dict[str, Future[None]] = {}
        self._read_already: dict[tuple[str, ...], DataFrame] = {}

    def begin(self, batches: Iterable[int]) -> None:
        """From now on the kept facts are those of these batches, and nothing is computed from them yet."""
        self._batches = tuple(batches)
        self.storage.delete(UNFINISHED)

    def free_batch(self) -> int:
        """A number above that of any batch there is, be it in the ledger or left by an interrupted analysis."""
        return 1 + max((number for name in schemas.KEPT for number in self._numbers(name)), default=0)

    @contextmanager
    def writing(self, batch: int | None = None, done: Callable[[str], None] = lambda _name: None) -> Iterator[Begin]:
        """Tables are computed and written, a few at once, while the block begins more; its end waits for all.

        With ``batch`` they are kept facts, not seen before the ledger names it. ``done`` hears of each that is
        there. Who asks for a table that was begun waits for it, so what others are computed from is begun first.
        """

        def write(name: str, made: Made | None, of: Sequence[str]) -> None:
            if not all(self._may_have_rows(each, batch) for each in of):
                made = None
            # The declared schema is what is written: a column that strayed fails here, not at a reader.
            table = None if made is None else made().to(schemas.TABLES[name])
            self._write(name, table, _new(name) if batch is None else _batch(name, batch))
            done(name)

        def begin(name: str, made: Made | None, of: Sequence[str] = ()) -> None:
            # Anew for each: threads with one target share its local properties, in which Spark sends settings to tasks.
            target = inheritable_thread_target(self.spark)(write)
            self._begun[name] = pool.submit(target, name, made, of)

        with ThreadPoolExecutor(_WRITTEN_AT_ONCE) as pool:
            try:
                yield begin
                for ended in as_completed(self._begun.values()):
                    ended.result()
            except BaseException:
                # Nobody needs the others any more, and the end of the pool waits for those that run.
                pool.shutdown(wait=False, cancel_futures=True)
                with suppress(Py4JError, OSError):
                    self.spark.interruptAll()
                raise
            finally:
                pool.shutdown()
                self._begun.clear()

    def share_there(self) -> int:
        """Of the tables that are being written, how many are there, in whole per cent; the one that asks counts."""
        begun = list(self._begun.values())
        return 100 * min(len(begun), 1 + sum(each.done() for each in begun)) // max(1, len(begun))

    @contextmanager
    def keeping(self) -> Iterator[Callable[[DataFrame], DataFrame]]:
        """Gives what holds on to a frame that is used more than once, until the block ends."""
        held: list[DataFrame] = []

        def keep(frame: DataFrame) -> DataFrame:
            if self._is_small:
                # Rows as they are: for columns of its own a cache compiles code for each frame. Spark removes them when
                # nothing refers to them any more.
                return self.in_one_part(frame).localCheckpoint(eager=False)
            held.append(frame.cache())
            return held[-1]

        try:
            yield keep
        finally:
            for frame in held:
                frame.unpersist()

    def of_batches(self, name: str, batches: Iterable[int]) -> DataFrame:
        """A kept table, from some batches only."""
        return self._read(name, [_batch(name, batch) for batch in batches])

    def __getitem__(self, name: str) -> DataFrame:
        """A table that was written, or will be in a moment."""
        self._awaited(name)
        return self._read(name, self._folders(name))

    def _awaited(self, name: str) -> None:
        if name in self._begun:
            self._begun[name].result()

    def in_one_part(self, frame: DataFrame) -> DataFrame:
        """While the data is small, one partition: one file per table, and no shuffle anywhere."""
        return frame.coalesce(1) if self._is_small else frame

    def publish(self) -> None:
        """Put what was computed anew in the place of what was there, and remove what no longer counts."""
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
            if not name.startswith(EARLIER):
                self.storage.delete(name)

    def shown(self) -> dict[str, list[Row]]:
        """The rows of every table that a page is made of, as just written."""
        return {name: self._rows(name) for name in schemas.TABLES if name not in _UNSHOWN}

    def _write(self, name: str, table: DataFrame | None, path: str) -> None:
        """Write a table; without one it has no rows."""
        schema = schemas.TABLES[name]
        if isinstance(self.storage, LocalStorage) and (table is None or self._is_small):
            write_rows(self.storage, path, None if table is None else table.toArrow(), schema)
        else:
            table = self.spark.createDataFrame([], schema) if table is None else self.in_one_part(table)
            table.write.mode("overwrite").parquet(f"{self.storage.uri}/{path}")

    def _may_have_rows(self, name: str, batch: int | None) -> bool:
        """Whether a table, or its part of a batch, has any, as far as that can be known without a job."""
        self._awaited(name)
        folders = self._folders(name) if batch is None else [_batch(name, batch)]
        return not isinstance(self.storage, LocalStorage) or has_rows(self.storage, folders)

    def _read(self, name: str, paths: list[str]) -> DataFrame:
        key = (name, *paths)
        if key not in self._read_already:
            self._read_already[key] = self.in_one_part(self._frame(name, paths))
        return self._read_already[key]

    def _frame(self, name: str, paths: list[str]) -> DataFrame:
        schema = schemas.TABLES[name]
        if isinstance(self.storage, LocalStorage):
            rows = few_rows(self.storage, paths, schema)
            if rows is not None:
                return self.spark.createDataFrame(rows, schema)
        elif not paths:
            return self.spark.createDataFrame([], schema)
        return self.spark.read.schema(schema).parquet(*[literal(f"{self.storage.uri}/{path}") for path in paths])

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


def write_attempts(
    tables: TableFolder, notices: list[Notice], foreign: DataFrame | None, labels: Sequence[Label] = ()
) -> None:
    """What depends on all runs together: their order, which are copies of others, and all that is set aside.

    ``foreign`` are files of other tools, whole; their results are attempts like ours, and read anew each time.
    ``labels`` name conditions of these. Raises WrongUseError for a label that no result has.
    """
    with tables.keeping() as keep:
        once = keep(staging.counted_once(tables["runs"]))
        runs = once.where(F.col("reason").isNull())
        rows = [(path, None, reason, is_run) for path, reason, is_run in notices]
        aside = tables.spark.createDataFrame(rows, schemas.TABLES["set_aside"])
        for other in (tables["bad_rows"], staging.set_aside(once, is_run=~F.col("is_copy"))):
            aside = aside.unionByName(other.drop("folder"))
        conditions = facts.conditions(runs, tables["faults"])
        attempts = facts.attempts(conditions, tables["verdicts"], tables["durations"])
        if foreign is not None:
            staged = keep(foreign_attempts(foreign, keep, labels))
            attempts = attempts.unionByName(staging.good(staged).select(*schemas.ATTEMPTS.names))
            aside = aside.unionByName(staging.set_aside(staged, is_run=F.col("is_doubt")).drop("folder"))
        attempts = keep(attempts)
        with tables.writing() as begin:
            begin("infra_nights", lambda: nights.infra_nights(chaos.besides_schedules(attempts, tables["schedules"])))
            begin("set_aside", lambda: staging.shortened(aside))
            begin("attempts", lambda: nights.in_nights(attempts, tables["infra_nights"]))
            per_requirement = facts.requirement_attempts(attempts, runs, tables["verdicts"])
            begin("requirement_attempts", lambda: nights.in_nights(per_requirement, tables["infra_nights"]))


def write_marts(tables: TableFolder, code_lines: DataFrame, mutants: DataFrame, done: Callable[[int], None]) -> None:
    """Compute from the facts what people look at; ``done`` hears which share of the tables is there, in per cent.

    ``code_lines``: the lines of Kafka that runs watched; ``mutants``: the table ``mutation``.
    """
    attempts, verdicts, per_requirement = tables["attempts"], tables["verdicts"], tables["requirement_attempts"]
    faults, durations, log_lines = tables["faults"], tables["durations"], tables["log_lines"]
    drawn, happenings = tables["schedules"], tables["happenings"]
    held, cell = attempts.where("not is_aside"), flakiness.REQUIREMENT_CELL
    per_requirement = chaos.with_schedules_as_one(per_requirement, drawn)
    counted, of_tests = nights.excused(per_requirement), chaos.besides_schedules(attempts, drawn)
    with tables.keeping() as keep, tables.writing(done=lambda _: done(tables.share_there())) as begin:
        begin("code_lines", lambda: code_lines)
        begin("mutation", lambda: mutants)
        _begin_code(tables, attempts, begin)
        messages = keep(clusters.normalised(clusters.failure_messages(verdicts, attempts)))
        begin("failure_members", lambda: clusters.failure_members(messages))
        begin("log_forms", lambda: logs.log_forms(log_lines, attempts), of=("log_lines",))
        begin("requirement_flakiness", lambda: flakiness.flakiness(per_requirement, cell))
        begin("flakiness", lambda: flakiness.flakiness(of_tests))
        begin("trends", lambda: trends.trends(durations, verdicts, faults, tables["metrics"], attempts))
        begin("causes", lambda: causes.causes(held, faults, verdicts, tables["failure_members"]))
        begin(
            "log_signs",
            lambda: logs.log_signs(log_lines, tables["log_forms"], held, tables["failure_members"]),
            of=("log_forms",),
        )
        begin("log_templates", lambda: logs.log_templates(log_lines, tables["log_forms"], attempts), of=("log_forms",))
        begin(
            "failure_clusters",
            lambda: clusters.failure_clusters(tables["failure_members"], attempts),
            of=("failure_members",),
        )
        begin("change_points", lambda: flakiness.change_points(of_tests))
        begin("requirement_changes", lambda: flakiness.change_points(per_requirement, cell))
        begin("trend_changes", lambda: trends.trend_changes(tables["trends"]), of=("trends",))
        begin("cells", lambda: marts.cells(chaos.besides_schedules(counted, drawn), tables["requirement_flakiness"]))
        begin("tests", lambda: marts.tests(nights.excused(of_tests), tables["flakiness"]))
        begin("requirements", lambda: marts.requirements(counted, tables["requirement_flakiness"]))
        begin("requirement_outcomes", lambda: marts.requirement_outcomes(counted))
        begin("fault_effects", lambda: marts.fault_effects(faults, attempts), of=("faults",))
        begin("bugs", lambda: marts.bugs(verdicts, attempts))
        begin("consistency", lambda: marts.consistency(verdicts, attempts))
        begin("consistency_facts", lambda: marts.consistency_facts(verdicts, attempts))
        begin("duration_statistics", lambda: marts.duration_statistics(durations, attempts), of=("durations",))
        _begin_chaos(happenings, drawn, attempts, verdicts, begin)
        begin("growth", lambda: marts.growth(tables["figures"], attempts), of=("figures",))


def _begin_code(tables: TableFolder, attempts: DataFrame, begin: Begin) -> None:
    """What was executed of Kafka's code, and which of its mutants were noticed."""
    begin(
        "exercised",
        lambda: exercise.exercised(tables["code_lines"], tables["executions"], attempts),
        of=("code_lines",),
    )
    begin(
        "exercised_classes",
        lambda: exercise.exercised_classes(tables["exercised"], tables["code_lines"], tables["executions"], attempts),
        of=("exercised",),
    )
    begin("mutation_scores", lambda: mutation.mutation_scores(tables["mutation"]), of=("mutation",))
    begin("mutation_requirements", lambda: mutation.mutation_requirements(tables["mutation"]), of=("mutation",))


def _begin_chaos(
    happenings: DataFrame, drawn: DataFrame, attempts: DataFrame, verdicts: DataFrame, begin: Begin
) -> None:
    """What nights of schedules came to."""
    begin("chaos_cells", lambda: chaos.chaos_cells(happenings, drawn, attempts), of=("happenings",))
    begin("chaos_pairs", lambda: chaos.chaos_pairs(happenings, drawn, attempts), of=("happenings",))
    begin("chaos_nights", lambda: chaos.chaos_nights(drawn, attempts), of=("schedules",))
    begin("shrinks", lambda: chaos.shrinks(drawn, attempts, verdicts), of=("schedules",))


def _new(name: str) -> str:
    return f"{UNFINISHED}/{name}"


def _batch(name: str, number: int) -> str:
    return f"{name}/batch={number}"
