"""Samples of generated mutants below an analyzed folder: what was drawn, and what each test of a mutant showed."""

import json
import posixpath
from collections.abc import Iterator, Mapping

from pyspark.sql import DataFrame, SparkSession

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.recording.mutants import RESULTS
from pytest_kmigrate.reports.ingestion.discovery import Discovery, Notice
from pytest_kmigrate.reports.ingestion.storage import Storage

Row = Mapping[str, object]


def tried_mutants(spark: SparkSession, found: Discovery, source: Storage) -> tuple[DataFrame, list[Notice]]:
    """The table ``mutation``: a row per test of a mutant, and one of a mutant that was not tried yet.

    A sample whose files cannot be read is left out, with a sentence.
    """
    columns, notices = schemas.TABLES["mutation"].names, list[Notice]()
    rows: list[tuple[object, ...]] = []
    for path in found.samples:
        try:
            made = [*_rows(*_texts(path, source))]
            rows += [tuple(row.get(name) for name in columns) for row in made]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            sentence = f"expected a sample of mutants as `make mutation-score` writes it, got another file: {error}"
            notices.append((path, sentence, False))
    return spark.createDataFrame(rows, schemas.TABLES["mutation"]), notices


def _texts(path: str, source: Storage) -> tuple[str, str]:
    """A sample, and its results; none yet is nothing."""
    results = posixpath.join(posixpath.dirname(path), RESULTS)
    is_there = RESULTS in source.names(posixpath.dirname(path))
    read = source.contents([path, results] if is_there else [path])
    return read[path].decode(), read[results].decode() if is_there else ""


def _rows(sample: str, results: str) -> Iterator[Row]:
    drawn_by, *mutants = [json.loads(line) for line in sample.splitlines()]
    of_sample = {name: drawn_by[name] for name in ("profile", "kafka", "seed")}
    trials: dict[str, list[Row]] = {}
    for line in results.splitlines():
        trial = json.loads(line)
        trials.setdefault(trial["mutant"], []).append(trial)
    for mutant in mutants:
        of_mutant = {
            **of_sample,
            "mutant": mutant["id"],
            "class": mutant["class_name"],
            **{name: mutant[name] for name in ("method", "line", "change")},
        }
        for trial in trials.get(mutant["id"], [{}]):
            taken = {name: trial.get(name) for name in ("fate", "requirements", "excused_by", "seconds", "seen")}
            yield {**of_mutant, "test_id": trial.get("test") or None, **taken}
