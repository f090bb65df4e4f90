"""Resolving: versions, unpacked folders, and everything that is neither."""

import os
import shutil
from pathlib import Path

import pytest

from pytest_kmigrate.distributions import kafka
from pytest_kmigrate.distributions.agents import byteman_jar, jacoco_jar, jolokia_jar
from pytest_kmigrate.distributions.fetch import fetch
from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.distributions.manifest import Jar, Manifest, sha256_of
from pytest_kmigrate.distributions.releases import known_releases, locked_release, nearest_releases
from pytest_kmigrate.distributions.toxiproxy import SERVER, toxiproxy_server
from pytest_kmigrate.distributions.versions import version_of
from pytest_kmigrate.model.errors import DistributionError, EnvironmentLackError, WrongUseError
from tests.unit.distributions.conftest import small_jar, small_lock

ALL_FROM_332_TO_430 = (
    "3.2.3 3.3.2 3.4.0 3.4.1 3.5.0 3.5.1 3.5.2 3.6.0 3.6.1 3.6.2 3.7.0 3.7.1 3.7.2 3.8.0 3.8.1 3.9.0 3.9.1 3.9.2 "
    "4.0.0 4.0.1 4.0.2 4.1.0 4.1.1 4.1.2 4.2.0 4.2.1 4.3.0"
)


def small_manifest_of_one(jar: Path, name: str) -> Manifest:
    """The lock of an agent that is the given jar."""
    return Manifest(name, "1", (Jar(jar.name, jar.stat().st_size, sha256_of(jar), f"org.example:{name}:1"),))


@pytest.fixture
def release(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, downloads: list[str]) -> Manifest:
    """Kafka 3.9.1 consists of two tiny jars for the time of a test."""
    lock = small_lock(tmp_path / "elsewhere")
    monkeypatch.setattr(kafka, "locked_release", lambda _version: lock)
    monkeypatch.setattr("pytest_kmigrate.distributions.fetch.locked_release", lambda _version: lock)
    server = tmp_path / "elsewhere" / SERVER
    server.write_text("#!/bin/sh\n")
    server.chmod(0o755)
    monkeypatch.setattr("pytest_kmigrate.distributions.fetch.toxiproxy_server", lambda _progress: server)
    monkeypatch.setattr(shutil, "which", lambda _program: None)
    return lock


def test_every_release_is_locked() -> None:
    """There is a lock for each release, with the jars of all roles and a way for log lines to get out."""
    assert known_releases() == tuple(ALL_FROM_332_TO_430.split())
    for version in known_releases():
        names = {jar.name for jar in locked_release(version).jars}
        assert {f"kafka_2.13-{version}.jar", f"kafka-tools-{version}.jar", f"kafka-metadata-{version}.jar"} <= names
        binding = "slf4j-reload4j-" if version < "4" else "log4j-slf4j-impl-"
        assert any(name.startswith(binding) for name in names)
        assert any(name.startswith("zookeeper-") for name in names) == (version < "4")


@pytest.mark.parametrize(
    ("version", "nearest"),
    [
        ("3.9", ["3.9.0", "3.9.1", "3.9.2"]),
        ("3.9.7", ["3.9.0", "3.9.1", "3.9.2"]),
        ("3.2.0", ["3.2.3"]),
        ("5.0.0", ["4.3.0"]),
        ("3.10.0", ["3.9.2", "4.0.0"]),
    ],
)
def test_unknown_release(version: str, nearest: list[str], downloads: list[str]) -> None:
    """A version that does not exist is refused without asking the network, naming the range and the nearest ones."""
    assert nearest_releases(version) == nearest
    with pytest.raises(WrongUseError, match=rf"from 3\.2\.3 to 4\.3\.0.*nearest: {', '.join(nearest)}"):
        resolve(version, progress=print)
    assert downloads == []


def test_what_is_no_version_at_all_is_told_like_an_unknown_one() -> None:
    """As ``kmigrate fetch latest`` would be; there is no nearest one, so the newest is named."""
    with pytest.raises(WrongUseError, match=r"Kafka latest: expected a release from .*nearest: 4\.3\.0"):
        locked_release("latest")


def test_version_is_downloaded_once(release: Manifest, cache: Path, downloads: list[str], said: list[str]) -> None:
    """The first use downloads into the cache, the second only verifies."""
    found = resolve("3.9.1", progress=said.append, archive=False)
    assert found.version == "3.9.1"
    assert found.digest == release.digest()
    assert found.classpath == ":".join(str(cache / "kafka/3.9.1/libs" / jar.name) for jar in release.jars)
    assert resolve("3.9.1", progress=said.append, archive=False) == found
    assert sorted(downloads) == [jar.source for jar in release.jars]
    assert said[0].startswith("kafka 3.9.1: downloading 2 jars")


