"""The Spark session: what is set for small data, for much, and on somebody's cluster."""

from pathlib import Path
from typing import IO

import pytest
from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.reports.ingestion.session import LOCAL, chosen_master, settings, spark_session


def test_little_data_starts_quickly_and_stays_on_this_machine() -> None:
    """No shuffle, nothing is compiled, loopback only, no UI, UTC; a heap that need not grow first."""
    chosen = settings(LOCAL, is_small=True)
    assert (chosen["spark.master"], chosen["spark.driver.host"]) == ("local[*]", "127.0.0.1")
    assert (chosen["spark.ui.enabled"], chosen["spark.sql.session.timeZone"]) == ("false", "UTC")
    assert chosen["spark.sql.shuffle.partitions"] == "1"
    assert chosen["spark.sql.codegen.factoryMode"] == "NO_CODEGEN"
    assert "-Xms1g" in chosen["spark.driver.extraJavaOptions"].split()


@pytest.mark.parametrize("is_small", [True, False])
def test_nobody_pays_for_what_only_programmers_read(is_small: bool) -> None:
    """However much there is, no column notes its Python line and no table gets a marker or, here, checksum files."""
    chosen = settings(LOCAL, is_small=is_small)
    assert chosen["spark.python.sql.dataFrameDebugging.enabled"] == "false"
    assert chosen["spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs"] == "false"
    assert chosen["spark.hadoop.fs.file.impl"].endswith(".RawLocalFileSystem")


@pytest.mark.parametrize("is_small", [True, False])
def test_no_letter_needs_all_of_unicode(is_small: bool) -> None:
    """However much there is, ICU is not prepared for lowering a few ASCII letters."""
    assert settings(LOCAL, is_small=is_small)["spark.sql.icu.caseMappings.enabled"] == "false"


@pytest.mark.parametrize("is_small", [True, False])
def test_what_uploads_finds_the_local_files_it_asks_for(is_small: bool) -> None:
    """s3a buffers in Hadoop's own LocalFileSystem, by that name, whatever suits tables on this machine."""
    assert "spark.hadoop.fs.file.impl" not in settings(LOCAL, is_small=is_small, writes_here=False)


def test_a_small_driver_of_a_cluster_still_starts() -> None:
    """How much memory a driver has is the cluster's to say: a heap that begins larger than allowed does not start."""
    assert "-Xms" not in settings("spark://there:7077", is_small=True)["spark.driver.extraJavaOptions"]


def test_a_cluster_keeps_its_own_settings() -> None:
    """A driver on a cluster must be reached from there; much data is planned by Spark itself."""
    chosen = settings("spark://there:7077", is_small=False)
    ours = {"spark.driver.host", "spark.driver.memory", "spark.sql.shuffle.partitions", "spark.hadoop.fs.file.impl"}
    assert not ours & chosen.keys()


def test_the_master_is_the_one_given_else_that_of_spark_submit_else_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What spark-submit runs must not choose another master than spark-submit was given; asked for one, it does."""
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    assert chosen_master(None) == LOCAL
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert chosen_master(None) is None
    assert chosen_master("spark://there:7077") == "spark://there:7077"
    assert not {"spark.master", "spark.driver.host"} & settings(None, is_small=True).keys()


def test_without_java_the_lack_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with what was expected, what came, what was last said, and where the whole log is."""

    def no_java(_conf: object, streams: dict[str, IO[str]]) -> None:
        streams["stderr"].write("JAVA_HOME is not set\n")
        raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})

    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr("pytest_kmigrate.reports.ingestion.session.launch_gateway", no_java)
    log = tmp_path / "spark.log"

    with pytest.raises(EnvironmentLackError) as caught, spark_session(None, is_small=True, log=log):
        pass

    reported = str(caught.value)
    assert all(part in reported for part in ("local[*]", "JAVA_HOME is not set", "Java 17 or newer", str(log)))
