"""Clusters that stand on this machine: list them, end them, clear what dead runs left."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.model.topology import SecurityProtocol
from pytest_kmigrate.providers.owned import supervisor
from pytest_kmigrate.providers.owned.network.addresses import CLIENTS_NUMBER
from pytest_kmigrate.providers.owned.protection.security import ADMIN, has_login
from pytest_kmigrate.providers.owned.state import is_ours, state_dir
from pytest_kmigrate.providers.process import lease as leases
from pytest_kmigrate.waiting import until

_HOSTS_OPTION = "-Djdk.net.hosts.file="
_LOGGING_OPTION = "-Dlog4j.configuration=file:"
_CLIENTS_FILE = "clients.json"
_CLIENTS_MODULE = "clients_process"
_SUPERVISOR = Path(supervisor.__file__).name
_ENDED_WITHIN_S = 30
_KILLED_WITHIN_S = 10


@dataclass(frozen=True)
class StandingNode:
    """One node of a standing cluster; ``pid`` is None while it does not run."""

    name: str
    address: str
    pid: int | None


@dataclass(frozen=True)
class Standing:
    """One cluster whose supervisor lives; ``since_s`` is seconds since 1970.

    ``attendant`` is the process that still uses it (pytest, ``kmigrate up``); None: it was kept, and only
    ``kmigrate down`` ends it. ``client_file`` is what lets Kafka's own tools in at the listener of clients, which has
    ``client_protocol``; None: everybody is let in.
    """

    block: int
    topology: str
    kafka: str
    bootstrap: str
    nodes: tuple[StandingNode, ...]
    logs: Path
    scratch: Path
    supervisor: int
    attendant: int | None
    since_s: float
    client_file: Path | None = None
    client_protocol: SecurityProtocol = "PLAINTEXT"

    @property
    def reached_by(self) -> tuple[tuple[str, str], ...]:
        """How clients reach it: titles and texts, for people. The password itself is in the file only."""
        reported = [("bootstrap servers", self.bootstrap)]
        if self.client_file:
            protocol = self.client_protocol
            who = f" as {ADMIN}" if has_login(protocol) else ""
            reported.append(("let in by", f"{protocol}{who}, with --command-config {self.client_file}"))
        return tuple(reported)

    def log(self, node: str) -> Path:
        """Where a node logs."""
        return self.logs / node / "server.log"


@dataclass(frozen=True)
class Leftover:
    """What a dead run left on a block: processes, and the folder of its disks."""

    block: int
    processes: tuple[int, ...]
    files: tuple[Path, ...]


def standing() -> list[Standing]:
    """Every cluster of this user that stands, by block."""
    found = (_standing(block) for block in _known_blocks())
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


def end(cluster: Standing, within_s: float = _ENDED_WITHIN_S) -> None:
    """End a cluster and remove its disks; returns when every process is gone."""
    process = _supervisor(cluster.supervisor, cluster.scratch)
    if process is not None:
        process.terminate()
        try:
            until(lambda: _is_gone(process), awaited=f"the end of supervisor {process.pid}", within_s=within_s)
        except AwaitTimeoutError:
            # It stands still: the kernel kills its nodes with it, and what is left then is cleared below.
            process.kill()
            until(lambda: _is_gone(process), awaited=f"the end of supervisor {process.pid}", within_s=_KILLED_WITHIN_S)
    clear(cluster.block)
    if cluster.logs.parent == log_folders():
        shutil.rmtree(cluster.logs, ignore_errors=True)


def clear(block: int) -> Leftover | None:
    """Kill and remove what a dead run left on a block; None when there is nothing, or somebody holds its lease."""
    lock = leases.try_lock(block)
    if lock is None:
        return None
    with lock:  # held meanwhile, so that no process leases a block that is being cleared
        left = _leftover(leases.Lease(block, lock))
        for pid in left.processes:
            _kill(pid)
        for folder in left.files:
            shutil.rmtree(folder, ignore_errors=True)
    return left if left.processes or left.files else None


def clear_all() -> list[Leftover]:
    """Clear every block whose lease is free."""
    return [left for block in _known_blocks() if (left := clear(block)) is not None]


def clear_logs() -> list[Path]:
    """Remove the logs of clusters that ``kmigrate up`` once started and that stand no more; returns their folders."""
    if not is_ours() or _is_any_being_provisioned():
        return []
    used = {cluster.logs for cluster in standing()}
    unused = sorted(logs for logs in log_folders().glob("*") if logs not in used)
    for logs in unused:
        shutil.rmtree(logs, ignore_errors=True)
    return unused


def log_folders() -> Path:
    """Where ``kmigrate up`` puts the logs of its clusters, a folder each; a run's are in its run folder instead."""
    return state_dir() / "logs"


