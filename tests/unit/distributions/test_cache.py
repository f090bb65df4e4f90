"""The cache: an entry is whole or absent, one builder at a time, trouble with the disk is named."""

import errno
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pytest_kmigrate.distributions.cache import cache_dir, entry, locked
from pytest_kmigrate.model.errors import DistributionError

BUILDER_THAT_IS_KILLED = """
import os, signal
from pytest_kmigrate.distributions.cache import entry
def build(folder):
    (folder / "half").write_text("written")
    os.kill(os.getpid(), signal.SIGKILL)
entry("thing/1", build, print)
"""


def test_place_of_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Our own variable wins over XDG's, and XDG's over the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KMIGRATE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_dir() == tmp_path / ".cache" / "kmigrate"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_dir() == Path("/xdg/kmigrate")
    monkeypatch.setenv("KMIGRATE_CACHE", "/own")
    assert cache_dir() == Path("/own")


def test_built_once(cache: Path, said: list[str]) -> None:
    """The second time the folder is returned without building."""
    folders = [entry("thing/1", lambda folder: (folder / "file").touch(), said.append)]
    folders.append(entry("thing/1", lambda _: pytest.fail("built twice"), said.append))
    assert folders == [cache / "thing" / "1"] * 2
    assert (cache / "thing" / "1" / "file").exists()


def test_failed_build_leaves_nothing(cache: Path, said: list[str]) -> None:
    """An entry whose builder fails does not exist, nor does any rest of it."""

    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        entry("thing/1", fail, said.append)
    assert list((cache / "thing").iterdir()) == []


def test_killed_build_is_cleared_by_the_next(cache: Path, said: list[str]) -> None:
    """After SIGKILL in the middle of a build the next builder gets the lock, removes the rest and builds."""
    killed = subprocess.run([sys.executable, "-c", BUILDER_THAT_IS_KILLED], check=False)
    assert killed.returncode == -9
    assert [path.name.startswith(".1.building-") for path in (cache / "thing").iterdir()] == [True]
    entry("thing/1", lambda folder: (folder / "whole").touch(), said.append)
    assert [path.name for path in (cache / "thing").iterdir()] == ["1"]
    assert [path.name for path in (cache / "thing" / "1").iterdir()] == ["whole"]


def test_second_process_waits(cache: Path) -> None:
    """Whoever comes while an entry is being built says so, waits, and takes what the first one made."""
    waiting = threading.Event()
    got: list[Path] = []

    def second() -> None:
        got.append(entry("thing/1", lambda _: pytest.fail("built twice"), lambda _line: waiting.set()))

    thread = threading.Thread(target=second)
    with locked("thing/1", lambda _: None):
        thread.start()
        assert waiting.wait(30)
        (cache / "thing" / "1").mkdir(parents=True)
    thread.join(30)
    assert got == [cache / "thing" / "1"]


@pytest.mark.parametrize(
    ("number", "word"),
    [(errno.ENOSPC, "full"), (errno.EACCES, "allowed"), (errno.EROFS, "allowed"), (errno.ENOENT, "allowed")],
)
def test_disk_trouble_is_named(cache: Path, number: int, word: str, said: list[str]) -> None:
    """A full or forbidden disk gives our error with the way out, and no half entry."""

    def fail(_: Path) -> None:
        raise OSError(number, "trouble")

    with pytest.raises(DistributionError, match=f"(?s){word}.*KMIGRATE_CACHE"):
        entry("thing/1", fail, said.append)
    assert list((cache / "thing").iterdir()) == []


def test_a_cache_that_can_be_no_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the variable that names it; a user who is not there is no error of its own."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("KMIGRATE_CACHE", str(tmp_path / "file"))
    with pytest.raises(DistributionError, match=r"expected to be allowed to write in .*by KMIGRATE_CACHE"):
        entry("thing/1", lambda _: None, print)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KMIGRATE_CACHE", "~nobody-of-that-name/cache")
    assert cache_dir() == tmp_path / "~nobody-of-that-name" / "cache"


def test_put_in_place_in_one_step(cache: Path, said: list[str]) -> None:
    """The finished entry is the very folder that was built, moved, so a half copy is never visible."""
    built: list[int] = []
    folder = entry("thing/1", lambda empty: built.append(empty.stat().st_ino), said.append)
    assert [folder.stat().st_ino] == built
