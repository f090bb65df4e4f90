"""The Spark session: what is set for small data, for much, and on somebody's cluster."""

from pathlib import Path
from typing import IO

import pytest
from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.reports.session import settings, spark_session


def test_little_data_starts_quickly_and_stays_on_this_machine() -> None:
    """No shuffle, no compiled stages, loopback only, no UI, UTC."""
    chosen = settings(None, is_small=True)
    assert (chosen["spark.master"], chosen["spark.driver.host"]) == ("local[*]", "127.0.0.1")
    assert (chosen["spark.ui.enabled"], chosen["spark.sql.session.timeZone"]) == ("false", "UTC")
    assert chosen["spark.sql.shuffle.partitions"] == "1"


def test_a_cluster_keeps_its_own_settings() -> None:
    """A driver on a cluster must be reached from there; much data is planned by Spark itself."""
    chosen = settings("spark://there:7077", is_small=False)
    assert not {"spark.driver.host", "spark.driver.memory", "spark.sql.shuffle.partitions"} & chosen.keys()


def test_without_java_the_lack_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with what was expected, what came, what was last said, and where the whole log is."""

    def no_java(_conf: object, streams: dict[str, IO[str]]) -> None:
        streams["stderr"].write("JAVA_HOME is not set\n")
        raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})

    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr("pytest_kmigrate.reports.session.launch_gateway", no_java)
    log = tmp_path / "spark.log"

    with pytest.raises(EnvironmentLackError) as caught, spark_session(None, is_small=True, log=log):
        pass

    told = str(caught.value)
    assert all(part in told for part in ("local[*]", "JAVA_HOME is not set", "Java 17 or newer", str(log)))
