"""Real downloads and real JVMs: a killed download, two processes at once, an archive in use, log lines that appear."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.distributions.agents import jolokia_jar
from pytest_kmigrate.distributions.cds import flags_to_use
from pytest_kmigrate.distributions.java import find_java
from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.distributions.training import JVM_FLAGS, STORAGE_MAIN, Training
from pytest_kmigrate.waiting import until

ANSWERS = "org/jolokia/json/JSONWriter"
RESOLVE = """
from pytest_kmigrate.distributions.kafka import resolve
print(resolve("3.9.1", progress=print, archive=False).digest, flush=True)
"""


def resolving(cache: Path, monkeypatch: pytest.MonkeyPatch) -> subprocess.Popen[str]:
    """A process of its own that resolves 3.9.1 with the given cache."""
    monkeypatch.setenv("KMIGRATE_CACHE", str(cache))
    return subprocess.Popen([sys.executable, "-c", RESOLVE], stdout=subprocess.PIPE, text=True)


def test_killed_download_then_two_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After SIGKILL in the middle of a download two processes at once get the release, downloaded by one of them."""
    kafka = tmp_path / "kafka"
    with resolving(tmp_path, monkeypatch) as killed:
        until(
            lambda: list(kafka.glob(".3.9.1.building-*/ivy-*/*/cache")),
            awaited="the download is under way",
            within_s=60,
        )
        killed.send_signal(signal.SIGKILL)
    assert not (kafka / "3.9.1").exists()

    both = [resolving(tmp_path, monkeypatch) for _ in range(2)]
    said = [process.communicate(timeout=300)[0].splitlines() for process in both]

    assert [process.returncode for process in both] == [0, 0]
    assert said[0][-1] == said[1][-1]
    assert sum("downloading" in line for lines in said for line in lines) == 1
    assert [path.name for path in kafka.iterdir()] == ["3.9.1"]
    assert sorted(path.name for path in (kafka / "3.9.1").iterdir()) == ["libs", "manifest.json"]


def test_archive_is_used_beside_an_agent() -> None:
    """With Jolokia loaded the JVM takes most classes from the archive, which stays where it was made for.

    -Xshare:on refuses an unusable one.
    """
    distribution = resolve("3.9.1", progress=print)
    assert distribution.cds_archive
    agent = f"-javaagent:{jolokia_jar(print)}=host=127.255.0.9,port=0,discoveryEnabled=false"
    flags = [*JVM_FLAGS, *flags_to_use(distribution.cds_archive), "-Xshare:on", "-Xlog:cds,class+load", agent]
    command = [str(find_java().path), *flags, "-cp", distribution.classpath, STORAGE_MAIN, "random-uuid"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    loaded = [line for line in answer.stdout.splitlines() if " source: " in line]
    assert len(loaded) > 1000
    assert sum("shared objects file" in line for line in loaded) > 0.85 * len(loaded)
    assert "Mapped static  region" in answer.stdout
    assert "at an alternative address" not in answer.stdout


@pytest.mark.parametrize("version", ["3.9.1", "4.3.0"])
def test_nodes_start_and_log(version: str, tmp_path: Path) -> None:
    """Nodes of the last release of each logging library acknowledge a record, and their log lines come out.

    They learn what nodes of a run do besides: to authorize, and to answer the agent's and ZooKeeper's questions.
    """
    distribution = replace(resolve(version, progress=print, archive=False), appended=(jolokia_jar(print),))
    with Training(find_java(), distribution, tmp_path) as training:
        lists = {file.stem: file for file in training.class_lists()}
    del lists["storage"]
    assert all(" INFO " in file.with_suffix(".log").read_text() for file in lists.values())
    loaded = {name: file.read_text().splitlines() for name, file in lists.items()}
    assert {name for name, classes in loaded.items() if ANSWERS in classes} == lists.keys() - {"zookeeper"}
    assert "org/apache/kafka/metadata/authorizer/StandardAuthorizer" in loaded["kraft"]
    if version == "3.9.1":
        assert "kafka/security/authorizer/AclAuthorizer" in loaded["broker"]
        assert "org/apache/zookeeper/server/command/StatCommand" in loaded["zookeeper"]
