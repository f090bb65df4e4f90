"""Leases of loopback blocks, so that clusters side by side never collide.

A lease is one bound address of the block and one locked file of the state folder. No process can have either twice, and
the supervisor inherits both, so a block is free exactly when pytest and the supervisor are both gone, whatever ended
them. The address is one in this network namespace, whatever the state folder; the file is one in this state folder,
whatever the namespace: containers may share it.
"""

import shutil
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

import psutil

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.owned.network.addresses import CLIENTS_NUMBER, PORTS, Addresses
from pytest_kmigrate.providers.owned.state import STATE_FILE, claim_state_dir, state_dir, try_hold

BLOCKS = range(1, 255)
LEASE_PORT = 8473
_EVERYWHERE = ("0.0.0.0", "::")


def state_file(block: int) -> Path:
    """Where the cluster on a block describes itself: among its disks, so that it goes with them."""
    return state_dir() / str(block) / STATE_FILE


@dataclass(frozen=True)
class Lock:
    """What holds a block as long as it is open, here or in the supervisor."""

    address: socket.socket
    file: IO[bytes]

    @property
    def filenos(self) -> tuple[int, ...]:
        """What the supervisor inherits."""
        return self.address.fileno(), self.file.fileno()

    def close(self) -> None:
        """Give it back."""
        self.address.close()
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Lease:
    """One taken block."""

    block: int
    lock: Lock

    @property
    def scratch(self) -> Path:
        """Where the cluster on this block keeps its disks."""
        return state_dir() / str(self.block)

    @property
    def state_file(self) -> Path:
        """Where the cluster on this block describes itself."""
        return state_file(self.block)


def take(topology: Topology | None = None) -> Lease:
    """The first free block; EnvironmentLackError when all are taken, or somebody listens at every address.

    A block where somebody listens at a single address that this topology needs is left to him.
    WrongUseError when the state folder is somebody else's.
    """
    claim_state_dir()
    busy: list[int] = []
    for block in BLOCKS:
        lock = try_lock(block)
        if lock is None:
            continue
        busy = busy_ports(block) or _busy_for(topology, block)
        if not busy:
            lease = Lease(block, lock)
            shutil.rmtree(lease.scratch, ignore_errors=True)  # of a run that died together with its supervisor
            return lease
        lock.close()
    if busy:
        raise EnvironmentLackError(
            f"no free loopback block: expected every node to find its ports free; {held(busy)}; "
            "end it, or let it listen at 127.0.0.1 only"
        )
    raise EnvironmentLackError(
        f"no free loopback block: expected one of 127.1.0.0/16 .. 127.254.0.0/16 to be bindable and not leased; "
        f"`kmigrate ps` shows who holds them ({state_dir()}), `kmigrate gc` clears what dead runs left"
    )


def try_lock(block: int) -> Lock | None:
    """The lease of a block; None if somebody else has it, or its address cannot be bound at all."""
    address = socket.socket()
    try:
        address.bind((f"127.{block}.0.{CLIENTS_NUMBER}", LEASE_PORT))
    except OSError:
        address.close()
        return None
    file = try_hold(state_dir() / f".{block}.lease") if state_dir().is_dir() else None
    if file is None:
        address.close()
        return None
    return Lock(address, file)


def busy_ports(block: int) -> list[int]:
    """The ports of our nodes where somebody who knows nothing of leases listens, at every address for example."""
    return [port for port in PORTS if not _is_free(f"127.{block}.0.{CLIENTS_NUMBER}", port)]


def _busy_for(topology: Topology | None, block: int) -> list[int]:
    needed = Addresses(topology, block).listened_at() if topology else ()
    return sorted({port for address, port in needed if not _is_free(address, port)})


def held(ports: Sequence[int]) -> str:
    """Who listens on these ports at every address, as far as we may know."""
    return ", ".join(f"port {port} is held by {_holder(port)}" for port in ports)


def _is_free(address: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True


def _holder(port: int) -> str:
    for each in psutil.net_connections("tcp"):
        if each.status != psutil.CONN_LISTEN or not each.laddr or not each.pid:
            continue
        if each.laddr.port == port and each.laddr.ip in _EVERYWHERE:
            return f"process {each.pid}"
    return "a process of somebody else"
