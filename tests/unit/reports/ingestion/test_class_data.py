"""The class-data archive of Spark: whose it is, who makes it, and that nothing fails because of it."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkContext
from pyspark.sql import SparkSession

from pytest_kmigrate.distributions.java import Java
from pytest_kmigrate.model.errors import DistributionError, EnvironmentLackError
from pytest_kmigrate.reports.ingestion import class_data, session
from pytest_kmigrate.reports.ingestion.class_data import keep_archive, with_archive
from pytest_kmigrate.reports.ingestion.session import spark_session

OPTIONS = "spark.driver.extraJavaOptions"


@pytest.fixture
def spark_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Spark of one jar, a Java, and an empty cache whose path has a space in it."""
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "spark" / "jars" / "core.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setenv("KMIGRATE_CACHE", str(tmp_path / "a cache"))
    monkeypatch.setattr(class_data, "find_java", lambda: Java(Path("/bin/false"), 17, "one"))
    return tmp_path / "spark"


def options(flags: str = "-Xflag") -> str:
    """The JVM's options with what was added to them."""
    return with_archive({OPTIONS: flags})[OPTIONS]


def name_of(reported: str) -> str:
    """The archive that a JVM with these options could make."""
    named = re.fullmatch(r"\S+ -XX:\+RecordDynamicDumpInfo -Dkmigrate\.class-data=(cds/spark-\S+)", reported)
    assert named is not None
    return named[1]


def kept(monkeypatch: pytest.MonkeyPatch, name: str | None, write: Callable[[Path], object]) -> list[str]:
    """What is said when the JVM was started to make this archive, which ``write`` stands for."""
    said: list[str] = []
    system = SimpleNamespace(getProperty={"kmigrate.class-data": name}.get)
    monkeypatch.setattr(SparkContext, "_jvm", SimpleNamespace(System=system))
    monkeypatch.setattr(class_data, "_dump", lambda file, _progress: write(file))
    keep_archive(said.append)
    return said


def test_an_archive_belongs_to_one_java_one_spark_and_its_flags(
    spark_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found again, and with another flag, jar or Java another one is made."""
    name = name_of(options())

    assert kept(monkeypatch, name, Path.touch) == []

    archive = spark_home.parent / "a cache" / name / "spark.jsa"
    assert options() == f'-Xflag "-XX:SharedArchiveFile={archive}"'
    names = [name, name_of(options("-Xother"))]
    (spark_home / "jars" / "more.jar").touch()
    names.append(name_of(options()))
    monkeypatch.setattr(class_data, "find_java", lambda: Java(Path("/bin/false"), 17, "another"))
    names.append(name_of(options()))
    assert len(set(names)) == 4


def test_without_java_nothing_is_added(spark_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark itself reports what is missing."""

    def no_java() -> Java:
        raise EnvironmentLackError("no java")

    monkeypatch.setattr(class_data, "find_java", no_java)
    assert options() == "-Xflag"


def test_it_is_made_once_and_only_of_a_jvm_that_was_started_for_that(
    spark_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two analyses that ended without finding one the later one leaves it alone."""
    made: list[Path] = []
    for name in (None, "cds/spark-1", "cds/spark-1"):
        kept(monkeypatch, name, made.append)
    assert len(made) == 1


@pytest.mark.parametrize("error", [Py4JError("gone\nat a.b"), OSError("gone"), DistributionError("gone")])
def test_what_goes_wrong_is_told_and_leaves_nothing_behind(
    error: Exception, spark_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An analysis never fails because of the archive; the next one tries again."""

    def failing(file: Path) -> None:
        file.write_text("half of it")
        raise error

    said = kept(monkeypatch, name_of(options()), failing)

    assert said == ["no class-data archive of Spark, analyses start slower: gone"]
    assert list((spark_home.parent / "a cache" / "cds").iterdir()) == []


def test_a_full_disk_is_told_before_the_jvm_meets_it(spark_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The JVM would end itself and say nothing; the message says how much room is wanted, and where."""
    said: list[str] = []
    system = SimpleNamespace(getProperty={"kmigrate.class-data": "cds/spark-1"}.get)
    monkeypatch.setattr(SparkContext, "_jvm", SimpleNamespace(System=system))
    monkeypatch.setattr(class_data.shutil, "disk_usage", lambda _folder: SimpleNamespace(free=299_999_999))

    keep_archive(said.append)

    cds = spark_home.parent / "a cache" / "cds"
    reported = f"analyses start slower: the disk is full: expected about 300 MB of room in {cds}, got none"
    assert [reported in each for each in said] == [True]
    assert list(cds.iterdir()) == []


@pytest.mark.parametrize(
    ("master", "is_small", "has_archive", "is_given"),
    [
        ("local[*]", True, True, True),
        ("local[*]", True, False, False),
        ("local[*]", False, True, False),
        ("spark://there:7077", True, True, False),
    ],
)
def test_only_a_small_analysis_on_this_machine_has_one(
    *,
    master: str,
    is_small: bool,
    has_archive: bool,
    is_given: bool,
    spark_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Much data runs with other flags, and what a cluster's machine keeps is not ours to say."""
    started: list[dict[str, str]] = []

    def fake(chosen: dict[str, str], _log: Path) -> Any:
        started.append(chosen)
        return SimpleNamespace(stop=lambda: None)

    monkeypatch.setattr(session, "_started", fake)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with spark_session(master, is_small=is_small, log=spark_home / "log", has_archive=has_archive):
        pass
    assert ("RecordDynamicDumpInfo" in started[0].get(OPTIONS, "")) == is_given
