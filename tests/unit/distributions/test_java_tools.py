"""Programs in Java that this machine builds."""

import shutil
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_kmigrate.distributions.distribution import Distribution
from pytest_kmigrate.distributions.java_tools import building
from pytest_kmigrate.distributions.java_tools.building import agent_jar
from pytest_kmigrate.distributions.java_tools.lines import CodeLine, _parsed, code_lines, probes_of_instructions
from pytest_kmigrate.distributions.java_tools.mutants import generated_mutants
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
    monkeypatch.setenv("KMIGRATE_CACHE", str(tmp_path))
    said: list[str] = []
    jar = agent_jar("MutantPlanter", said.append)
    with zipfile.ZipFile(jar) as archive:
        assert b"Premain-Class: MutantPlanter" in archive.read("META-INF/MANIFEST.MF")
        assert "MutantPlanter.class" in archive.namelist()
    assert agent_jar("MutantPlanter", said.append) == jar
    assert len(said) == 1


GUARDED = """package org.acme;
class Guarded {
    static int read(int n) {
        try { return Integer.parseInt("" + n); } catch (RuntimeException e) { return e.getMessage() == null ? 1 : 2; }
    }
}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no JDK here")
def test_what_runs_after_an_exception_only_is_not_shown_by_its_line(tmp_path: Path) -> None:
    """Both ways are one line of source: a mutant behind the exception has probes of its own.

    PIT and JaCoCo number the instructions of a method alike: the line of each is the one that PIT names.
    """
    (tmp_path / "Guarded.java").write_text(GUARDED)
    subprocess.run(["javac", "-d", str(tmp_path), str(tmp_path / "Guarded.java")], check=True)
    with zipfile.ZipFile(tmp_path / "guarded.jar", "w") as jar:
        jar.write(tmp_path / "org" / "acme" / "Guarded.class", "org/acme/Guarded.class")
    build = SimpleNamespace(jars=(tmp_path / "guarded.jar",), version="test", digest="guarded-1")
    distribution = cast("Distribution", build)
    mutants = {each.mutator: each for each in generated_mutants(distribution, ["org.acme.*"], print)}
    places = [("org.acme.Guarded", each.method, each.instruction) for each in mutants.values()]
    found = dict(zip(mutants, probes_of_instructions(distribution, places, print), strict=True))
    (line,) = [each for each in code_lines(distribution, ["org.acme.*"], print) if each.method.startswith("read")]
    assert {each.line for each in found.values()} == {line.line} == {4}
    assert {each.class_id for each in found.values()} == {line.class_id}
    behind = set(found["NegateConditionalsMutator"].probes)
    assert behind < set(line.probes) - {min(line.probes)}


CONSTANTS = """package org.acme;
import java.util.Optional;
class Constants {
    static boolean isReady(Object a) {
        if (a == null) { return false; }
        return true;
    }
    static boolean isEither(Object a, Object b) { return a == null || b == null; }
    static Optional<String> none() { return Optional.empty(); }
    static int zero() { return 0; }
    static Object nothing() { return null; }
    static String text(boolean is) { return is ? "x" : ""; }
    private static void left() { System.gc(); }
    private static void called() { System.gc(); }
    static Runnable handedOn() { called(); return Constants::given; }
    private static void given() { System.gc(); }
}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no JDK here")
def test_what_changes_nothing_is_no_mutant(tmp_path: Path) -> None:
    """A constant that is returned anyway, and a private method that nothing calls.

    Both values of a condition reach one return: to make it constant is a change.
    """
    (tmp_path / "Constants.java").write_text(CONSTANTS)
    subprocess.run(["javac", "-d", str(tmp_path), str(tmp_path / "Constants.java")], check=True)
    with zipfile.ZipFile(tmp_path / "constants.jar", "w") as jar:
        jar.write(tmp_path / "org" / "acme" / "Constants.class", "org/acme/Constants.class")
    build = SimpleNamespace(jars=(tmp_path / "constants.jar",), version="test", digest="constants-1")
    mutants = generated_mutants(cast("Distribution", build), ["org.acme.*"], print)
    returns = [(each.method.partition("(")[0], each.mutator) for each in mutants if "Return" in each.mutator]
    calls = [each.method.partition("(")[0] for each in mutants if each.mutator == "VoidMethodCallMutator"]
    assert sorted(calls) == ["called", "given", "handedOn"]
    assert sorted(returns) == [
        ("handedOn", "NullReturnValsMutator"),
        ("isEither", "BooleanFalseReturnValsMutator"),
        ("isEither", "BooleanTrueReturnValsMutator"),
        ("isReady", "BooleanFalseReturnValsMutator"),
        ("isReady", "BooleanTrueReturnValsMutator"),
        ("text", "EmptyObjectReturnValsMutator"),
    ]
    assert [each.place for each in mutants] != list(range(len(mutants))), "a place is that in PIT's whole list"
