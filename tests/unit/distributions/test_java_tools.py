"""Programs in Java that this machine builds."""

import shutil
from pathlib import Path

import pytest

from pytest_kmigrate.distributions.java_tools import building
from pytest_kmigrate.distributions.java_tools.building import agent_jar
from pytest_kmigrate.distributions.java_tools.lines import CodeLine, _parsed
from pytest_kmigrate.model.errors import EnvironmentLackError


def test_without_a_compiler_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A JRE runs Kafka, and is what most machines have."""
    monkeypatch.setenv("KMIGRATE_CACHE", str(tmp_path))
    monkeypatch.setattr(building.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(building, "find_java", lambda: building_java(tmp_path))
    with pytest.raises(EnvironmentLackError, match=r"expected a JDK.*without javac.*openjdk-17-jdk-headless"):
        agent_jar("MutantPlanter", print)


def building_java(folder: Path) -> object:
    """A Java without a compiler beside it."""
    return type("Java", (), {"path": folder / "bin" / "java"})()


def test_lines_are_read_as_they_are_written() -> None:
    """A line that no probe shows has none."""
    lines = ["org.acme.A\t00ff\t9\tA.java\tpoll()V\t12\t0,3", "org.acme.A\t00ff\t9\tA.java\tpoll()V\t13\t"]
    first, second = _parsed(lines)
    assert first == CodeLine("org.acme.A", "00ff", "A.java", "poll()V", 12, (0, 3))
    assert second.probes == ()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no JDK here")
def test_a_planter_is_built_as_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once: the second call finds it."""
    import zipfile  # noqa: PLC0415 - only here

    monkeypatch.setenv("KMIGRATE_CACHE", str(tmp_path))
    said: list[str] = []
    jar = agent_jar("MutantPlanter", said.append)
    with zipfile.ZipFile(jar) as archive:
        assert b"Premain-Class: MutantPlanter" in archive.read("META-INF/MANIFEST.MF")
        assert "MutantPlanter.class" in archive.namelist()
    assert agent_jar("MutantPlanter", said.append) == jar
    assert len(said) == 1
