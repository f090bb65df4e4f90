"""Talking to Ivy: what is asked for, and what its failures become."""

from pathlib import Path

import pytest

from pytest_kmigrate.distributions import ivy
from pytest_kmigrate.distributions.ivy import Artifact, download, ivy_jar, run_ivy, settings_file
from pytest_kmigrate.distributions.java import Java
from pytest_kmigrate.model.errors import DistributionError, WrongUseError

ARTIFACTS = [Artifact("org.a", f"module-{number}", "1.0") for number in range(5)] + [
    Artifact("org.b", "x", "2", "agent")
]


@pytest.fixture
def java_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A java that writes its arguments to a file per process and then runs what stands in the returned script."""
    script = tmp_path / "then.sh"
    java = tmp_path / "java"
    java.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/$$.arguments\n. {script}\n')
    java.chmod(0o755)
    monkeypatch.setattr(ivy, "find_java", lambda: Java(java, 17, "fake"))
    return script


def test_coordinates() -> None:
    """A coordinate survives being written and read; the file name follows Maven."""
    for artifact in ARTIFACTS:
        assert Artifact.parsed(str(artifact)) == artifact
    assert [artifact.file_name for artifact in ARTIFACTS[-2:]] == ["module-4-1.0.jar", "x-2-agent.jar"]


def test_ivy_comes_with_pyspark() -> None:
    """The jar exists in the installed PySpark."""
    assert ivy_jar().is_file()


def test_every_artifact_is_asked_for_once(java_says: Path, tmp_path: Path) -> None:
    """The processes share the artifacts; each arrival is counted; a classifier is passed on."""
    java_says.write_text('echo ":: resolving"; echo "	[SUCCESSFUL ] org.a#m;1.0!m.jar (3ms)"\n')
    work, arrived = tmp_path / "work", []
    work.mkdir()
    download(ARTIFACTS, tmp_path / "libs", work, lambda: arrived.append(1))
    asked = "".join(file.read_text() for file in work.glob("*/jars.xml"))
    assert all(asked.count(f'name="{artifact.module}" rev=') == 1 for artifact in ARTIFACTS)
    assert 'm:classifier="agent"' in asked
    assert len(arrived) == len(list(tmp_path.glob("*.arguments"))) == ivy.PROCESSES


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("UNRESOLVED DEPENDENCIES", r"(?s)UNRESOLVED.*KMIGRATE_IVY_SETTINGS.*kmigrate fetch"),
        ("No space left on device", "the disk is full"),
    ],
)
def test_failure_is_told(java_says: Path, words: str, expected: str) -> None:
    """Ivy's last words come with what to do."""
    java_says.write_text(f"echo '{words}'; exit 1\n")
    with pytest.raises(DistributionError, match=expected):
        run_ivy(["-ivy", "x"], lambda _: None)


def test_user_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's settings replace ours; a path that is no file is wrong use."""
    assert settings_file(tmp_path, "own").read_text() == "own"
    mine = tmp_path / "mine.xml"
    monkeypatch.setenv("KMIGRATE_IVY_SETTINGS", str(mine))
    with pytest.raises(WrongUseError, match="KMIGRATE_IVY_SETTINGS"):
        settings_file(tmp_path, "own")
    mine.write_text("<ivysettings/>")
    assert settings_file(tmp_path, "own") == mine
