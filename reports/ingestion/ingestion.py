"""Ingestion: reads the run folders that are new or changed, each once, and keeps their facts in batches.

The rules of what is read again, replaced and kept are those of the ledger.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import chaos, consistency, facts, observations, schemas, staging
from pytest_kmigrate.reports.ingestion.discovery import Discovery, FoundRun, Notice
from pytest_kmigrate.reports.ingestion.ledger import (
    Ledger,
    Step,
    batches,
    gone,
    make_room,
    no_longer_counted,
    steps,
    write_ledger,
)
from pytest_kmigrate.reports.ingestion.operations import OPERATIONS_FOLDER
from pytest_kmigrate.reports.ingestion.reading import RunFiles
from pytest_kmigrate.reports.ingestion.storage import Storage
from pytest_kmigrate.reports.ingestion.tables import Begin, Made, TableFolder
from pytest_kmigrate.reports.ingestion.verification import BadRow, Verified, bad_file, known_by, verified

_NO_RUN_ENDED = (
    "run-ended is missing in the history of a run that has a manifest.json: its last events are lost; "
    "what is there counts; restore the file, or run the test again"
)

_FOLDER = "folder string"

_OBSERVED: tuple[tuple[str, str, Callable[[DataFrame], DataFrame], Callable[[DataFrame], DataFrame]], ...] = (
    ("metrics", staging.METRICS_FILE, staging.staged_samples, observations.metrics),
    ("znode_changes", staging.ZNODES_FILE, staging.staged_znodes, observations.znode_changes),
    ("metadata_images", staging.IMAGES_FOLDER, staging.staged_images, observations.metadata_images),
    ("executions", staging.EXERCISE_FILE, staging.staged_executions, observations.executions),
)
"""Tables of what was observed: where it lies in a run, how that is read, and what the table makes of it."""

_NAMED = 5
"""So many of the folders that are gone are named."""


def ingest(
    discovery: Discovery, source: Storage, tables: TableFolder, ledger: Ledger, progress: Callable[[str], None]
) -> tuple[Ledger, int]:
    """Bring the kept facts up to date with the run folders; gives the ledger then in force, and how many were read."""
    if not ledger:
        # Nobody must take what is there for ours.
        make_room(tables.storage, discovery.runs)
    known = known_by(discovery.runs, source, ledger)
    done = 0
    for step in steps(discovery.runs, known.digests, ledger, discovery.root, tables.free_batch()):
        reported = verified(step.runs, known)
        _write_step(step, RunFiles(tables.spark, source.uri, reported.runs, reported.parts), reported, tables)
        write_ledger(tables.storage, step.ledger)
        ledger = step.ledger
        done += len(step.runs)
        progress(f"read {done} run{'s' * (done != 1)}")
    tables.begin(batches(ledger))
    return ledger, done


def notices(discovery: Discovery, ledger: Ledger, tables: Storage) -> list[Notice]:
    """What there is to say about what is not read."""
    reported = list(discovery.unread)
    missing = gone(discovery.runs, ledger)
    if missing:
        sentence = f"folders of runs that earlier analyses read and that stay counted are gone {_named(missing)}"
        reported.append((".", sentence, False))
    for name, folders in no_longer_counted(tables, discovery.runs, ledger).items():
        sentence = (
            f"folders of runs that only an earlier release read are gone {_named(folders)}; they count no longer; "
            f"its tables are kept: bring the runs back, or remove tables/{name}"
        )
        reported.append((f"tables/{name}", sentence, True))
    return reported


def _named(folders: Sequence[str]) -> str:
    return f"({len(folders)}): {', '.join(folders[:_NAMED])}" + ", ..." * (len(folders) > _NAMED)


def _without_end(runs: Sequence[FoundRun], unended: Collection[str]) -> list[BadRow]:
    """What is reported of complete runs whose history is there, but not to its end.

    Of a run without a manifest it is reported that it has no end at all.
    """
    return [
        bad_file(run, staging.HISTORY_FILE, _NO_RUN_ENDED)
        for run in runs
        if run.folder in unended and run.is_complete and run.has(staging.HISTORY_FILE)
    ]


def _write_step(step: Step, files: RunFiles, reported: Verified, tables: TableFolder) -> None:
    """Write one batch: the facts of the runs read now, and the rows of absorbed batches that still count."""

    def with_absorbed(name: str, made: Made | None) -> DataFrame:
        earlier = tables.of_batches(name, step.absorbed).where(~F.col("folder").isin(sorted(step.stale)))
        return earlier if made is None else made().to(schemas.TABLES[name]).unionByName(earlier)

    with tables.keeping() as keep, tables.writing(step.batch) as begin_new:

        def begin(name: str, made: Made | None, of: Sequence[str] = ()) -> None:
            if step.absorbed:
                begin_new(name, lambda: with_absorbed(name, made))
            else:
                begin_new(name, made, of)

        _begin_facts(step, files, reported, keep, begin)


def _begin_history(in_phases: DataFrame, of_schedules: DataFrame, begin: Begin) -> None:
    for name, made in (("faults", facts.faults), ("durations", facts.durations), ("figures", observations.figures)):
        begin(name, partial(made, in_phases))
    begin("schedules", lambda: of_schedules)
    begin("happenings", lambda: chaos.happenings(of_schedules, in_phases), of=("schedules",))


def _begin_facts(
    step: Step, files: RunFiles, seen: Verified, kept: Callable[[DataFrame], DataFrame], begin: Begin
) -> None:
    """Begin every kept table, of the runs whose files these are; ``kept`` holds on to what is used more than once.

    What needs nothing else is begun first: the rest is prepared meanwhile.
    """
    has_logs, has_images, has_operations = map(
        files.has, (staging.LOGS_FOLDER, staging.IMAGES_FOLDER, OPERATIONS_FOLDER)
    )
    begin("log_lines", _if(has_logs, lambda: observations.log_lines(staging.staged_log_lines(files.logs()))))
    staged_runs = kept(
        staging.staged_runs(
            files.folders({run.folder: step.ledger[run.folder].digest for run in step.runs}), files.headers()
        )
    )
    staged_events = kept(staging.staged_events(files.lines(staging.HISTORY_FILE)))
    runs = staging.good(staged_runs)
    begin("runs", lambda: runs)
    in_phases = facts.phases(staging.good(staged_events).join(runs.select("folder"), "folder", "left_semi"))
    _begin_history(in_phases, kept(chaos.schedules(files.headers(), runs, in_phases)), begin)
    differing = _if(has_images, lambda: observations.metadata_divergences(files.images(), in_phases))
    begin("metadata_divergences", differing)
    endings = facts.endings(runs, staged_events).collect()
    judged = kept(consistency.judged(files.operation_parts({row["folder"] for row in endings if row["is_at_work"]})))
    begin("operation_counts", _if(has_operations, lambda: consistency.operation_counts(judged)))
    begin("checked_classes", _if(has_operations, lambda: consistency.checked_classes(judged)))
    staged_verdicts = kept(consistency.with_anomaly(staging.staged_verdicts(files.lines(staging.VERDICTS_FILE))))
    verdicts = staging.good(staged_verdicts)
    begin("metadata_differences", lambda: observations.metadata_differences(verdicts))
    anomalies = consistency.anomalies(judged)
    begin("anomalies", lambda: anomalies.unionByName(consistency.controller_anomalies(verdicts)))
    damaged = staged_verdicts.where(F.col("reason").isNotNull()).select("folder")
    if seen.altered:
        damaged = damaged.unionByName(damaged.sparkSession.createDataFrame([(each,) for each in seen.altered], _FOLDER))
    of_runs = facts.verdicts(runs, verdicts, damaged)
    of_good = anomalies.join(runs.select("folder"), "folder", "left_semi")
    begin("verdicts", lambda: of_runs.unionByName(consistency.verdicts(of_good, verdicts)))
    observed = _begin_observations(files, kept, begin)
    told_here = [*seen.bad, *_without_end(step.runs, {row["folder"] for row in endings if not row["has_ended"]})]
    bad = judged.sparkSession.createDataFrame(told_here, schemas.TABLES["bad_rows"])
    bad = bad.unionByName(consistency.set_aside(judged))
    for staged in (staged_runs, staged_verdicts, staged_events):
        bad = bad.unionByName(staging.set_aside(staged))
    for staged in observed:
        # No verdict is read from these.
        bad = bad.unionByName(staging.set_aside(staged, is_run=False))
    begin("bad_rows", lambda: bad)


def _begin_observations(files: RunFiles, kept: Callable[[DataFrame], DataFrame], begin: Begin) -> list[DataFrame]:
    """Begin the tables of what was observed line by line, and of images; return what was staged for them."""
    every: list[DataFrame] = []
    for name, file, stage, table in _OBSERVED:
        if not files.has(file):
            begin(name, None)
            continue
        staged = kept(stage(files.images() if file == staging.IMAGES_FOLDER else files.lines(file)))
        begin(name, partial(table, staging.good(staged)))
        every.append(staged)
    return every


def _if(there: bool, made: Made) -> Made | None:  # reads as a sentence
    return made if there else None
