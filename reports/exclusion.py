"""Exclusion: one analysis at a time writes into a folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.storage import is_local, local_path

LOCK_FILE = ".lock"


@contextmanager
def alone_in(out: str) -> Iterator[None]:
    """Make the folder, and be the only analysis that writes into it for the time of the block, or raise WrongUseError.

    The kernel holds the lock and lets go of it when the process ends, however that is. File systems behind a URI have
    none: there nobody is kept out.
    """
    if not is_local(out):
        yield
        return
    folder = local_path(out)
    if folder.exists() and not folder.is_dir():
        raise WrongUseError(f"{out}: expected a folder to write the report into, got a file; choose another --out")
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
