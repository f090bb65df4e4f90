"""Clusters: failures worded differently become one, with where and when they were seen."""

import datetime as dt

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertSchemaEqual

from pytest_kmigrate.analysis import clusters
from pytest_kmigrate.analysis.messages import normal_form_of
from pytest_kmigrate.analysis.schemas.causes import CAUSES, MESSAGES
from pytest_kmigrate.checkers.run.doubts import SO_NOTHING_IS_PROVED
from tests.spark.frames import ended, frame, table
from tests.unit.analysis.message_examples import EXAMPLES

LOST = "3 of 11 861 acknowledged records were never read back: orders-0 at 4337-4339"
LOST_AGAIN = "1 of 907 acknowledged records were never read back: payments-2 at 12"
DIED = "broker-1 died by itself with exit code 1"


def _message(folder: str, text: str, check: str = "no_acked_record_lost") -> dict[str, object]:
    return {"folder": folder, "check": check, "outcome": "VIOLATES", "text": text}


def _attempt(folder: str, day: int, **more: object) -> dict[str, object]:
    at = dt.datetime(2026, 3, day, tzinfo=dt.UTC)
    return ended("VIOLATES", "SAFETY", folder=folder, started_at=at, timeline=f"{folder}/timeline.html", **more)


@pytest.fixture(scope="module")
def members(spark: SparkSession) -> DataFrame:
    """Two failures in three runs: one lost records twice in the same words, once in others; a node died in two."""
    messages = [
        _message("r1", LOST),
        _message("r2", LOST.replace("4337-4339", "17-19")),
        _message("r3", LOST_AGAIN),
        _message("r3", DIED, "no_unexpected_death"),
        _message("r1", DIED.replace("1", "2"), "steps_completed"),
    ]
    return clusters.failure_members(clusters.normalised(frame(spark, MESSAGES, messages))).cache()


def test_a_column_has_the_same_normal_forms(spark: SparkSession) -> None:
    """Each text of a column is replaced by its normal form, and null stays null."""
    texts = spark.createDataFrame([*[(text,) for text, _ in EXAMPLES], (None,)], "text string")
    rows = texts.select("text", normal_form_of(texts["text"]).alias("normal")).collect()
    assert {row.text: row.normal for row in rows} == {**dict(EXAMPLES), None: None}


def test_members_of_one_failure_share_a_cluster(members: DataFrame) -> None:
    """Other numbers and another topic are the same failure; another failure is not, whatever the check."""
    assertSchemaEqual(members.schema, CAUSES["failure_members"])
    rows = members.collect()
    lost = {row.cluster for row in rows if "acknowledged" in row.text}
    died = {row.cluster for row in rows if "died" in row.text}
    assert (len(rows), len(lost), len(died), len(lost | died)) == (5, 1, 1, 2)


def test_a_cluster_tells_when_and_where_it_was_seen(spark: SparkSession, members: DataFrame) -> None:
    """The most frequent words, each run once, first and last sighting, tests and versions, the newest as example."""
    attempts = table(
        spark,
        "attempts",
        [_attempt("r1", 1), _attempt("r2", 5, kafka="3.6.0"), _attempt("r3", 3, test_id="other")],
    )

    found = clusters.failure_clusters(members, attempts)

    assertSchemaEqual(found.schema, CAUSES["failure_clusters"])
    (row,) = found.where("array_contains(checks, 'no_acked_record_lost')").collect()
    assert row.representative in {LOST, LOST.replace("4337-4339", "17-19")}
    assert row.normal_form == "<n> of <n> acknowledged records were never read back: orders-<n> at <n>"
    assert (row.failures, row.runs, row.outcome, row.checks) == (3, 3, "VIOLATES", ["no_acked_record_lost"])
    assert (row.tests, row.kafka) == (["other", "t"], ["3.6.0", "3.9.1"])
    assert (row.first_at.day, row.last_at.day) == (1, 5)
    assert (row.example_folder, row.example_timeline) == ("r2", "r2/timeline.html")


def test_a_cluster_keeps_its_name(spark: SparkSession, members: DataFrame) -> None:
    """Analyzed with other runs, in another order, the same failure has the same id."""
    other = frame(spark, MESSAGES, [_message("r9", DIED), _message("r8", LOST)])
    alone = clusters.failure_members(clusters.normalised(other))
    assert {row.cluster for row in alone.collect()} == {row.cluster for row in members.collect()}


def test_only_what_broke_is_a_message(spark: SparkSession) -> None:
    """Violations and what harness or machine prevented, in counted runs; of a run without verdicts, its own summary."""
    verdicts = [
        {"folder": "r1", "check": "a", "outcome": "VIOLATES", "kind": "LIVENESS", "summary": "late"},
        {"folder": "r1", "check": "b", "outcome": "INCONCLUSIVE", "kind": "INFRA", "summary": "no disk"},
        {"folder": "r1", "check": "c", "outcome": "INCONCLUSIVE", "kind": "VACUOUS", "summary": "nothing sent"},
        {"folder": "r1", "check": "d", "outcome": "CONFORMS", "summary": "fine"},
        {"folder": "r1", "check": "e", "outcome": "VIOLATES", "kind": "LIVENESS", "summary": None},
        {"folder": "copy of r1", "check": "a", "outcome": "VIOLATES", "kind": "LIVENESS", "summary": "late"},
    ]
    attempts = [
        ended("VIOLATES", "LIVENESS", folder="r1", check="a", summary="late"),
        ended("VIOLATES", "LIVENESS", folder="ci/x.xml#1", check="AssertionError", summary="was 4"),
        ended("CONFORMS", folder="ci/x.xml#2", check="test passes", summary=""),
    ]

    reported = clusters.failure_messages(
        table(spark, "verdicts", [{**each, "counts": True} for each in verdicts]), table(spark, "attempts", attempts)
    )

    assert sorted((row.folder, row.check, row.text) for row in reported.collect()) == [
        ("ci/x.xml#1", "AssertionError", "was 4"),
        ("r1", "a", "late"),
        ("r1", "b", "no disk"),
    ]


def test_what_one_death_leaves_open_is_one_failure(spark: SparkSession) -> None:
    """Every verdict that a death takes the ground from gives it as its reason; what else each says is no failure."""
    held = {
        "no_acked_record_lost": "none of 900 acknowledged records was lost",
        "controller_epoch_never_falls": "4 sightings of epochs, none below one before",
        "steps_completed": "2 migration steps completed",
    }
    verdicts = [
        {
            "folder": "r1",
            "check": check,
            "outcome": "INCONCLUSIVE",
            "kind": "INFRA",
            "summary": f"{DIED}{SO_NOTHING_IS_PROVED}{would}",
        }
        for check, would in held.items()
    ]
    reported = clusters.failure_messages(
        table(spark, "verdicts", [{**each, "counts": True} for each in verdicts]),
        table(spark, "attempts", [_attempt("r1", 1)]),
    )

    rows = clusters.failure_members(clusters.normalised(reported)).collect()

    assert {row.text for row in rows} == {DIED}
    assert len({row.cluster for row in rows}) == 1
    assert {row.check for row in rows} == set(held)


def test_no_failure_is_no_cluster(spark: SparkSession) -> None:
    """An analysis in which nothing failed has empty tables."""
    members = clusters.failure_members(clusters.normalised(frame(spark, MESSAGES, [])))
    assert members.count() == 0
    assert clusters.failure_clusters(members, table(spark, "attempts", [])).count() == 0
