"""Clusters of containers: list them, clear what dead runs left.

The engine is asked by labels, where there is one. A cluster is in use as long as the process that made it or its
supervisor lives: they hold a file in its folder, whose name has the process.
"""

import shutil
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from pytest_kmigrate.model.errors import ClusterError, EnvironmentLackError, WrongUseError
from pytest_kmigrate.model.extras import extras_named
from pytest_kmigrate.providers.docker.socket_file import socket_path
from pytest_kmigrate.providers.owned.standing import Leftover, Standing, described, supervisor_of
from pytest_kmigrate.providers.owned.state import STATE_FILE, is_ours, state_dir, try_hold

if TYPE_CHECKING:
    from pytest_kmigrate.providers.docker.engine import Engine

LABEL = "kmigrate.cluster"
"""Its value is the folder of the cluster's disks."""
OWNER = "kmigrate.owner"
"""Its value is the process that made the cluster, and removes it unless that is killed."""
FOLDER = "docker-"
LOCK = ".lease"
"""In the folder of a cluster: held by the process that made it and its supervisor, which may be in a container."""


def standing() -> list[Standing]:
    """Every cluster of this state folder that stands."""
    found = (described(folder.name, folder / STATE_FILE) for folder in _folders())
    return [cluster for cluster in found if cluster is not None]


def is_any_being_provisioned() -> bool:
    """Whether a cluster is in use and has no description yet."""
    return any(_is_in_use(folder) and not (folder / STATE_FILE).exists() for folder in _folders())


def leftovers() -> list[Leftover]:
    """What dead runs left here and at the engine."""
    with _engine() as engine:
        return [Leftover(folder.name, (), _there(folder), tuple(left)) for folder, left in _left(engine).items()]


def clear_all() -> list[Leftover]:
    """Clear every cluster that is not in use."""
    return [left for left in leftovers() if clear(str(left.block))]


def clear(block: str) -> bool:
    """Remove what a dead run left: containers, running or not, then networks, then disks; False if it is in use."""
    folder = state_dir() / block
    if _is_in_use(folder):
        return False
    with _engine() as engine:
        if engine is not None:
            label = f"{LABEL}={folder}"
            for container in engine.with_label(label):
                engine.remove(container["Id"])
            for network in engine.networks_with_label(label):
                engine.remove_network(network["Id"])
    shutil.rmtree(folder, ignore_errors=True)
    return True


def _left(engine: "Engine | None") -> dict[Path, list[str]]:
    """By the folder of each cluster that is not in use: what the engine has of it."""
    found: dict[Path, list[str]] = defaultdict(list, {folder: [] for folder in _folders()})
    if engine is not None:
        for container in engine.with_label(LABEL):
            found[Path(container["Labels"][LABEL])].append(f"container {container['Id'][:12]}")
        for network in engine.networks_with_label(LABEL):
            found[Path(network["Labels"][LABEL])].append(f"network {network['Name']}")
    return {folder: each for folder, each in found.items() if folder.parent == state_dir() and not _is_in_use(folder)}


def _folders() -> list[Path]:
    return sorted(state_dir().glob(f"{FOLDER}*")) if is_ours() and state_dir().is_dir() else []


def _there(folder: Path) -> tuple[Path, ...]:
    return (folder,) if folder.exists() else ()


def _is_in_use(folder: Path) -> bool:
    if (folder / LOCK).exists():
        lock = try_hold(folder / LOCK)
        if lock is None:
            return True
        lock.close()
    owner = folder.name.removeprefix(FOLDER).partition("-")[0]
    if owner.isdecimal() and psutil.pid_exists(int(owner)):
        return True
    return any(supervisor_of(pid, folder) is not None for pid in psutil.pids())


@contextmanager
def _engine() -> "Iterator[Engine | None]":
    """The engine; None when this machine has none that we may use."""
    try:
        socket_path()
        with extras_named():  # without it none of ours was ever made from here
            from pytest_kmigrate.providers.docker.engine import Engine  # noqa: PLC0415 - only with a socket

        engine = Engine()
    except (EnvironmentLackError, WrongUseError, ClusterError):
        yield None
        return
    try:
        yield engine
    finally:
        engine.close()
