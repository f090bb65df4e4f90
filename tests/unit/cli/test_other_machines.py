"""The command on machines that lack what others have: one clear line, an exit status of its own, no trace."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

STRANGER = ("unshare", "--user", "--map-user=54321", "--map-group=54321")
"""A user without an entry in passwd, as images that are started with ``--user`` have."""


def _ended(
    *arguments: str, before: tuple[str, ...] = (), without: tuple[str, ...] = (), named: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """The command in another environment; each of its outputs is without a trace."""
    environment = {name: value for name, value in os.environ.items() if name not in without} | dict(named or {})
    command = [*before, sys.executable, "-m", "pytest_kmigrate.cli", *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stdout + ended.stderr
    assert "a defect of pytest-kmigrate" not in ended.stderr
    return ended


def _is_possible(*before: str) -> bool:
    return subprocess.run([*before, "true"], check=False, capture_output=True).returncode == 0


needs_namespaces = pytest.mark.skipif(not _is_possible(*STRANGER), reason="no user namespace may be made here")


@needs_namespaces
def test_no_home_and_no_entry_in_passwd() -> None:
    """The folder for Kafka has to be named; the doctor says so before anything else does."""
    without = ("HOME", "KMIGRATE_CACHE", "XDG_CACHE_HOME")
    looked = _ended("doctor", before=STRANGER, without=without)
    assert looked.returncode == 4
    assert "cache: export KMIGRATE_CACHE=" in looked.stdout
    up = _ended("up", "zk1-broker3-controller3", before=STRANGER, without=without)
    assert up.returncode == 4
    assert len(up.stderr.strip().splitlines()) == 1
    assert "user 54321 has no entry in /etc/passwd; name a folder by KMIGRATE_CACHE" in up.stderr


@needs_namespaces
def test_no_home_but_a_named_cache(tmp_path: Path) -> None:
    """Then nothing is lacking."""
    named = {"KMIGRATE_CACHE": str(tmp_path / "cache"), "KMIGRATE_STATE": str(tmp_path / "state")}
    looked = _ended("doctor", before=STRANGER, without=("HOME",), named=named)
    assert looked.returncode == 0, looked.stdout


@pytest.mark.parametrize("home", ["/proc", "/dev/null"], ids=["read-only", "a file"])
def test_a_home_that_cannot_be_written(home: str) -> None:
    """Named by the variable that cures it."""
    ended = _ended("up", "zk1-broker3-controller3", without=("KMIGRATE_CACHE", "XDG_CACHE_HOME"), named={"HOME": home})
    assert ended.returncode == 4
    assert len(ended.stderr.strip().splitlines()) == 1
    assert "name another folder by KMIGRATE_CACHE" in ended.stderr


@pytest.mark.parametrize("locale", ["C", "de_DE.ISO-8859-1"])
def test_any_locale(locale: str, tmp_path: Path) -> None:
    """A folder whose name is not of it."""
    named = {"LC_ALL": locale, "KMIGRATE_CACHE": str(tmp_path / "Zwischenlager für Österreich #1 % x")}
    assert _ended("doctor", named=named).returncode == 0


def test_a_temporary_folder_without_programs(tmp_path: Path) -> None:
    """Libraries are loaded from the cache; without that, the doctor says what is lacking."""
    apart = ("unshare", "--map-root-user", "--mount")
    if not _is_possible(*apart):
        pytest.skip("no mount namespace may be made here")
    cache, noexec = tmp_path / "cache", "mount -t tmpfs -o noexec none"
    cache.mkdir()
    named = {"KMIGRATE_CACHE": "/mnt", "KMIGRATE_STATE": "/dev/shm/kmigrate-state"}
    apart += ("sh", "-c", f'mount --bind "{cache}" /mnt && {noexec} /tmp && {noexec} /dev/shm && exec "$@"', "sh")
    looked = _ended("doctor", before=apart, named=named)
    assert "a JVM can load libraries from /mnt" in looked.stdout
    looked = _ended("doctor", before=(*apart, "sh", "-c", f'{noexec} /mnt && exec "$@"', "sh"), named=named)
    assert looked.returncode == 4
    assert "libraries: export KMIGRATE_CACHE=" in looked.stdout


def test_a_container_with_little_memory(tmp_path: Path) -> None:
    """The limit counts, not what the host has: JVMs would be killed, and brokers blamed."""
    group = Path("/sys/fs/cgroup/memory") / f"kmigrate-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("no control group for memory may be made on this machine")
    try:
        (group / "memory.limit_in_bytes").write_text(str(2**30))
        inside = ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")
        planned = _ended("up", "zk3-broker3-controller3", "--dry-run", before=inside)
        looked = _ended("doctor", before=inside)
    finally:
        group.rmdir()
    assert planned.returncode == 4
    assert "MB of free memory" in planned.stderr
    assert "LACKING" in next(line for line in looked.stdout.splitlines() if "memory" in line)


def test_a_removed_working_directory(tmp_path: Path) -> None:
    """Said as such."""
    gone = tmp_path / "gone"
    gone.mkdir()
    ended = _ended("ps", before=("sh", "-c", f'cd "{gone}" && rmdir "{gone}" && exec "$@"', "sh"))
    assert ended.returncode in {0, 4}
