"""The folder in which every cluster of this user has its disks and its description."""

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

from pytest_kmigrate.model.errors import EnvironmentLackError, WrongUseError

STATE_FILE = "cluster.json"
"""The description of a cluster, in the folder of its disks, so that it goes with them."""
_NAMED_BY = "KMIGRATE_STATE"
_MARK = ".kmigrate-state"
"""A file in every state folder that was chosen: nothing is removed from a folder that does not have it."""
_TRIED = ".writable"


def state_dir() -> Path:
    """Where leases, state files and the nodes' disks lie: ``KMIGRATE_STATE``, or a folder of this user's in /tmp.

    Without symbolic links, as the kernel and ``cluster.json`` name folders.
    """
    chosen = os.environ.get(_NAMED_BY)
    if chosen:
        return Path(os.path.expanduser(chosen)).resolve()  # noqa: PTH111 - of a user who is not there it makes no error
    return (Path(tempfile.gettempdir()) / f"kmigrate-{os.getuid()}").resolve()


def is_ours() -> bool:
    """Whether what lies in the state folder was put there by us."""
    return not os.environ.get(_NAMED_BY) or (state_dir() / _MARK).is_file()


def claim_state_dir() -> None:
    """Make the state folder; WrongUseError when it is somebody else's, EnvironmentLackError when it cannot be made."""
    folder = state_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not is_ours():
            if any(folder.iterdir()):
                raise WrongUseError(
                    f"{_NAMED_BY}: expected a new or empty folder, as all in it is removed in time, "
                    f"got {folder} with other files in it: name another"
                )
            (folder / _MARK).touch()
        (folder / _TRIED).touch()
    except OSError as error:
        raise EnvironmentLackError(
            f"{_NAMED_BY}: expected a folder that can be written to, got {folder}: {error.strerror}; "
            "make room, or name another"
        ) from error


def try_hold(file: Path) -> IO[bytes] | None:
    """Hold a file of the state folder until what is returned is closed, here and in all that inherit it.

    None if somebody else holds it, also one of another namespace or container that has this folder.
    """
    held = file.open("ab")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held.close()
        return None
    return held
