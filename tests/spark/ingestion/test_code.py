"""The lines of Kafka's code that runs watched, from the distributions that they ran."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.distributions.java_tools.lines import CodeLine
from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.reports.ingestion import code
from pytest_kmigrate.reports.ingestion.tables import TableFolder
from tests.spark.frames import table

DRIVER = "org.apache.kafka.metadata.migration.*"


@pytest.fixture
def tables(spark: SparkSession) -> TableFolder:
    """Runs of a release, one of which watched nothing, and of a build that is not on this machine."""
    of = {"profile": "kip-866", "watched": [DRIVER, "kafka.zk.*"]}
    runs = [{**of, "kafka": "3.9.1", "software": ["3.8.1", "3.9.1"], "folder": folder} for folder in ("a", "b")]
    runs += [{**of, "kafka": "3.9.1", "software": ["3.9.1"], "folder": "c", "watched": None}]
    runs += [{**of, "kafka": "3.9.1+acme", "software": ["./acme"], "folder": "d"}]
    held = {"runs": table(spark, "runs", runs)}
    return cast("TableFolder", type("Tables", (), {"spark": spark, "__getitem__": lambda _, name: held[name]})())


def test_lines_are_those_of_the_release_that_runs_are_about(
    tables: TableFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for all of them. What is not here, or lacks classes, is set aside in one sentence each."""
    asked: list[str] = []

    def resolved(name: str, **_: Any) -> Any:
        asked.append(name)
        if name == "./acme":
            raise EnvironmentLackError("expected ./acme, got nothing")
        return SimpleNamespace(version=name, jars=[Path("kafka.jar")])

    def lines(_distribution: object, patterns: list[str], _progress: object) -> Iterator[CodeLine]:
        yield CodeLine(patterns[0].replace("*", "Driver"), "1f", "Driver.java", "poll()V", 7, (0, 2))

    monkeypatch.setattr(code, "resolve", resolved)
    monkeypatch.setattr(code, "code_lines", lines)
    monkeypatch.setattr(code, "classes_in", lambda _jars, patterns: iter([1] if patterns == [DRIVER] else []))
    found, notices = code.watched_code(tables, print)
    (row,) = found.collect()
    assert sorted(asked) == ["./acme", "3.9.1"]
    assert (row.kafka, row["class"], row.line, row.probes) == ("3.9.1", DRIVER.replace("*", "Driver"), 7, [0, 2])
    sentences = sorted(reported for _, reported, _ in notices)
    assert sentences[0].startswith("Kafka 3.9.1: expected classes kafka.zk.* to watch, got none in its jars")
    assert sentences[1] == "which lines of Kafka 3.9.1+acme were executed is not known: expected ./acme, got nothing"
    assert [is_doubt for *_, is_doubt in notices] == [False, False]
