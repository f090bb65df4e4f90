"""Ingestion: reads the run folders that are new or changed, each once, and keeps their facts in batches.

The rules of what is read again, replaced and kept are those of the ledger.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import consistency, facts, observations, schemas, staging
from pytest_kmigrate.reports.discovery import JUDGED_FILES, MANIFEST_FILE, Discovery, FoundRun, Notice
from pytest_kmigrate.reports.ledger import Ledger, Step, batches, gone, steps, write_ledger
from pytest_kmigrate.reports.reading import MOST_WHOLE_BYTES, RunFiles
from pytest_kmigrate.reports.storage import Storage
from pytest_kmigrate.reports.tables import Begin, TableFolder

BadRow = tuple[str, str, int | None, str, bool]
"""A row of ``bad_rows``: folder, path, line, reason, is_run."""

_NO_RUN_ENDED = (
    "run-ended is missing in the history of a run that has a manifest.json: its last events are lost; "
    "what is there counts; restore the file, or run the test again"
)

_NAMED = 5
"""So many of the folders that are gone are named."""


def ingest(
    discovery: Discovery, source: Storage, tables: TableFolder, ledger: Ledger, progress: Callable[[str], None]
) -> tuple[Ledger, int]:
    """Bring the kept facts up to date with the run folders; gives the ledger then in force, and how many were read."""
    if not ledger:
        # Tables without a ledger of this format are of no use, and nobody must take them for ours.
        tables.storage.delete("")
    digests, manifests = known_by(discovery.runs, source, ledger)
    done = 0
    for step in steps(discovery.runs, digests, ledger, discovery.root, tables.free_batch()):
        bad = verified(step.runs, manifests, source)
        _write_step(step, RunFiles(tables.spark, source.uri, step.runs), bad, tables)
        write_ledger(tables.storage, step.ledger)
        ledger = step.ledger
        done += len(step.runs)
        progress(f"read {done} run{'s' * (done != 1)}")
    tables.begin(batches(ledger))
    return ledger, done


def known_by(runs: Sequence[FoundRun], source: Storage, ledger: Ledger) -> tuple[dict[str, str], dict[str, bytes]]:
    """The digest of every run, and the manifests that had to be read for that; a folder as it was is not opened."""
    as_before = {run.folder for run in runs if run.folder in ledger and ledger[run.folder].stamp == run.stamp}
    fresh = {run.folder: run.path(MANIFEST_FILE) for run in runs if run.folder not in as_before and run.is_complete}
    contents = source.contents(list(fresh.values()))
    manifests = {folder: contents[path] for folder, path in fresh.items()}
    digests = {
        run.folder: ledger[run.folder].digest if run.folder in as_before else run.digest(manifests.get(run.folder))
        for run in runs
    }
    return digests, manifests


def verified(runs: Sequence[FoundRun], manifests: Mapping[str, bytes], source: Storage) -> list[BadRow]:
    """What differs from the manifests, of the files that tell how a run ended; the huge ones are not verified."""
    bad: list[BadRow] = []
    wanted: dict[str, tuple[FoundRun, str, str]] = {}
    for run in runs:
        if run.folder not in manifests:
            continue
        try:
            sha256 = json.loads(manifests[run.folder])["sha256"]
            names = {name: str(sha256[name]) for name in JUDGED_FILES if name in sha256}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            reason = f"not a manifest ({error}): nothing in this folder can be verified"
            bad.append(_bad(run, MANIFEST_FILE, reason))
            continue
        sizes = {file.path: file.size_bytes for file in run.files}
        bad += [_bad(run, name, "manifest.json names it, but it is not there") for name in names.keys() - sizes.keys()]
        small = {name for name in names if sizes.get(name, MOST_WHOLE_BYTES + 1) <= MOST_WHOLE_BYTES}
        wanted |= {run.path(name): (run, name, names[name]) for name in small}
    digests = source.digests(list(wanted))
    told = "it differs from the digest in manifest.json: it was changed after the run ended"
    return bad + [_bad(run, name, told) for path, (run, name, digest) in wanted.items() if digests[path] != digest]


def notices(discovery: Discovery, ledger: Ledger) -> list[Notice]:
    """What there is to say about what is not read."""
    missing = gone(discovery.runs, ledger)
    if not missing:
        return list(discovery.unread)
    named = ", ".join(missing[:_NAMED]) + ", ..." * (len(missing) > _NAMED)
    told = f"folders of runs that earlier analyses read and that stay counted are gone ({len(missing)}): {named}"
    return [*discovery.unread, (".", told, False)]


def _bad(run: FoundRun, file: str, reason: str) -> BadRow:
    return (run.folder, run.path(file), None, reason, True)


def _without_end(runs: Sequence[FoundRun], unended: Collection[str]) -> list[BadRow]:
    """What is told of complete runs whose history is there, but not to its end; that it is not there is told elsewhere.

    Of a run without a manifest it is told that it has no end at all.
    """
    return [
        _bad(run, staging.HISTORY_FILE, _NO_RUN_ENDED)
        for run in runs
        if run.folder in unended and run.is_complete and run.has(staging.HISTORY_FILE)
    ]


def _write_step(step: Step, files: RunFiles, bad: Sequence[BadRow], tables: TableFolder) -> None:
    """Write one batch: the facts of the runs read now, and the rows of absorbed batches that still count."""
    cached: list[DataFrame] = []

    def kept(frame: DataFrame) -> DataFrame:
        cached.append(tables.in_one_part(frame).cache())
        return cached[-1]

    def with_absorbed(name: str, new: DataFrame) -> DataFrame:
        if not step.absorbed:
            return new
        earlier = tables.of_batches(name, step.absorbed).where(~F.col("folder").isin(sorted(step.stale)))
        return new.to(schemas.TABLES[name]).unionByName(earlier)

    with tables.writing(step.batch) as begin:
        _begin_facts(step, files, bad, kept, lambda name, made: begin(name, lambda: with_absorbed(name, made())))
    for frame in cached:
        frame.unpersist()


def _begin_facts(
    step: Step, files: RunFiles, known_bad: Sequence[BadRow], kept: Callable[[DataFrame], DataFrame], begin: Begin
) -> None:
    """Begin every kept table, of the runs whose files these are; ``kept`` holds on to what is used more than once.

    What needs nothing else is begun first: the rest is prepared meanwhile.
    """
    begin("log_lines", lambda: observations.log_lines(staging.staged_log_lines(files.logs())))
    staged_runs = kept(
        staging.staged_runs(
            files.folders({run.folder: step.ledger[run.folder].digest for run in step.runs}), files.headers()
        )
    )
    staged_events = kept(staging.staged_events(files.lines(staging.HISTORY_FILE)))
    runs = staging.good(staged_runs)
    begin("runs", lambda: runs)
    in_phases = facts.phases(staging.good(staged_events).join(runs.select("folder"), "folder", "left_semi"))
    begin("faults", lambda: facts.faults(in_phases))
    begin("durations", lambda: facts.durations(in_phases))
    begin("metadata_divergences", lambda: observations.metadata_divergences(files.images(), in_phases))
    endings = facts.endings(runs, staged_events).collect()
    judged = kept(consistency.judged(files.operation_parts({row["folder"] for row in endings if row["is_at_work"]})))
    begin("operation_counts", lambda: consistency.operation_counts(judged))
    staged_verdicts = kept(staging.staged_verdicts(files.lines(staging.VERDICTS_FILE)))
    verdicts = staging.good(staged_verdicts)
    begin("metadata_differences", lambda: observations.metadata_differences(verdicts))
    anomalies = consistency.anomalies(judged)
    begin("anomalies", lambda: anomalies.unionByName(consistency.controller_anomalies(verdicts)))
    of_runs = facts.verdicts(runs, verdicts, staged_verdicts.where(F.col("reason").isNotNull()))
    of_good = anomalies.join(runs.select("folder"), "folder", "left_semi")
    begin("verdicts", lambda: of_runs.unionByName(consistency.verdicts(of_good, verdicts)))
    samples = kept(staging.staged_samples(files.lines(staging.METRICS_FILE)))
    znodes = kept(staging.staged_znodes(files.lines(staging.ZNODES_FILE)))
    images = kept(staging.staged_images(files.images()))
    begin("metrics", lambda: observations.metrics(staging.good(samples)))
    begin("znode_changes", lambda: observations.znode_changes(staging.good(znodes)))
    begin("metadata_images", lambda: staging.good(images))
    told_here = [*known_bad, *_without_end(step.runs, {row["folder"] for row in endings if not row["has_ended"]})]
    bad = judged.sparkSession.createDataFrame(told_here, schemas.TABLES["bad_rows"])
    bad = bad.unionByName(consistency.set_aside(judged))
    for told in (staged_runs, staged_verdicts, staged_events):
        bad = bad.unionByName(staging.set_aside(told))
    for observed in (samples, znodes, images):
        # No verdict is read from these.
        bad = bad.unionByName(staging.set_aside(observed, is_run=False))
    begin("bad_rows", lambda: bad)
