"""Observations: metrics, log lines, metadata images and znodes become facts."""

import json

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import StringType, StructField, StructType
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from pytest_kmigrate.analysis import facts, observations, schemas, staging
from pytest_kmigrate.analysis.schemas.consistency import CONSISTENCY
from tests.spark.frames import frame, table

_NO_IMAGES = ("[" * 100_000, "[1]", '{"source": null}', '{"source": "a", "known": null}', '{"source": 1, "topics": {}}',
    '{"source": "a", "known": [1]}', '{"source": "a", "topics": []}', '{"source": "a", "unheard": 1}')  # fmt: skip


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
    assert [(each.path, each.line) for each in staging.set_aside(staged).collect()] == [("r1/metrics/metrics.jsonl", 5)]


def test_log_lines_are_counted_and_warnings_told_apart_by_their_shape(spark: SparkSession) -> None:
    """Below WARN only the number stays; of a stack trace the head and what caused it count, as of one level more."""
    texts = [
        "2026-11-21 11:01:09,296 INFO starting (kafka.server.KafkaServer)",
        "2026-11-21 11:01:09,297 WARN took 15 ms (kafka.Log)",
        "java.io.IOException: Connection to 3 was disconnected",
        "\tat org.apache.kafka.Error",
        "Caused by: java.io.IOException: Connection to 2 was disconnected",
        "Caused by: ERROR 3",
        "no class kafka.server.KafkaException: none",
        "[2026-11-21 11:01:09,298] WARN took 2048 ms (kafka.Log)",
        '{"level":"info","name":"broker-0","time":"2026-11-21T11:01:08Z","message":"Started proxy"}',
        '{"level":"warning","time":"2026-11-21T11:01:08Z","message":"Source terminated"}',
    ]
    staged = staging.staged_log_lines(_lines(spark, "logs/broker-0/server.log", *texts))

    rows = observations.log_lines(staged)

    chosen = rows.select("node", "level", "shape", "lines", "first_line")
    expected = [
        ("broker-0", "INFO", None, 2, 1),
        ("broker-0", "WARN", "took <duration> (kafka.Log)", 2, 2),
        ("broker-0", "EXCEPTION", "java.io.IOException: Connection to <n> was disconnected", 2, 3),
        ("broker-0", "WARN", '{"level":"warning","message":"Source terminated"}', 1, 10),
    ]
    assertDataFrameEqual(chosen, spark.createDataFrame(expected, chosen.schema))
    assert {row.folder for row in rows.collect()} == {"r1"}
    first = next(row for row in _declared(rows, "log_lines") if row.first_line == 2)
    assert (first.first_at.isoformat(), first.example) == ("2026-11-21T11:01:09.297000", texts[1])


def test_time_and_level_are_no_part_of_a_message(spark: SparkSession) -> None:
    """However a line begins; one that begins otherwise stays as it is, and a long one is cut."""
    lines = {
        "2026-11-21 11:01:09,296 ERROR in 1.5 s": "in 1.5 s",
        "[2026-11-21 11:01:09,296] WARN [Broker id=2] gone": "[Broker id=2] gone",
        "no class kafka.server.ReplicaManager": "no class kafka.server.ReplicaManager",
        "x" * 900: "x" * 400,
    }
    reported = spark.createDataFrame([(line,) for line in lines], "text string").select(
        "text", staging.message(F.col("text"))
    )
    assert {row[0]: row[1] for row in reported.collect()} == lines


def test_a_log_line_that_may_hold_a_secret_is_not_kept(spark: SparkSession) -> None:
    """Neither as an example nor as a shape; that there was such a line is."""
    text = "2026-11-21 11:01:09,296 ERROR cannot log in: sasl.jaas.config = Module required username=a password=hunter;"
    (row,) = observations.log_lines(staging.staged_log_lines(_lines(spark, "logs/n/server.log", text))).collect()
    assert (row.lines, row.shape, row.example) == (1, "[hidden: may hold a secret]", "[hidden: may hold a secret]")


