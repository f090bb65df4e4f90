"""Clusters that stand on this machine, by the description and the supervisor that each has."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.model.topology import SecurityProtocol
from pytest_kmigrate.providers.owned import supervisor
from pytest_kmigrate.providers.owned.protection.security import ADMIN, has_login
from pytest_kmigrate.providers.owned.state import state_dir
from pytest_kmigrate.waiting import until

HOSTS_OPTION = "-Djdk.net.hosts.file="
"""By it each node's process names its folder."""
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

    block: int | str
    """The number of a block of loopback addresses, or the name of a network of containers."""
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
    """What a dead run left on a block: processes, containers, and the folder of its disks."""

    block: int | str
    processes: tuple[int, ...]
    files: tuple[Path, ...]
    at_engine: tuple[str, ...] = ()
    """Containers and networks, for people."""


def log_folders() -> Path:
    """Where ``kmigrate up`` puts the logs of its clusters, a folder each; a run's are in its run folder instead."""
    return state_dir() / "logs"


def keeper_file(logs: Path) -> Path:
    """The socket by which the keeper of a cluster is reached, if its logs are here; there is none otherwise."""
    return logs / "keeper"


def described(block: int | str, state_file: Path) -> Standing | None:
    """The cluster that this file describes; None when it does not stand any more."""
    try:
        state: Mapping[str, Any] = json.loads(state_file.read_text())
        scratch = Path(state["scratch"])
        process = supervisor_of(state["supervisor"], scratch)
        if process is None:
            return None
        pids = _pids_by_node(scratch)
        return Standing(
            block=block,
            topology=state["topology"],
            kafka=state["kafka"],
            bootstrap=state["bootstrap"],
            nodes=tuple(StandingNode(name, address, pids.get(name)) for name, address in state["nodes"].items()),
            logs=Path(state["logs"]),
            scratch=scratch,
            supervisor=process.pid,
            attendant=None if keeper_file(Path(state["logs"])).exists() else _attendant(process),
            since_s=process.create_time(),
            client_file=Path(state["client_file"]) if state["client_file"] else None,
            client_protocol=state["client_protocol"],
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError, psutil.NoSuchProcess):
        return None  # ended while we looked, or no description of ours: ``clear`` removes such a file


def supervisor_of(pid: int, scratch: Path) -> psutil.Process | None:
    """The process, if it is the supervisor of that scratch folder and not a stranger that got its number."""
    try:
        process = psutil.Process(pid)
        words = process.cmdline()
    except psutil.Error:
        return None
    is_ours = len(words) > 1 and words[-1] == str(scratch) and Path(words[-2]).name == _SUPERVISOR
    return process if is_ours else None


def end_supervisor(cluster: Standing, within_s: float = _ENDED_WITHIN_S) -> None:
    """End a cluster by its supervisor; returns when that is gone."""
    process = supervisor_of(cluster.supervisor, cluster.scratch)
    if process is not None:
        process.terminate()
        try:
            until(lambda: is_gone(process), awaited=f"the end of supervisor {process.pid}", within_s=within_s)
        except AwaitTimeoutError:
            # It stands still: the kernel kills its nodes with it, and what is left then is cleared by who called.
            process.kill()
            until(lambda: is_gone(process), awaited=f"the end of supervisor {process.pid}", within_s=_KILLED_WITHIN_S)


def kill(pid: int) -> None:
    """Kill a process; returns when it is gone."""
    try:
        process = psutil.Process(pid)
        process.kill()
    except psutil.NoSuchProcess:
        return
    until(lambda: is_gone(process), awaited=f"the end of process {pid}", within_s=_KILLED_WITHIN_S)


def is_gone(process: psutil.Process) -> bool:
    """Whether it has ended; a zombie has."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _pids_by_node(scratch: Path) -> dict[str, int]:
    """Every node's process says by its hosts file whose it is, also in a container."""
    pids = {}
    for process in psutil.process_iter():
        for word in _words(process):
            hosts = Path(word.removeprefix(HOSTS_OPTION))
            if word.startswith(HOSTS_OPTION) and hosts.parent.parent == scratch:
                pids[hosts.parent.name] = process.pid
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


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