def test_jars_of_neighbours_are_copied(
    release: Manifest, tmp_path: Path, downloads: list[str], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release sharing jars with one in the cache downloads only the others."""
    resolve("3.9.1", progress=said.append, archive=False)
    shared = Manifest("kafka", "3.9.2", (*release.jars[:1], *small_lock(tmp_path / "more", "3.9.2").jars[1:]))
    monkeypatch.setattr(kafka, "locked_release", lambda _version: shared)
    downloads.clear()
    resolve("3.9.2", progress=said.append, archive=False)
    assert downloads == ["org.example:zookeeper:3.9.2"]


def test_damaged_cache(release: Manifest, cache: Path, said: list[str]) -> None:
    """A jar that was changed after the download is named, with the command that cures it."""
    resolve("3.9.1", progress=said.append, archive=False)
    kafka.verify_once.cache_clear()
    (cache / "kafka/3.9.1/libs/zookeeper-3.9.1.jar").write_bytes(b"")
    with pytest.raises(DistributionError, match=r"(?s)zookeeper-3\.9\.1\.jar: corrupt.*rm -r .*kafka/3\.9\.1"):
        resolve("3.9.1", progress=said.append, archive=False)


def test_wrong_download(
    release: Manifest, cache: Path, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mirror that gives another jar than the one locked is noticed before anything is put in place."""
    monkeypatch.setattr("pytest_kmigrate.distributions.jars.download", lambda *_: None)
    with pytest.raises(DistributionError, match="missing"):
        resolve("3.9.1", progress=said.append, archive=False)
    assert list((cache / "kafka").iterdir()) == []


@pytest.mark.parametrize(
    ("names", "inside", "version"),
    [
        (["kafka-clients-3.9.1.jar", "kafka-server-common-3.9.1.jar", "zookeeper-3.8.4.jar"], None, "3.9.1"),
        (["kafka-server-common-4.1.0.jar"], None, "4.1.0"),
        (["kafka-clients-7.9.0-ccs.jar"], None, "7.9.0-ccs"),
        (["kafka-clients.jar"], "3.8.0-vendor", "3.8.0-vendor"),
    ],
)
def test_unpacked_folder(tmp_path: Path, cache: Path, names: list[str], inside: str | None, version: str) -> None:
    """The version of an unpacked distribution is that in its jars' names, else that inside kafka-clients."""
    for name in names:
        small_jar(tmp_path / "My Kafka" / "libs", name, inside)
    found = resolve(str(tmp_path / "My Kafka"), progress=print, archive=False)
    assert (found.version, found.build) == (version, f"my-kafka.{found.digest[:8]}")
    assert version_of(str(tmp_path / "My Kafka")) == version
    assert [jar.name for jar in found.jars] == sorted(names)


def test_unpacked_folder_of_no_version(tmp_path: Path, cache: Path, said: list[str]) -> None:
    """Jars of no Kafka, of two Kafkas, and a broken jar are refused."""
    libs = tmp_path / "libs"
    small_jar(libs, "other.jar")
    with pytest.raises(DistributionError, match="got none"):
        resolve(str(tmp_path), progress=said.append, archive=False)
    small_jar(libs, "kafka-clients-3.9.1.jar")
    small_jar(libs, "kafka-server-common-3.9.0.jar")
    with pytest.raises(DistributionError, match=r"several: 3\.9\.0, 3\.9\.1"):
        resolve(str(tmp_path), progress=said.append, archive=False)
    for jar in libs.iterdir():
        jar.unlink()
    (libs / "kafka-clients.jar").write_bytes(b"no jar")
    with pytest.raises(DistributionError, match=r"kafka-clients\.jar: expected a jar, got a damaged file"):
        resolve(str(tmp_path), progress=said.append, archive=False)


def test_a_jar_that_is_a_pipe_is_not_waited_for(
    release: Manifest, tmp_path: Path, cache: Path, said: list[str]
) -> None:
    """Of an unpacked distribution, and of one that a manifest vouches for."""
    small_jar(tmp_path / "libs", "kafka-clients-3.9.1.jar")
    os.mkfifo(tmp_path / "libs" / "pipe.jar")
    with pytest.raises(DistributionError, match=r"pipe\.jar: expected a jar, got a damaged file"):
        resolve(str(tmp_path), progress=said.append, archive=False)
    libs = Path(resolve("3.9.1", progress=said.append, archive=False).jars[0]).parent
    (libs / release.jars[0].name).unlink()
    os.mkfifo(libs / release.jars[0].name)
    kafka.verify_once.cache_clear()
    with pytest.raises(DistributionError, match="expected by the manifest, but missing"):
        resolve("3.9.1", progress=said.append, archive=False)


@pytest.mark.parametrize("kafka_given", ["image:apache/kafka:3.9.1", "latest", "/no/such/folder"])
def test_neither_version_nor_folder(kafka_given: str, said: list[str]) -> None:
    """An image, which no provider takes, a word and a missing folder are wrong use."""
    with pytest.raises(WrongUseError, match=r"expected a version such as 3\.9\.1"):
        resolve(kafka_given, progress=said.append)


def test_a_folder_that_cannot_be_made_is_told_before_anything_is_downloaded(
    release: Manifest, tmp_path: Path, downloads: list[str], said: list[str]
) -> None:
    """Below a file there is no room for a folder."""
    (tmp_path / "file").touch()
    with pytest.raises(
        WrongUseError, match=r"--to .*file: expected a new or an empty folder, got a file; name another"
    ):
        fetch("3.9.1", tmp_path / "file", said.append)
    with pytest.raises(
        WrongUseError, match=r"--to .*file/below: expected a folder that can be made, got: .*name another"
    ):
        fetch("3.9.1", tmp_path / "file" / "below", said.append)
    assert downloads == []


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each agent is a tiny jar."""
    for name in ("jolokia", "byteman", "jacoco"):
        lock = small_manifest_of_one(small_jar(tmp_path / "agents", f"{name}-1.jar"), name)
        monkeypatch.setattr(f"pytest_kmigrate.distributions.agents.{name.upper()}", lock)


@pytest.mark.usefixtures("release", "agents")
def test_an_empty_folder_is_filled_and_not_replaced(tmp_path: Path, said: list[str]) -> None:
    """It may be a link, a mount point, or where the shell of the user stands."""
    there = tmp_path / "there"
    there.mkdir()
    before = there.stat().st_ino
    (tmp_path / "link").symlink_to(there)
    fetch("3.9.1", tmp_path / "link", said.append)
    assert sorted(path.name for path in there.iterdir()) == ["agents", "libs", "manifest.json"]
    assert there.stat().st_ino == before


@pytest.mark.usefixtures("release", "agents")
@pytest.mark.parametrize("is_there", [True, False])
def test_a_fetch_that_fails_leaves_nothing(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """An empty folder stays empty, one that was not there is not there."""
    monkeypatch.setattr("pytest_kmigrate.distributions.jars.download", lambda *_: None)
    to = tmp_path / "to"
    if is_there:
        to.mkdir()
    with pytest.raises(DistributionError):
        fetch("3.9.1", to, said.append)
    assert to.exists() == is_there
    assert not is_there or list(to.iterdir()) == []


@pytest.mark.usefixtures("agents")
def test_fetched_folder_works_without_network(
    release: Manifest, tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fetch lays down resolves to the same digest, with an empty cache and no downloads; so do the other tools."""
    folder = fetch("3.9.1", tmp_path / "to", said.append)
    assert sorted(path.name for path in folder.iterdir()) == ["agents", "libs", "manifest.json"]
    monkeypatch.setenv("KMIGRATE_CACHE", str(tmp_path / "another cache"))
    monkeypatch.setattr("pytest_kmigrate.distributions.jars.download", lambda *_: pytest.fail("asked the network"))
    found = resolve(str(folder), progress=said.append, archive=False)
    assert (found.digest, found.build) == (release.digest(), "")  # the very jars: it is the release
    found_agents = [agent(said.append).name for agent in (jolokia_jar, byteman_jar, jacoco_jar)]
    assert found_agents == ["jolokia-1.jar", "byteman-1.jar", "jacoco-1.jar"]
    assert toxiproxy_server(said.append).is_relative_to(tmp_path / "another cache")
    with pytest.raises(WrongUseError, match="empty"):
        fetch("3.9.1", folder, said.append)
    (folder / "libs" / "zookeeper-3.9.1.jar").unlink()
    kafka.verify_once.cache_clear()
    with pytest.raises(DistributionError, match="kmigrate fetch"):
        resolve(str(folder), progress=said.append, archive=False)


@pytest.mark.usefixtures("agents", "release")
def test_a_fetch_without_toxiproxy_says_so(tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a server nor Go is here; the other machine may have a server, and Kafka is there all the same."""

    def lacking(_progress: object) -> Path:
        raise EnvironmentLackError("expected a server or Go")

    monkeypatch.setattr("pytest_kmigrate.distributions.fetch.toxiproxy_server", lacking)
    folder = fetch("3.9.1", tmp_path / "to", said.append)
    assert sorted(path.name for path in (folder / "agents").iterdir()) == [
        "byteman-1.jar",
        "jacoco-1.jar",
        "jolokia-1.jar",
    ]
    assert "without Toxiproxy, which the other machine then needs on PATH: expected a server or Go" in said
