"""Exclusion: one analysis at a time writes into a folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.ingestion.paths import path_of, shown_path, why_closed
from pytest_kmigrate.reports.ingestion.storage import LocalStorage, is_local, local_path

LOCK_FILE = ".lock"


@contextmanager
def alone_in(out: str) -> Iterator[None]:
    """Make the folder, and be the only analysis that writes into it for the time of the block, or raise WrongUseError.

    The kernel holds the lock and lets go of it when the process ends, however that is. File systems behind a URI have
    none: there a second analysis is not refused.
    """
    if not is_local(out):
        yield
        return
    folder = local_path(out)
    require_folder(out, LocalStorage(folder).kind())
    if (folder / "run.json").is_file():  # its evidence stays what the run left
        raise WrongUseError(f"{out}: expected a folder for the report, got the folder of a run; choose another --out")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK_FILE).open("a+", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            raise WrongUseError(
                f"{out}: expected to be the only analysis that writes there, but process {lock.read().strip()} is at "
                "it; wait until it has ended, or choose another --out"
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def require_folder(out: str, kind: str | None) -> None:
    """What lies at ``out`` (see ``Storage.kind``) must be a folder, or nothing yet, that Spark can open.

    Raises WrongUseError.
    """
    closed = why_closed(str(local_path(out)) if is_local(out) else path_of(out))
    if closed:
        raise WrongUseError(f"{shown_path(out)}: {closed}, or choose another --out")
    if kind not in ("folder", None):
        raise WrongUseError(f"{out}: expected a folder to write the report into, got a {kind}; choose another --out")
