"""Finding Java: the right one, new enough, and clear words where there is none."""

from pathlib import Path

import pytest

from pytest_kmigrate.distributions.java import bound_to_us, find_java, parsed_build
from pytest_kmigrate.model.errors import EnvironmentLackError

OPENJDK_17 = """openjdk version "17.0.15" 2025-04-15
OpenJDK Runtime Environment (build 17.0.15+6-Debian-1deb12u1)
OpenJDK 64-Bit Server VM (build 17.0.15+6-Debian-1deb12u1, mixed mode, sharing)
"""


def fake_java(home: Path, version: str) -> Path:
    """A java that only says its version."""
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        (OPENJDK_17, 17),
        ('java version "1.8.0_292"', 8),
        ('openjdk version "21" 2023', 21),
        ('openjdk version "25-ea"', 25),
    ],
)
def test_version_is_read(answer: str, number: int) -> None:
    """Old and new ways of counting, released and early-access builds."""
    build = parsed_build(answer)
    assert build is not None
    assert build[0] == number


def test_build_tells_builds_of_one_version_apart() -> None:
    """The build text holds all that an archive depends on; what is no version gives None."""
    build = parsed_build(OPENJDK_17)
    assert build is not None
    assert "17.0.15+6-Debian-1deb12u1, mixed mode" in build[1]
    assert parsed_build("no such file") is None


def test_java_home_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JAVA_HOME is used before PATH."""
    java = fake_java(tmp_path / "21", "21.0.1")
    fake_java(tmp_path / "17", "17.0.1")
    monkeypatch.setenv("PATH", f"{tmp_path / '17' / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert find_java().version == 17
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "21"))
    assert (find_java().path, find_java().version) == (java, 21)


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No java at all, a wrong JAVA_HOME and too old a Java each say what to do."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentLackError, match="apt-get install -y openjdk-17-jre-headless"):
        find_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(EnvironmentLackError, match="correct or unset JAVA_HOME"):
        find_java()
    fake_java(tmp_path / "11", "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "11"))
    with pytest.raises(EnvironmentLackError, match="expected Java 17 or newer, got Java 11"):
        find_java()


def test_command_is_bound_where_the_system_can(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With setpriv the kernel ends the process when we end; without it the command is unchanged."""
    assert bound_to_us(["java", "-version"])[-4:] == ["--pdeathsig", "KILL", "java", "-version"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bound_to_us(["java"]) == ["java"]
