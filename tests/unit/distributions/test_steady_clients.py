"""Which clients long-lived processes of ours use, and what is said where they cannot be had."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pytest_kmigrate.distributions import steady_clients
from pytest_kmigrate.distributions.cache import cache_dir
from pytest_kmigrate.distributions.steady_clients import forgets_brokers, have_steady_clients
from pytest_kmigrate.model.errors import DistributionError, EnvironmentLackError, KmigrateError


def _nothing(_line: str) -> None:
    return


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """confluent-kafka of today beside us, and an empty cache; versions are asked for once a process."""
    forgets_brokers.cache_clear()
    monkeypatch.setenv("KMIGRATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(steady_clients.metadata, "version", lambda _: "2.16.1")
    yield monkeypatch
    forgets_brokers.cache_clear()


@pytest.fixture
def commands(installed: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Replaces running: lists the commands; each fails if the list begins with a sentence."""
    run: list[Sequence[str]] = []

    def fake(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        said = str(run[0]) if run and isinstance(run[0], str) else ""
        run.append(command)
        Path(command[-1], "confluent_kafka").mkdir()
        return subprocess.CompletedProcess(command, 1 if said else 0, "", said)

    installed.setattr(steady_clients.subprocess, "run", fake)
    return run


@pytest.mark.parametrize(("version", "forgets"), [("2.6.0", False), ("2.9.0", False), ("2.10.0", True), ("3.0", True)])
def test_versions_that_forget(installed: pytest.MonkeyPatch, version: str, forgets: bool) -> None:
    """Nothing is fetched beside one that does not."""
    installed.setattr(steady_clients.metadata, "version", lambda _: version)
    assert forgets_brokers() == forgets
    if not forgets:
        assert have_steady_clients(_nothing) is None


def test_they_are_fetched_once_and_by_their_hash(commands: list[Sequence[str]]) -> None:
    """Into the cache, for this Python; the user's own environment stays as it is."""
    said: list[str] = []
    folder = have_steady_clients(said.append)
    assert folder is not None
    assert (folder / "confluent_kafka").is_dir()
    assert have_steady_clients(_nothing) == folder
    (command,) = commands
    assert "--require-hashes" in command
    assert str(sys.implementation.cache_tag) in folder.name
    assert said == ["confluent-kafka 2.16.1 loses the brokers it knows; fetching 2.9.0 for our own clients"]


def test_the_lock_names_the_steady_version() -> None:
    """What is fetched is what is said."""
    assert f"{steady_clients.PACKAGE}=={steady_clients.STEADY} " in steady_clients.LOCK.read_text()


def test_uv_does_it_where_there_is_no_pip(commands: list[Sequence[str]], installed: pytest.MonkeyPatch) -> None:
    """Environments that uv makes have none."""
    installed.setattr(steady_clients.importlib.util, "find_spec", lambda _: None)
    installed.setattr(steady_clients.shutil, "which", lambda name: f"/bin/{name}")
    have_steady_clients(_nothing)
    assert commands[0][:3] == ["/bin/uv", "pip", "install"]


def test_without_pip_and_uv_the_cure_is_named(installed: pytest.MonkeyPatch) -> None:
    """One sentence, with the command."""
    installed.setattr(steady_clients.importlib.util, "find_spec", lambda _: None)
    installed.setattr(steady_clients.shutil, "which", lambda _: None)
    with pytest.raises(EnvironmentLackError, match=r"pip install 'confluent-kafka<2.10'$"):
        have_steady_clients(_nothing)


def test_a_download_that_fails_says_why(commands: list[Sequence[str]]) -> None:
    """The reason that pip gives, without its other lines; nothing half-made stays in the cache."""
    commands.append("WARNING: retrying\nERROR: Could not find a version that satisfies it\nnotice: x")
    with pytest.raises(DistributionError, match=r"got: ERROR: Could not find a version.*pip install 'confluent") as got:
        have_steady_clients(_nothing)
    assert "\n" not in str(got.value)
    assert not list((cache_dir() / "clients").iterdir())


def test_a_python_without_a_wheel_is_named(installed: pytest.MonkeyPatch) -> None:
    """Before anything is fetched; what works without clients is said."""
    installed.setattr(steady_clients.sys, "version_info", (3, 14, 0))
    with pytest.raises(KmigrateError, match=r"clusters need Python 3.11 to 3.13.*judge, analyze"):
        have_steady_clients(_nothing)
