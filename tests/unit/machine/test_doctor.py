"""The doctor finds each lack and names its cure; the cure installs only what is missing."""

import resource
import subprocess
from collections.abc import Sequence

import pytest

from pytest_kmigrate.distributions import java
from pytest_kmigrate.distributions.java import Java
from pytest_kmigrate.machine import doctor, packages
from pytest_kmigrate.machine.doctor import Finding, cure, examine
from pytest_kmigrate.model.errors import EnvironmentLackError


def found(name: str) -> Finding:
    """The finding of that name on this machine, as patched."""
    return next(finding for finding in examine() if finding.name == name)


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The only programs on PATH; a test adds and removes."""
    present = {"java", "go", "apt-get"}
    monkeypatch.setattr(doctor.shutil, "which", lambda name: f"/bin/{name}" if name in present else None)

    def find_java() -> Java:
        if "java" not in present:
            raise EnvironmentLackError("expected Java, got none")
        return Java(doctor.Path("/bin/java"), 17, "fake")

    monkeypatch.setattr(doctor, "find_java", find_java)
    return present


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, programs: set[str]) -> list[str]:
    """Replaces running: lists the commands; installing golang-go or a JRE makes the program appear."""
    run: list[str] = []

    def fake(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        run.append(" ".join(command))
        if command[1] == "install":
            programs.update({"go"} if "golang-go" in command else set())
            programs.update({"java"} if any("jre" in package for package in command) else set())
        absent = command[:2] == ["apt-cache", "show"] and "17" in command[2]
        return subprocess.CompletedProcess(command, 100 if absent else 0, "", "")

    monkeypatch.setattr(packages.subprocess, "run", fake)
    monkeypatch.setattr(doctor.os, "geteuid", lambda: 0)
    return run


def test_a_good_machine(programs: set[str]) -> None:
    """Each thing is looked at once, and what is well has no cure."""
    names = [finding.name for finding in examine()]
    assert names == [
        "java",
        "cache",
        "libraries",
        "memory",
        "open files",
        "loopback",
        "ports",
        "toxiproxy",
        "python",
        "docker",
        "jdk",
    ]
    assert all(not finding.cure for finding in examine() if finding.ok)
    assert found("java").ok
    assert found("toxiproxy").ok


@pytest.mark.slow
def test_lacks_have_cures(programs: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with nothing: every lack is seen, and each comes with a command; docker and a JDK are no lack."""
    programs.clear()
    monkeypatch.setattr(doctor, "available_memory", lambda: 2**31)
    monkeypatch.setattr(java, "allows_programs", lambda _: False)
    monkeypatch.setattr(doctor, "allows_programs", lambda _: False)
    monkeypatch.setattr(doctor.resource, "getrlimit", lambda _: (1024, 1024))
    monkeypatch.setattr(doctor, "LOOPBACK_SAMPLES", ("192.0.2.1",))
    monkeypatch.setattr(
        doctor.metadata, "requires", lambda _: ["no-such-one>=2", 'uv>=0.5; extra == "dev"', "numpy>=1"]
    )
    monkeypatch.setattr(doctor.lease, "busy_ports", lambda _block: [9092])
    findings = examine()
    assert [finding.name for finding in findings if finding.ok] == ["docker", "jdk"]
    assert all(finding.cure for finding in findings if not finding.ok)
    assert found("docker").found == "no docker command (not needed)"
    assert "no javac" in found("jdk").found
    assert found("java").cure.startswith("apt-get install -y openjdk-17-jre-headless || apt-get")
    assert found("toxiproxy").cure == "apt-get install -y golang-go"
    assert "2.0 GiB" in found("memory").found
    assert found("python").found == "not installed: no-such-one"
    assert "limits.conf" in found("open files").cure


@pytest.mark.parametrize(
    ("limits", "ok", "cure_begins"),
    [
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), True, ""),
        ((4096, 4096), True, ""),
        ((4095, 1_048_576), False, "ulimit -n 4096"),
        ((1024, 2048), False, "echo"),
    ],
)
def test_open_files(monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], ok: bool, cure_begins: str) -> None:
    """The soft limit counts; whether a shell may raise it depends on the hard one."""
    monkeypatch.setattr(doctor.resource, "getrlimit", lambda _: limits)
    finding = found("open files")
    assert finding.ok == ok
    assert finding.cure.startswith(cure_begins)


def test_cure_installs_what_is_missing(programs: set[str], commands: list[str]) -> None:
    """Java of a version this system offers, and Go with certificates; afterwards all is well."""
    programs -= {"java", "go"}
    findings = cure(lambda _: None)
    assert commands[0].startswith("apt-get update -q")
    assert commands[-1].startswith("apt-get install -y")
    assert commands[-1].endswith("openjdk-21-jre-headless golang-go ca-certificates")
    assert all(finding.ok for finding in findings if finding.name in {"java", "toxiproxy"})


def test_cure_does_nothing_where_nothing_is_missing(programs: set[str], commands: list[str]) -> None:
    """A machine that has Java and a server is left alone."""
    programs -= {"go"}
    programs.add("toxiproxy-server")
    cure(lambda _: None)
    assert commands == []


@pytest.mark.parametrize("lack", ["root", "apt-get"])
def test_cure_by_hand(programs: set[str], commands: list[str], lack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without root or apt-get nothing is tried; the commands are reported."""
    programs -= {"java", lack}
    if lack == "root":
        monkeypatch.setattr(doctor.os, "geteuid", lambda: 1000)
    with pytest.raises(EnvironmentLackError, match="openjdk-17-jre-headless"):
        cure(lambda _: None)
    assert commands == []
