"""One small Spark session for all Spark tests."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.reports.session import spark_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session of an analysis of little data, on one core; every analysis of these tests finds it and uses it."""
    with spark_session("local[1]", is_small=True, log=tmp_path_factory.mktemp("spark") / "spark.log") as session:
        yield session
