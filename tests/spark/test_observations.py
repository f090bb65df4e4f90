"""Observations: metrics, log lines, metadata images and znodes become facts."""

import json

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from pytest_kmigrate.analysis import observations, schemas, staging
from tests.spark.frames import frame, table


def _lines(spark: SparkSession, file: str, *texts: str) -> DataFrame:
    rows = [{"folder": "r1", "file": file, "line": number, "text": text} for number, text in enumerate(texts, 1)]
    return frame(spark, schemas.LINES, rows)


def _declared(rows: DataFrame, name: str) -> list[Row]:
    """The rows, when they have the declared columns."""
    assertSchemaEqual(rows.to(schemas.OBSERVATIONS[name]).schema, schemas.OBSERVATIONS[name])
    return rows.collect()


def test_a_metric_is_summed_up_over_the_samples_that_have_it(spark: SparkSession) -> None:
    """A node that does not have a metric yet gives null, which is no sample; a torn line is set aside."""
    values = [None, 4, 2, 9]
    texts = [json.dumps({"at_ns": at, "node": "broker-0", "values": {"Lag": each}}) for at, each in enumerate(values)]
    staged = staging.staged_samples(_lines(spark, "metrics/metrics.jsonl", *texts, '{"at_ns": 5'))

    (row,) = _declared(observations.metrics(staging.good(staged)), "metrics")

    assert tuple(row) == ("r1", "broker-0", "Lag", 3, 1, 3, 2.0, 4.0, 9.0, 9.0)
    assert [each.line for each in staging.set_aside(staged).collect()] == [5]


def test_log_lines_are_counted_and_warnings_told_apart_by_their_shape(spark: SparkSession) -> None:
    """Below WARN only the number stays; lines without a level, as of stack traces, belong to the line before them."""
    texts = [
        "2026-11-21 11:01:09,296 INFO starting (kafka.server.KafkaServer)",
        "2026-11-21 11:01:09,297 WARN took 15 ms (kafka.Log)",
        "\tat org.apache.kafka.Something.java:7",
        "Caused by: ERROR 3",
        "[2026-11-21 11:01:09,298] WARN took 2048 ms (kafka.Log)",
        '{"level":"info","name":"broker-0","time":"2026-11-21T11:01:08Z","message":"Started proxy"}',
        '{"level":"warning","time":"2026-11-21T11:01:08Z","message":"Source terminated"}',
    ]
    staged = staging.staged_log_lines(_lines(spark, "logs/broker-0/server.log", *texts))

    rows = observations.log_lines(staged)

    chosen = rows.select("node", "level", "shape", "lines", "first_line")
    expected = [
        ("broker-0", "INFO", None, 2, 1),
        ("broker-0", "WARN", "took <n> ms (kafka.Log)", 2, 2),
        ("broker-0", "WARN", '{"level":"warning","message":"Source terminated"}', 1, 7),
    ]
    assertDataFrameEqual(chosen, spark.createDataFrame(expected, chosen.schema))
    first = next(row for row in _declared(rows, "log_lines") if row.first_line == 2)
    assert (first.first_at.isoformat(), first.example) == ("2026-11-21T11:01:09.297000", texts[1])


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("[Broker id=2] Node 3002 disconnected", "[Broker id=<n>] Node <n> disconnected"),
        ("to zookeeper-1/127.2.2.1:2181. gone", "to <address>. gone"),
        ("listener Loader@1304467542 and View@3abbfa04", "listener Loader@<hex> and View@<hex>"),
        ("session 0x10000a1b2c30000 expired", "session <hex> expired"),
        ("cluster qSaw_nBSQK-Sh-ZFj-CjZ9 is new", "cluster <id> is new"),
        ("of 123e4567-e89b-12d3-a456-426614174000", "of <id>"),
        ("cannot read /tmp/kafka/orders-0/00000.log", "cannot read <path>"),
        ("2026-11-21 11:01:09,296 ERROR in 1.5 s", "in <n> s"),
        ("no class kafka.server.ReplicaManager", "no class kafka.server.ReplicaManager"),
    ],
)
def test_what_varies_is_no_part_of_a_shape(spark: SparkSession, line: str, shape: str) -> None:
    """Times, numbers, hex, ids, addresses and paths have stand-ins; names stay."""
    told = spark.createDataFrame([(line,)], "text string").select(staging.shape(F.col("text"))).first()
    assert told is not None
    assert told[0] == shape


def test_a_log_line_that_may_hold_a_secret_is_not_kept(spark: SparkSession) -> None:
    """Neither as an example nor as a shape; that there was such a line is."""
    text = "2026-11-21 11:01:09,296 ERROR cannot log in: sasl.jaas.config = Module required username=a password=hunter;"
    (row,) = observations.log_lines(staging.staged_log_lines(_lines(spark, "logs/n/server.log", text))).collect()
    assert (row.lines, row.shape, row.example) == (1, "[hidden: may hold a secret]", "[hidden: may hold a secret]")


def test_of_znodes_those_of_control_and_migration_are_kept(spark: SparkSession) -> None:
    """Who was in control, since when, and how far the migration was."""
    paths = ("/controller", "/controller_epoch", "/migration", "/brokers/ids/0")
    texts = [json.dumps({"at_ns": 1, "path": path, "data": "{}", "version": 1, "children": []}) for path in paths]
    staged = staging.staged_znodes(_lines(spark, "znodes/znodes.jsonl", *texts, '{"path": "/controller"}'))

    rows = _declared(observations.znode_changes(staging.good(staged)), "znode_changes")

    assert sorted(row.path for row in rows) == ["/controller", "/controller_epoch", "/migration"]
    assert [row.reason for row in staging.set_aside(staged).collect()] == ["the line has no at_ns"]


def test_an_image_is_known_by_its_label_and_its_size(spark: SparkSession) -> None:
    """What it knows, and how many topics and partitions are in it."""
    image = {"source": "metadata-log", "known": ["topics"], "topics": {"orders": {"id": "x"}}, "partitions": {}}
    texts = {"metadata/after-log.json": json.dumps(image), "metadata/torn.json": '{"source'}
    rows = [{"folder": "r1", "file": file, "text": text} for file, text in texts.items()]

    staged = staging.staged_images(frame(spark, schemas.FILES, rows))

    (row,) = _declared(staging.good(staged), "metadata_images")
    assert tuple(row) == ("r1", "after-log", "metadata-log", ["topics"], 1, 0)
    assert [row.path for row in staging.set_aside(staged).collect()] == ["r1/metadata/torn.json"]


def test_facts_of_metadata_checks_are_kept_one_by_one(spark: SparkSession) -> None:
    """How many differences a comparison found, with each fact it told; other checks are not about metadata."""
    told = {"folder": "r1", "outcome": "VIOLATES", "count": 2, "facts": '{"families": {"topics": 3}, "side": "log"}'}
    verdicts = [{**told, "check": check} for check in ("metadata_equivalent", "no_acked_record_lost")]

    rows = _declared(observations.metadata_differences(table(spark, "verdicts", verdicts)), "metadata_differences")

    assert sorted(tuple(row) for row in rows) == [
        ("r1", "metadata_equivalent", "VIOLATES", 2, "families", '{"topics":3}'),
        ("r1", "metadata_equivalent", "VIOLATES", 2, "side", "log"),
    ]
