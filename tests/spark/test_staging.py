"""Staging: what is read from raw text, and what is set aside with which reason."""

import json

from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual

from pytest_kmigrate.analysis import schemas, staging
from tests.spark.frames import frame
from tests.spark.run_folders import HEADER, event, verdict


def _files(spark: SparkSession, file: str, text: str, folder: str = "r1") -> DataFrame:
    return frame(spark, schemas.FILES, [{"folder": folder, "file": file, "text": text}])


def _reasons(staged: DataFrame) -> list[tuple[str, int | None, str]]:
    return sorted((row.path, row.line, row.reason) for row in staging.set_aside(staged).collect())


def _folders(spark: SparkSession, *names: str) -> DataFrame:
    return frame(spark, schemas.FOLDERS, [{"folder": name, "is_complete": True} for name in names])


def test_a_header_becomes_one_typed_row(spark: SparkSession) -> None:
    """A pretty-printed run.json is read whole, its start becomes a moment, an `extra` command line is found."""
    header = {key: value for key, value in HEADER.items() if key != "reproduce"}
    text = json.dumps({**header, "run_id": "a", "seed": 2**70, "extra": {"reproduce": "again"}}, indent=1)

    rows = staging.good(staging.staged_runs(_folders(spark, "r1"), _files(spark, "run.json", text)))

    chosen = rows.selectExpr("run_id", "seed", "date_format(started_at, 'HH:mm') AS at", "reproduce", "is_complete")
    assertDataFrameEqual(
        chosen,
        spark.createDataFrame([("a", str(2**70), "10:00", "again", True)], chosen.schema),
    )


def test_a_mutant_is_another_kafka(spark: SparkSession) -> None:
    """Runs with Byteman rules loaded never share a condition with runs of the release as it is."""
    headers = {"plain": None, "mutant": "# why\nRULE lose acks\nCLASS Log\nENDRULE\n"}
    rows = [
        {"folder": k, "file": "run.json", "text": json.dumps({**HEADER, "run_id": k, "extra": {"byteman": v}})}
        for k, v in headers.items()
    ]

    staged = staging.staged_runs(_folders(spark, *headers), frame(spark, schemas.FILES, rows))

    told = sorted((row.folder, row.kafka) for row in staging.good(staged).collect())
    assert told == [("mutant", "3.9.1 + Byteman lose acks (1d17ee)"), ("plain", "3.9.1")]


def test_a_header_that_cannot_be_used_is_set_aside(spark: SparkSession) -> None:
    """Missing, cut off, of a newer schema, without a test: each is told with its path and its own reason."""
    texts = {
        "cut": '{"schema": 1, "run_id": "x',
        "newer": json.dumps({**HEADER, "run_id": "n", "schema": 2}),
        "no-test": json.dumps({"schema": 1, "run_id": "y", "kafka": "3.9.1", "topology": "t"}),
        "a-list": "[1, 2]",
    }
    files = frame(spark, schemas.FILES, [{"folder": k, "file": "run.json", "text": v} for k, v in texts.items()])

    staged = staging.staged_runs(_folders(spark, "empty", *texts), files)

    shape = "run.json is not a JSON object of the expected shape; it begins: "
    newer = "schema version 2 is newer than 1, the newest one known here: analyze it with a newer pytest-kmigrate"
    assert staging.good(staged).count() == 0
    assert _reasons(staged) == [
        ("a-list/run.json", None, shape + "[1, 2]"),
        ("cut/run.json", None, shape + '{"schema": 1, "run_id": "x'),
        ("empty/run.json", None, "run.json is missing or empty"),
        ("newer/run.json", None, newer),
        ("no-test/run.json", None, "run.json has no test_id"),
    ]


def test_a_copied_run_counts_once(spark: SparkSession) -> None:
    """Two folders with the same run id: the first one stays, the other is set aside and says where the first is."""
    text = json.dumps({**HEADER, "run_id": "same"})
    files = frame(spark, schemas.FILES, [{"folder": name, "file": "run.json", "text": text} for name in ("a", "b")])

    staged = staging.staged_runs(_folders(spark, "a", "b"), files)

    assert [row.folder for row in staging.good(staged).collect()] == ["a"]
    assert _reasons(staged) == [("b/run.json", None, "a copy of run same, which is counted from a")]


def test_verdict_lines_are_read_one_by_one(spark: SparkSession) -> None:
    """Bad lines are set aside by number; blank ones are nothing; good ones around them are read."""
    good = json.dumps(verdict(facts={"acknowledged": 5, "nested": {"a": [1]}}, known_bugs=["KAFKA-1"]))
    lines = [good, "", '{"check": "cut', '{"check": "c"}', json.dumps(verdict(outcome="MAYBE")), good + " trailing"]

    staged = staging.staged_verdicts(_files(spark, "verdicts.jsonl", "\n".join(lines)))

    row = staging.good(staged).collect()[0]
    assert (row.check, row.outcome, row.known_bugs) == ("no_acked_record_lost", "CONFORMS", ["KAFKA-1"])
    assert json.loads(row.facts) == {"acknowledged": 5, "nested": {"a": [1]}}
    expected = "unknown outcome: expected one of NOT_APPLICABLE, CONFORMS, INCONCLUSIVE, VIOLATES; got MAYBE"
    begins = "the line is not a JSON object of the expected shape; it begins: "
    assert _reasons(staged) == [
        ("r1/verdicts.jsonl", 3, begins + '{"check": "cut'),
        ("r1/verdicts.jsonl", 4, "the line has no outcome"),
        ("r1/verdicts.jsonl", 5, expected),
        ("r1/verdicts.jsonl", 6, begins + good[:80]),
    ]


def test_a_history_cut_off_by_a_kill_keeps_what_came_before(spark: SparkSession) -> None:
    """The torn last line of a killed run is set aside; the events before it stay, of known kinds or not."""
    whole = [json.dumps({"seq": seq, **event(seq, kind, any="thing")}) for seq, kind in enumerate(["phase", "of-1999"])]

    staged = staging.staged_events(_files(spark, "history.jsonl", "\n".join([*whole, '{"seq": 2, "at_'])))

    assert [row.kind for row in staging.good(staged).orderBy("seq").collect()] == ["phase", "of-1999"]
    assert [line for _, line, _ in _reasons(staged)] == [3]
