"""Leases of loopback blocks: a locked file per block, so that clusters side by side never collide.

The lock belongs to the open file, which the supervisor inherits: it is free exactly when pytest and the supervisor
are both gone, whatever ended them. Beside the lock lies the cluster's state file, for ``kmigrate ps`` and ``gc``.
"""

import fcntl
import os
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.providers.process.addresses import CLIENTS_NUMBER, TOXIPROXY_PORT

BLOCKS = range(1, 255)


def state_dir() -> Path:
    """Where leases, state files and the nodes' disks lie: ``KMIGRATE_STATE``, or a folder of this user's in /tmp."""
    chosen = os.environ.get("KMIGRATE_STATE")
    return Path(chosen) if chosen else Path(tempfile.gettempdir()) / f"kmigrate-{os.getuid()}"


@dataclass(frozen=True)
class Lease:
    """One taken block; ``lock`` holds it as long as it is open."""

    block: int
    lock: IO[bytes]

    @property
    def scratch(self) -> Path:
        """Where the cluster on this block keeps its disks."""
        return state_dir() / str(self.block)

    @property
    def state_file(self) -> Path:
        """Where the cluster on this block describes itself."""
        return state_dir() / f"{self.block}.json"


def take() -> Lease:
    """The first free block; EnvironmentLackError when all are taken."""
    state_dir().mkdir(parents=True, exist_ok=True)
    for block in BLOCKS:
        lock = try_lock(block)
        if lock is None:
            continue
        if _bindable(block):
            return Lease(block, lock)
        lock.close()
    raise EnvironmentLackError(
        f"no free loopback block: expected one of 127.1.0.0/16 .. 127.254.0.0/16 to be bindable and not leased; "
        f"`kmigrate ps` shows who holds them ({state_dir()}), `kmigrate gc` clears what dead runs left"
    )


def try_lock(block: int) -> IO[bytes] | None:
    """The locked file of a block, or None when somebody holds it."""
    lock = (state_dir() / f"{block}.lock").open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def _bindable(block: int) -> bool:
    """Whether nobody outside our leases listens there (another user's cluster, say)."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((f"127.{block}.0.{CLIENTS_NUMBER}", TOXIPROXY_PORT))
        except OSError:
            return False
    return True