def test_every_watched_znode_is_kept(spark: SparkSession) -> None:
    """Which ones there are the run's document chose."""
    paths = ("/controller", "/controller_epoch", "/migration", "/brokers/ids")
    seen = {"data": "{}", "version": 3, "mzxid": 7, "children": []}
    texts = [json.dumps({"at_ns": 1, "path": path, **seen}) for path in paths]
    staged = staging.staged_znodes(_lines(spark, "znodes/znodes.jsonl", *texts, '{"path": "/controller"}'))

    rows = _declared(observations.znode_changes(staging.good(staged)), "znode_changes")

    assert sorted(tuple(row) for row in rows) == [("r1", 1, path, "{}", 3, 7) for path in sorted(paths)]
    aside = [tuple(row) for row in staging.set_aside(staged).select("path", "line", "reason").collect()]
    assert aside == [("r1/znodes/znodes.jsonl", 5, "the line has no at_ns")]


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
    """How many differences a comparison found, with each fact it recorded; other checks are not about metadata."""
    reported = {
        "folder": "r1",
        "outcome": "VIOLATES",
        "count": 2,
        "facts": '{"families": {"topics": 3}, "side": "log"}',
    }
    verdicts = [{**reported, "check": check} for check in ("metadata_equivalent", "no_acked_record_lost")]

    rows = _declared(observations.metadata_differences(table(spark, "verdicts", verdicts)), "metadata_differences")

    assert sorted(tuple(row) for row in rows) == [
        ("r1", "metadata_equivalent", "VIOLATES", 2, "families", '{"topics":3}'),
        ("r1", "metadata_equivalent", "VIOLATES", 2, "side", "log"),
    ]


def test_how_long_the_sides_of_the_metadata_differed(spark: SparkSession) -> None:
    """Images with the events that record when they were taken: one row per difference, with both bounds."""
    log = {"source": "metadata-log", "known": ["configs"], "configs": {"topic:orders": {"x": "1"}}}
    behind = {"source": "zookeeper", "known": ["configs"], "configs": {}}
    same = {**behind, "configs": log["configs"]}
    texts = {
        "copied-log": json.dumps(log),
        "copied-zookeeper": json.dumps(behind),
        "after-log": json.dumps(log),
        "after-zookeeper": json.dumps(same),
        "again-log": json.dumps(log),
        "again-zookeeper": json.dumps(behind),
        "last-log": json.dumps(log),
        "last-zookeeper": json.dumps(behind),
        "damaged-log": "{",
        **{f"damaged-{number}": text for number, text in enumerate(_NO_IMAGES)},
        "untold-log": json.dumps(log),
    }
    images = [{"folder": "r1", "file": f"metadata/{label}.json", "text": text} for label, text in texts.items()]
    ends_s = {"copied-log": 12, "copied-zookeeper": 13, "after-log": 22, "after-zookeeper": 23, "damaged-log": 30}
    ends_s |= {f"damaged-{number}": 30 for number in range(len(_NO_IMAGES))}
    ends_s |= {"again-log": 32, "again-zookeeper": 33, "last-log": 42, "last-zookeeper": 43}
    events = [
        {"folder": "r1", "seq": seq, "at_ns": end * 10**9, "kind": "snapshot"}
        | {"data": json.dumps({"label": label, "began_ns": (end - 2) * 10**9})}
        for seq, (label, end) in enumerate(ends_s.items())
    ]
    reported = StructType([StructField("folder", StringType()), *schemas.EVENT_JSON.fields])
    in_phases = facts.phases(frame(spark, reported, events))

    rows = observations.metadata_divergences(frame(spark, schemas.FILES, images), in_phases)

    assertSchemaEqual(rows.to(CONSISTENCY["metadata_divergences"]).schema, CONSISTENCY["metadata_divergences"])
    place = ("r1", "metadata-log", "zookeeper", "configs", "configs topic:orders", '{"x": "1"}', None)
    between = [("copied", 1, 13, 13, 0.0, 23.0), ("again", 2, 33, 43, 7.0, None)]
    assert sorted(map(tuple, rows.collect())) == sorted(
        (*place, moments, first, first_s * 10**9, last_s * 10**9, least_s * 1_000, most_s and most_s * 1_000)
        for first, moments, first_s, last_s, least_s, most_s in between
    )


def test_values_that_cannot_be_compared_cost_only_their_run(spark: SparkSession) -> None:
    """Such as replicas that are numbers and words, which have no order."""
    odd = {"source": "metadata-log", "partitions": {"orders-0": {"isr": [1, "two"]}}}
    log = {"source": "metadata-log", "topics": {"orders": {"id": "x"}}}
    texts = [("odd", odd), ("odd", {**odd, "source": "a"}), ("good", log), ("good", {"source": "a"})]
    images = [
        {"folder": folder, "file": f"metadata/copied-{place}.json", "text": json.dumps(image)}
        for place, (folder, image) in enumerate(texts)
    ]
    events = [
        {"folder": folder, "seq": place, "at_ns": 1, "kind": "snapshot"}
        | {"data": json.dumps({"label": f"copied-{place}", "began_ns": 0})}
        for place, (folder, _) in enumerate(texts)
    ]
    reported = StructType([StructField("folder", StringType()), *schemas.EVENT_JSON.fields])

    rows = observations.metadata_divergences(
        frame(spark, schemas.FILES, images), facts.phases(frame(spark, reported, events))
    )

    assert [(row.folder, row.family) for row in rows.collect()] == [("good", "topics")]
