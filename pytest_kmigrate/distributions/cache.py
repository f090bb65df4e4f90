"""The per-user cache: each entry is a folder that exists whole or not at all, whatever this or other processes do.

An entry is built in a folder beside its place and moved there in one step. One lock per entry lets a second process
wait for the first; the kernel gives the lock back when its holder dies, and its next holder removes the rest.
"""

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from pytest_kmigrate.model.errors import DistributionError

CACHE_VARIABLE = "KMIGRATE_CACHE"
Progress = Callable[[str], None]


def cache_dir() -> Path:
    """Where everything downloaded or built is kept: ``KMIGRATE_CACHE``, else the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(os.path.abspath(os.path.expanduser(named)))  # noqa: PTH100, PTH111 - unlike Path's, these never raise
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else _home() / ".cache") / "kmigrate"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise DistributionError(
            f"expected a folder for Kafka and its agents in the user's home, got no home: HOME is not set, and user "
            f"{os.getuid()} has no entry in /etc/passwd; name a folder by {CACHE_VARIABLE}"
        ) from error


def entry(name: str, build: Callable[[Path], None], progress: Progress) -> Path:
    """The folder of one entry; where it does not exist yet, ``build`` fills an empty folder that becomes it."""
    folder = cache_dir() / name
    if folder.is_dir():
        return folder
    with disk_trouble_named(folder.parent), locked(name, progress):
        if not folder.is_dir():
            _remove_leftovers(folder)
            _build_beside(folder, build)
    return folder


@contextlib.contextmanager
def locked(name: str, progress: Progress) -> Iterator[None]:
    """Hold the lock of one entry; says so when another process holds it, and waits."""
    file = cache_dir() / "locks" / f"{name.replace('/', '-')}.lock"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"{name}: another process is preparing it; waiting for that")
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def disk_trouble_named(place: Path, named_by: str = CACHE_VARIABLE) -> Iterator[None]:
    """Turn a full or forbidden disk into the error that says so and what to do; ``named_by`` names ``place``."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DistributionError(
                f"the disk is full: expected about 300 MB of room in {place}, got none; "
                f"free some, or name another folder by {named_by}"
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EEXIST):
            raise DistributionError(
                f"expected to be allowed to write in {place}, got: {error.strerror}; "
                f"correct its permissions, or name another folder by {named_by}"
            ) from error
        raise


def _remove_leftovers(folder: Path) -> None:
    """Remove what builders of this entry left behind when they were killed; the caller holds the entry's lock."""
    for leftover in folder.parent.glob(f".{folder.name}.building-*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _build_beside(folder: Path, build: Callable[[Path], None]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f".{folder.name}.building-", dir=folder.parent))
    try:
        build(building)
        building.chmod(0o755)
        building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
