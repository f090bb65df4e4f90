"""Clusters of every provider that stand on this machine: list them, end them, clear what dead runs left."""

import shutil
from pathlib import Path

from pytest_kmigrate.providers.docker import standing as of_containers
from pytest_kmigrate.providers.owned.standing import Leftover, Standing, end_supervisor, log_folders
from pytest_kmigrate.providers.owned.state import is_ours
from pytest_kmigrate.providers.process import standing as of_processes


def standing() -> list[Standing]:
    """Every cluster of this user that stands, by block."""
    return [*of_processes.standing(), *of_containers.standing()]


def leftovers() -> list[Leftover]:
    """What dead runs left: processes, disks, containers, networks."""
    return [*of_processes.leftovers(), *of_containers.leftovers()]


def end(cluster: Standing) -> None:
    """End a cluster and remove its disks; returns when every process is gone."""
    end_supervisor(cluster)
    if isinstance(cluster.block, int):
        of_processes.clear(cluster.block)
    else:
        of_containers.clear(cluster.block)
    if cluster.logs.parent == log_folders():
        shutil.rmtree(cluster.logs, ignore_errors=True)


def clear_all() -> list[Leftover]:
    """Clear what every dead run left."""
    return [*of_processes.clear_all(), *of_containers.clear_all()]


def clear_logs() -> list[Path]:
    """Remove the logs of clusters that ``kmigrate up`` once started and that stand no more; returns their folders."""
    if not is_ours() or of_processes.is_any_being_provisioned() or of_containers.is_any_being_provisioned():
        return []
    used = {cluster.logs for cluster in standing()}
    unused = sorted(logs for logs in log_folders().glob("*") if logs not in used)
    for logs in unused:
        shutil.rmtree(logs, ignore_errors=True)
    return unused
