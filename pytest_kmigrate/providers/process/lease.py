"""Leases of loopback blocks, so that clusters side by side never collide, whoever started them.

A lease is one bound address of the block: nobody on this machine can bind it twice, and the supervisor inherits it, so
it is free exactly when pytest and the supervisor are both gone, whatever ended them.
"""

import os
import shutil
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.providers.process.addresses import CLIENTS_NUMBER, TOXIPROXY_PORT

BLOCKS = range(1, 255)
LEASE_PORT = 8473


def state_dir() -> Path:
    """Where leases, state files and the nodes' disks lie: ``KMIGRATE_STATE``, or a folder of this user's in /tmp."""
    chosen = os.environ.get("KMIGRATE_STATE")
    return Path(chosen) if chosen else Path(tempfile.gettempdir()) / f"kmigrate-{os.getuid()}"


def state_file(block: int) -> Path:
    """Where the cluster on a block describes itself: among its disks, so that it goes with them."""
    return state_dir() / str(block) / "cluster.json"


@dataclass(frozen=True)
class Lease:
    """One taken block; ``lock`` holds it as long as it is open, here or in the supervisor."""

    block: int
    lock: socket.socket

    @property
    def scratch(self) -> Path:
        """Where the cluster on this block keeps its disks."""
        return state_dir() / str(self.block)

    @property
    def state_file(self) -> Path:
        """Where the cluster on this block describes itself."""
        return state_file(self.block)


def take() -> Lease:
    """The first free block; EnvironmentLackError when all are taken."""
    state_dir().mkdir(parents=True, exist_ok=True)
    for block in BLOCKS:
        lock = try_lock(block)
        if lock is None:
            continue
        if _is_quiet(block):
            lease = Lease(block, lock)
            shutil.rmtree(lease.scratch, ignore_errors=True)  # of a run that died together with its supervisor
            return lease
        lock.close()
    raise EnvironmentLackError(
        f"no free loopback block: expected one of 127.1.0.0/16 .. 127.254.0.0/16 to be bindable and not leased; "
        f"`kmigrate ps` shows who holds them ({state_dir()}), `kmigrate gc` clears what dead runs left"
    )


def try_lock(block: int) -> socket.socket | None:
    """The lease of a block: its address, bound; None when somebody else has it, or it cannot be bound at all."""
    lock = socket.socket()
    try:
        lock.bind((f"127.{block}.0.{CLIENTS_NUMBER}", LEASE_PORT))
    except OSError:
        lock.close()
        return None
    return lock


def _is_quiet(block: int) -> bool:
    """Whether nobody who knows nothing of leases listens where our proxies would be ordered."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((f"127.{block}.0.{CLIENTS_NUMBER}", TOXIPROXY_PORT))
        except OSError:
            return False
    return True
