"""Spark that ends in the midst of an analysis: one line that says so, and an earlier report that is whole."""

from pathlib import Path

import pytest

from tests.spark.commands import analysis_cut_short

_ENDED = """
from pyspark import SparkContext
from pytest_kmigrate.reports import analyze
from pytest_kmigrate.reports.ingestion import tables

goes_on = {module}.{work}


def ended(*given):
    {end}
    return goes_on(*given)


{module}.{work} = ended
"""


@pytest.mark.parametrize(
    ("module", "work", "end"),
    [
        pytest.param("analyze", "ingest", "SparkContext._active_spark_context._jsc.sc().stop()", id="session"),
        # While tables are computed by some threads and planned by another one.
        pytest.param("tables", "write_rows", "SparkContext._gateway.proc.kill()", id="JVM"),
    ],
)
def test_spark_that_ends_in_the_midst_is_one_line(tmp_path: Path, module: str, work: str, end: str) -> None:
    """Exit status 4 and where Spark says why; no stack trace."""
    status, printed = analysis_cut_short(tmp_path, _ENDED.format(module=module, work=work, end=end))

    assert status == 4, printed
    assert "Spark: expected it to run until all is written, got its end; the last lines of " in printed.splitlines()[-1]
    assert "out/spark.log show why" in printed
    assert "Traceback" not in printed
