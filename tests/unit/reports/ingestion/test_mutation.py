"""Samples of generated mutants are found beside runs, and read into rows."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.distributions.java_tools.mutants import GeneratedMutant
from pytest_kmigrate.model.mutants import Fate
from pytest_kmigrate.recording.mutants import RESULTS, SAMPLE
from pytest_kmigrate.reports.generated.files import write_sample
from pytest_kmigrate.reports.generated.trials import Trial
from pytest_kmigrate.reports.ingestion.discovery import discovered
from pytest_kmigrate.reports.ingestion.mutation import tried_mutants
from pytest_kmigrate.reports.ingestion.storage import LocalStorage

ROWS = cast("SparkSession", type("Rows", (), {"createDataFrame": lambda _, rows, __: rows})())
"""Stands for Spark: a frame is its rows."""
DRAWN_BY = {"profile": "kip-866", "kafka": "3.9.1", "count": 2, "seed": 7}
A, B = (GeneratedMutant("org.acme.A", n, "poll()V", 10 + n, "MathMutator", "x", 3) for n in range(2))


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A sample of two mutants, one of which two tests tried, beside a run."""
    folder = tmp_path / "kip-866" / "seed-7"
    write_sample(folder / SAMPLE, DRAWN_BY, [A, B])
    trials = [Trial(A.id, "m::one", Fate.SURVIVED, seconds=3.0), Trial(A.id, "m::two", Fate.KILLED, ["K1"])]
    (folder / RESULTS).write_text("".join(f"{json.dumps(each.as_row())}\n" for each in trials))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    return folder


def _read(root: Path) -> tuple[list[dict[str, Any]], list[tuple[str, str, bool]]]:
    source = LocalStorage(root)
    frame, notices = tried_mutants(ROWS, discovered(source, str(root / "report")), source)
    names = schemas.TABLES["mutation"].names
    return [dict(zip(names, row, strict=True)) for row in cast("list[tuple[Any, ...]]", frame)], notices


def test_each_test_of_a_mutant_is_a_row_and_one_without_any_too(sample: Path) -> None:
    """What was drawn and not tried yet is part of the sample."""
    rows, notices = _read(sample.parents[1])
    assert [(row["mutant"], row["fate"], row["test_id"]) for row in rows] == [
        (A.id, "survived", "m::one"),
        (A.id, "killed", "m::two"),
        (B.id, None, None),
    ]
    assert {(row["profile"], row["kafka"], row["seed"], row["class"], row["change"]) for row in rows} == {
        ("kip-866", "3.9.1", 7, "org.acme.A", "x")
    }
    assert rows[1]["requirements"] == ["K1"]
    assert notices == []


@pytest.mark.parametrize("text", ["{", "[]\n", '{"kafka": "3.9.1"}\n{"id": "a"}\n'])
def test_another_file_of_that_name_is_set_aside(sample: Path, text: str) -> None:
    """A vendor may have such a file of his own."""
    (sample / SAMPLE).write_text(text)
    rows, ((path, sentence, is_doubt),) = _read(sample.parents[1])
    assert rows == []
    assert path == f"kip-866/seed-7/{SAMPLE}"
    assert sentence.startswith("expected a sample of mutants as `make mutation-score` writes it, got ")
    assert not is_doubt


def test_a_sample_that_was_not_tried_at_all_has_its_mutants(sample: Path) -> None:
    """It was interrupted before its first test ended."""
    (sample / RESULTS).unlink()
    rows, _ = _read(sample.parents[1])
    assert [(row["mutant"], row["fate"]) for row in rows] == [(A.id, None), (B.id, None)]
