"""Code of Kafka: a line is executed if any of its probes was, in the class file that was analysed."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertSchemaEqual

from pytest_kmigrate.analysis import exercise
from pytest_kmigrate.analysis.schemas.exercise import EXERCISE
from tests.spark.frames import ended, table

DRIVER, WRITER = "org.acme.Driver", "org.acme.Writer"


def _line(of: str, method: str, line: int, *probes: int, class_id: str = "a") -> dict[str, object]:
    code = {"profile": "kip-866", "kafka": "3.9.1", "class": of, "class_id": class_id, "source": "Source.java"}
    return {**code, "method": method, "line": line, "probes": list(probes)}


def _executed(folder: str, of: str, *places: int, class_id: str = "a") -> dict[str, object]:
    return {"folder": folder, "class_name": of, "class_id": class_id, "executed": list(places)}


@pytest.fixture(scope="module")
def seen(spark: SparkSession) -> dict[str, DataFrame]:
    """Three runs of two tests. The third has the driver of another class file; line 12 is in two methods."""
    lines = [_line(DRIVER, "poll()V", 10, 0, 1), _line(DRIVER, "poll()V", 11, 2), _line(DRIVER, "poll()V", 12, 3)]
    lines += [_line(DRIVER, "lambda$poll$0()V", 12, 4), _line(DRIVER, "close()V", 20, 5), _line(DRIVER, "none()V", 21)]
    lines += [_line(WRITER, "write()V", 7, 0)]
    executions = [_executed("r1", DRIVER, 1, 2), _executed("r2", DRIVER, 1, 4), _executed("r2", WRITER)]
    executions += [_executed("r3", DRIVER, 3, 5, class_id="b"), _executed("not counted", DRIVER, 5)]
    attempts = [ended("CONFORMS", folder=f"r{number}", test_id=f"t{number % 2}") for number in (1, 2, 3)]
    rows = {"code_lines": lines, "executions": executions, "attempts": attempts}
    return {name: table(spark, name, mine) for name, mine in rows.items()}


def test_a_line_was_executed_by_any_of_its_probes(seen: dict[str, DataFrame]) -> None:
    """Of no run: never. Data of another class file count for nothing, though the numbers would fit."""
    found = exercise.exercised(seen["code_lines"], seen["executions"], seen["attempts"])
    assertSchemaEqual(found.schema, EXERCISE["exercised"])
    rows = {(row["class"], row.method, row.line): (row.runs, row.tests) for row in found.collect()}
    assert rows == {
        (DRIVER, "poll()V", 10): (2, ["t0", "t1"]),
        (DRIVER, "poll()V", 11): (1, ["t1"]),
        (DRIVER, "poll()V", 12): (0, []),
        (DRIVER, "lambda$poll$0()V", 12): (1, ["t0"]),
        (DRIVER, "close()V", 20): (0, []),
        (DRIVER, "none()V", 21): (0, []),
        (WRITER, "write()V", 7): (0, []),
    }


def test_a_class_has_its_lines_once_and_what_was_never_executed(seen: dict[str, DataFrame]) -> None:
    """Line 12 is executed by the function in it; the run with another class file is counted apart."""
    lines = exercise.exercised(seen["code_lines"], seen["executions"], seen["attempts"])
    found = exercise.exercised_classes(lines, seen["code_lines"], seen["executions"], seen["attempts"])
    assertSchemaEqual(found.schema, EXERCISE["exercised_classes"])
    rows = {row["class"]: row for row in found.collect()}
    driver, writer = rows[DRIVER], rows[WRITER]
    assert (driver.lines, driver.executed, driver.never) == (5, 3, [20, 21])
    assert (driver.methods, driver.executed_methods, driver.never_methods) == (4, 2, ["close()V", "none()V"])
    assert (driver.tests, driver.other_files) == (2, 1)
    assert (writer.lines, writer.executed, writer.tests, writer.other_files) == (1, 0, 0, 0)
