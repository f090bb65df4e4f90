"""Clusters of processes on blocks of loopback addresses: list them, clear what dead runs left."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from pytest_kmigrate.providers.owned.network.addresses import CLIENTS_NUMBER
from pytest_kmigrate.providers.owned.standing import HOSTS_OPTION, Leftover, Standing, described, kill
from pytest_kmigrate.providers.owned.state import is_ours, state_dir
from pytest_kmigrate.providers.process import lease as leases

_LOGGING_OPTION = "-Dlog4j.configuration=file:"
_CLIENTS_FILE = "clients.json"
_CLIENTS_MODULE = "clients_process"


def standing() -> list[Standing]:
    """Every cluster of this user that stands, by block."""
    found = (described(block, leases.state_file(block)) for block in _known_blocks())
    return [cluster for cluster in found if cluster is not None]


def leftovers() -> list[Leftover]:
    """What dead runs left: blocks whose lease is free, with processes or disks still there."""
    found = []
    for block in _known_blocks():
        lock = leases.try_lock(block)
        if lock is not None:
            with lock:
                found.append(_leftover(leases.Lease(block, lock)))
    return [each for each in found if each.processes or each.files]


def clear(block: int) -> Leftover | None:
    """Kill and remove what a dead run left on a block; None when there is nothing, or somebody holds its lease."""
    lock = leases.try_lock(block)
    if lock is None:
        return None
    with lock:  # held meanwhile, so that no process leases a block that is being cleared
        left = _leftover(leases.Lease(block, lock))
        for pid in left.processes:
            kill(pid)
        for folder in left.files:
            shutil.rmtree(folder, ignore_errors=True)
    return left if left.processes or left.files else None


def clear_all() -> list[Leftover]:
    """Clear every block whose lease is free."""
    return [left for block in _known_blocks() if (left := clear(block)) is not None]


def _known_blocks() -> list[int]:
    """Blocks that have, or had, a cluster of this state folder, by its disks."""
    folder = state_dir()
    names = {path.name for path in folder.iterdir()} if is_ours() and folder.is_dir() else set()
    return [block for block in leases.BLOCKS if str(block) in names]


def is_any_being_provisioned() -> bool:
    """Whether somebody holds a lease without a description yet: its logs look like old ones."""
    described = {cluster.block for cluster in standing()}
    for block in _known_blocks():
        lock = leases.try_lock(block)
        if lock is not None:
            lock.close()
        elif block not in described:
            return True
    return False


def _leftover(lease: leases.Lease) -> Leftover:
    files = (lease.scratch,) if lease.scratch.exists() else ()
    return Leftover(lease.block, tuple(process.pid for process in _processes_of(lease)), files)


def _processes_of(lease: leases.Lease) -> Iterator[psutil.Process]:
    """This user's processes that a dead run left on the block."""
    for process in psutil.process_iter(["cmdline", "cwd", "uids"]):
        uids = process.info["uids"]
        if uids is not None and uids.real == os.getuid():
            words, cwd = process.info["cmdline"] or [], process.info["cwd"] or ""
            if _is_of(lease.scratch, lease.block, words, cwd):
                yield process


def _is_of(scratch: Path, block: int, words: Sequence[str], cwd: str) -> bool:
    """Whether a process is a JVM, Toxiproxy or client process on that very scratch folder.

    Only what we ourselves wrote into a command line counts. An address alone does not: a lease under another state
    folder may have the same block, and a stranger may look into a file there.
    """
    inside = f"{scratch}/"
    is_jvm = any(word.startswith((f"{HOSTS_OPTION}{inside}", f"{_LOGGING_OPTION}{inside}")) for word in words)
    is_clients = f"{inside}{_CLIENTS_FILE}" in words and any(_CLIENTS_MODULE in word for word in words)
    is_toxiproxy = f"127.{block}.0.{CLIENTS_NUMBER}" in words and cwd.removesuffix(" (deleted)") == str(scratch)
    return is_jvm or is_clients or is_toxiproxy