def _known_blocks() -> list[int]:
    """Blocks that have, or had, a cluster of this state folder, by its disks."""
    folder = state_dir()
    names = {path.name for path in folder.iterdir()} if is_ours() and folder.is_dir() else set()
    return [block for block in leases.BLOCKS if str(block) in names]


def _is_any_being_provisioned() -> bool:
    """Whether somebody holds a lease without a description yet: its logs look like old ones."""
    described = {cluster.block for cluster in standing()}
    for block in _known_blocks():
        lock = leases.try_lock(block)
        if lock is not None:
            lock.close()
        elif block not in described:
            return True
    return False


def _standing(block: int) -> Standing | None:
    try:
        state: Mapping[str, Any] = json.loads(leases.state_file(block).read_text())
        scratch = Path(state["scratch"])
        process = _supervisor(state["supervisor"], scratch)
        if process is None:
            return None
        pids = _pids_by_node(process, scratch)
        return Standing(
            block=block,
            topology=state["topology"],
            kafka=state["kafka"],
            bootstrap=state["bootstrap"],
            nodes=tuple(StandingNode(name, address, pids.get(name)) for name, address in state["nodes"].items()),
            logs=Path(state["logs"]),
            scratch=scratch,
            supervisor=process.pid,
            attendant=_attendant(process),
            since_s=process.create_time(),
            client_file=Path(state["client_file"]) if state["client_file"] else None,
            client_protocol=state["client_protocol"],
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError, psutil.NoSuchProcess):
        return None  # ended while we looked, or no description of ours: ``clear`` removes such a file


def _supervisor(pid: int, scratch: Path) -> psutil.Process | None:
    """The process, if it is the supervisor of that scratch folder and not a stranger that got its number."""
    try:
        process = psutil.Process(pid)
        words = process.cmdline()
    except psutil.Error:
        return None
    is_ours = len(words) > 1 and words[-1] == str(scratch) and Path(words[-2]).name == _SUPERVISOR
    return process if is_ours else None


def _pids_by_node(process: psutil.Process, scratch: Path) -> dict[str, int]:
    """Every node's process says by its hosts file whose it is."""
    pids = {}
    for child in process.children():
        for word in _words(child):
            hosts = Path(word.removeprefix(_HOSTS_OPTION))
            if word.startswith(_HOSTS_OPTION) and hosts.parent.parent == scratch:
                pids[hosts.parent.name] = child.pid
    return pids


def _attendant(process: psutil.Process) -> int | None:
    """Who holds the other end of the supervisor's standard input."""
    parent = process.parent()
    if parent is None:
        return None
    orders = _link(Path(f"/proc/{process.pid}/fd/0"))
    held = {_link(file) for file in _open_files(parent.pid)}
    return parent.pid if orders is not None and orders in held else None


def _open_files(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return []


def _link(file: Path) -> str | None:
    try:
        return str(file.readlink())
    except OSError:
        return None


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
    is_jvm = any(word.startswith((f"{_HOSTS_OPTION}{inside}", f"{_LOGGING_OPTION}{inside}")) for word in words)
    is_clients = f"{inside}{_CLIENTS_FILE}" in words and any(_CLIENTS_MODULE in word for word in words)
    is_toxiproxy = f"127.{block}.0.{CLIENTS_NUMBER}" in words and cwd.removesuffix(" (deleted)") == str(scratch)
    return is_jvm or is_clients or is_toxiproxy


def _kill(pid: int) -> None:
    try:
        process = psutil.Process(pid)
        process.kill()
    except psutil.NoSuchProcess:
        return
    until(lambda: _is_gone(process), awaited=f"the end of process {pid}", within_s=_KILLED_WITHIN_S)


def _is_gone(process: psutil.Process) -> bool:
    """Whether it has ended; a zombie has."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
