"""Packages are installed also where another package manager is at work just then."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_kmigrate.machine import packages
from pytest_kmigrate.model.errors import EnvironmentLackError

LISTS = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 4711 (unattended-upgr)\nE: Unable to lock"
ARCHIVES = "E: Could not get lock /var/cache/apt/archives/lock - open (11: Resource temporarily unavailable)"
NO_PACKAGE = "E: Unable to locate package nonesuch"


@pytest.fixture
def apt_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """An apt-get on PATH that fails with each of these sentences in turn ("": succeeds); the file of its calls."""

    def plays(*sentences: str) -> Path:
        for number, sentence in enumerate(sentences, 1):
            if sentence:
                (tmp_path / f"{number}.says").write_text(sentence)
        program = tmp_path / "apt-get"
        program.write_text(
            f'#!/bin/sh\necho "$@" >> {tmp_path}/called\nat=$(wc -l < {tmp_path}/called)\n'
            f"test ! -e {tmp_path}/$at.says || {{ cat {tmp_path}/$at.says >&2; exit 100; }}\n"
        )
        program.chmod(0o755)
        (tmp_path / "apt-cache").write_text("#!/bin/sh\n")
        (tmp_path / "apt-cache").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setattr(packages, "_EVERY_S", 0.01)
        return tmp_path / "called"

    return plays


def test_a_lock_of_another_is_waited_for(apt_says: Callable[..., Path]) -> None:
    """Lists and archives have locks that apt-get itself does not wait for; who holds one is named once."""
    called, said = apt_says(LISTS, LISTS, "", ARCHIVES), list[str]()
    packages.install(["hello"], said.append)
    assert [line.split()[0] for line in called.read_text().splitlines()] == ["update"] * 3 + ["install"] * 2
    assert said == [
        "apt-get update: process 4711 (unattended-upgr) holds /var/lib/apt/lists/lock; waiting for its end",
        "installing hello",
        "apt-get install: another process holds /var/cache/apt/archives/lock; waiting for its end",
    ]


def test_the_lock_of_dpkg_is_left_to_apt_get(apt_says: Callable[..., Path]) -> None:
    """It waits for that one itself, if it is asked to."""
    called = apt_says()
    packages.install(["hello"], lambda _: None)
    assert all("DPkg::Lock::Timeout=" in line for line in called.read_text().splitlines())


def test_a_lock_that_is_never_given_back_ends_in_one_sentence(
    apt_says: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names who holds it."""
    apt_says(*[LISTS] * 200)
    monkeypatch.setattr(packages, "OTHERS_END_WITHIN_S", 0.05)
    with pytest.raises(EnvironmentLackError, match=r"lists/lock held by process 4711 \(unattended-upgr\).*repeat"):
        packages.install(["hello"], lambda _: None)


def test_another_failure_is_reported_at_once(apt_says: Callable[..., Path]) -> None:
    """As apt-get says it."""
    called = apt_says(NO_PACKAGE)
    with pytest.raises(EnvironmentLackError, match="Unable to locate package nonesuch"):
        packages.install(["nonesuch"], lambda _: None)
    assert len(called.read_text().splitlines()) == 1


def test_packages_are_installed_from_the_makefile(apt_says: Callable[..., Path]) -> None:
    """As a command."""
    called = apt_says()
    subprocess.run([sys.executable, "-m", packages.__name__, "chromium"], check=True, capture_output=True)
    assert called.read_text().splitlines()[-1].endswith(" chromium")
