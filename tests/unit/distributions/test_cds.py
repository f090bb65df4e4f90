"""Class-data archives: a failure never stops a run, and an archive belongs to exactly one class path and Java."""

import re
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_kmigrate.distributions import cds
from pytest_kmigrate.distributions.cds import archive_for
from pytest_kmigrate.distributions.distribution import Distribution
from pytest_kmigrate.distributions.java import Java
from pytest_kmigrate.distributions.training import classes_named
from pytest_kmigrate.model.errors import EnvironmentLackError
from tests.unit.distributions.conftest import small_jar


@pytest.fixture
def distribution(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Distribution:
    """One tiny jar that is no Kafka, and a Java that fails at once."""
    monkeypatch.setattr(cds, "find_java", lambda: Java(Path("/bin/false"), 17, "fake"))
    return Distribution("3.9.1", (small_jar(tmp_path, "kafka-clients-3.9.1.jar"),), "digest")


def test_failure_gives_none(distribution: Distribution, cache: Path, said: list[str]) -> None:
    """Nodes that die in the training give no archive, the reason is reported, and no half archive stays."""
    assert archive_for(distribution, said.append) is None
    assert "no class-data archive, nodes start slower: the storage tool died" in said[-1]
    assert list((cache / "cds").iterdir()) == []


def test_no_java_gives_none(distribution: Distribution, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Even without Java this only reports."""

    def no_java() -> Java:
        raise EnvironmentLackError("no java")

    monkeypatch.setattr(cds, "find_java", no_java)
    assert archive_for(distribution, said.append) is None
    assert said == ["kafka 3.9.1: no class-data archive, nodes start slower: no java"]


def test_made_once_per_class_path_and_java(
    distribution: Distribution, said: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same archive is found again; a touched jar, another jar or another Java get another one."""
    monkeypatch.setattr(cds, "_build", lambda _java, _distribution, folder, _: (folder / cds.ARCHIVE_FILE).touch())
    first = archive_for(distribution, said.append)
    assert first is not None
    assert first.exists()
    assert archive_for(distribution, said.append) == first
    appended = Distribution("3.9.1", distribution.jars, "digest", appended=(small_jar(tmp_path, "agent.jar"),))
    others = [archive_for(appended, said.append)]
    small_jar(tmp_path, "kafka-clients-3.9.1.jar")
    others.append(archive_for(distribution, said.append))
    monkeypatch.setattr(cds, "find_java", lambda: Java(Path("/bin/false"), 17, "another"))
    others.append(archive_for(distribution, said.append))
    assert len({first, *others}) == 4


def test_a_damaged_archive_is_left_out(
    distribution: Distribution, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every JVM would crash with it; without it nodes only start slower, and the command that cures it is reported."""

    def run(_java: Java, _distribution: Distribution, _do: str, *arguments: str) -> None:
        for file in (word.partition("=")[2] for word in arguments if word.startswith("-XX:SharedArchiveFile=")):
            Path(file).write_text("classes")

    monkeypatch.setattr(cds, "_run", run)
    monkeypatch.setattr(cds, "Training", lambda *_: nullcontext(SimpleNamespace(class_lists=list)))
    archive = archive_for(distribution, said.append)
    assert archive is not None
    assert archive_for(distribution, said.append) == archive
    archive.write_text("classe?")
    assert archive_for(distribution, said.append) is None
    assert said[-1].endswith(
        f"it is damaged; remove it and repeat the command, which makes it again: rm -r {archive.parent}"
    )


def test_classes_are_listed_by_name(tmp_path: Path) -> None:
    """Classes are found in jars by their path and named as a class list names them."""
    jar = small_jar(tmp_path, "a.jar", version_inside="1")
    assert classes_named(re.compile("^kafka/"), [jar]) == ["kafka/kafka-version.properties"]
    found = (
        "kafka/zk/migration/ZkAclMigrationClient.class",
        "org/apache/kafka/metadata/migration/ZkMigrationState.class",
    )
    assert all(cds.MIGRATION_CLASSES.search(name) for name in found)
    assert not cds.MIGRATION_CLASSES.search("kafka/server/KafkaServer.class")
