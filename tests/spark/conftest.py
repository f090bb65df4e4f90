"""One small Spark session for all Spark tests, and what it said beside a test that fails."""

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.commands import small_session

_LOG = pytest.StashKey[Path]()
_LAST_LINES = 40


def pytest_configure(config: pytest.Config) -> None:
    """Ignore what PySpark leaves open, its socket to its JVM; in sessions without Spark every open socket is ours."""
    config.addinivalue_line("filterwarnings", "ignore:unclosed <socket.socket:ResourceWarning")


@pytest.fixture(scope="session")
def spark(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session of these tests."""
    log = pytestconfig.stash[_LOG] = tmp_path_factory.mktemp("spark") / "spark.log"
    with small_session(log) as session:
        yield session


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A session that ended by itself says why in its log only, which is gone with the machine that ran the tests."""
    report = yield
    log = item.config.stash.get(_LOG, None)
    if report.failed and log is not None:
        report.sections.append(("Spark's last words", "\n".join(log.read_text().splitlines()[-_LAST_LINES:])))
    return report
