"""Growth: what figures of many runs say at each size, and the line through them."""

import json

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from pytest_kmigrate.analysis import facts, marts, observations, schemas
from tests.spark.frames import frame, table
from tests.spark.run_folders import event


def test_growth(spark: SparkSession) -> None:
    """The median at each size, the line through these, and what it says of ten times the largest size."""
    on_alike = {"profile": "kip", "provider": "process", "kafka": "3.9.1", "topology": "small"}
    attempts = table(spark, "attempts", [{"folder": folder, **on_alike} for folder in ("a", "b")])
    log = {"measure": "log", "unit": "B", "of": "partitions"}
    start = {"measure": "start", "unit": "s", "of": "partitions", "folder": "a"}
    figures: list[dict[str, object]] = [
        *[{**start, "size": float(size), "measured": took_s} for size, took_s in enumerate((3.0, 5.0, 2.0, 4.0))],
        {"folder": "a", **log, "size": 1_000.0, "measured": 1_200.0},
        {"folder": "a", **log, "size": 2_000.0, "measured": 2_100.0},
        {"folder": "b", **log, "size": 2_000.0, "measured": 2_300.0},
        {"folder": "a", **log, "size": 3_000.0, "measured": 3_200.0},
        {"folder": "a", "measure": "heap", "unit": "B", "of": "partitions", "size": 5.0, "measured": 7.0},
        {"folder": "a", "measure": "heap", "unit": "B", "of": "partitions", "size": 6.0, "measured": None},
    ]

    found = {row["measure"]: row for row in marts.growth(table(spark, "figures", figures), attempts).collect()}

    assert [tuple(point) for point in found["log"]["points"]] == [(1e3, 1.2e3, 1), (2e3, 2.2e3, 2), (3e3, 3.2e3, 1)]
    law = {name: found["log"][name] for name in ("at_zero", "per_one", "r_squared", "beyond", "extrapolated")}
    assert law == pytest.approx(
        {"at_zero": 200, "per_one": 1, "r_squared": 1, "beyond": 30_000, "extrapolated": 30_200}
    )
    assert [found["heap"][name] for name in law] == [None] * 5
    assert found["start"]["r_squared"] < marts.FITS
    assert found["start"]["extrapolated"] is None


def test_figures_are_rows_with_the_size_they_were_measured_at(spark: SparkSession) -> None:
    """Other events are none."""
    measured = {"measure": "log", "measured": 1_200.0, "unit": "B", "size": 1_000.0, "of": "partitions"}

    events = [event(100, "state", of="phase", state="HYBRID"), event(200, "figure", **measured)]
    rows = [{"seq": seq, "folder": "r1", **each, "data": json.dumps(each["data"])} for seq, each in enumerate(events)]

    schema = StructType([StructField("folder", StringType()), *schemas.EVENT_JSON.fields])
    found = observations.figures(facts.phases(frame(spark, schema, rows)))

    assert [row.asDict() for row in found.collect()] == [{"folder": "r1", **measured}]
