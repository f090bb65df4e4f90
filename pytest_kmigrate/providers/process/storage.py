"""Formatting of KRaft disks with Kafka's own storage tool, several nodes at once."""

import base64
import subprocess
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.providers.process.jvm import Jvm
from pytest_kmigrate.providers.process.node import ProcessNode

_WITHIN_S = 60


def new_cluster_id() -> str:
    """A fresh cluster id as Kafka makes them: 16 random bytes in URL-safe base64, never beginning with a dash."""
    while (made := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return made


def format_disks(
    nodes: Sequence[ProcessNode], jvm: Jvm, cluster_id: str, release_version: str | None = None
) -> None:
    """Format each node's disk; ClusterError with the tool's own words when it refuses."""
    chosen = ["--release-version", release_version] if release_version else []
    with ThreadPoolExecutor(max(1, len(nodes))) as pool:
        list(pool.map(lambda node: _format(node, jvm, ["--cluster-id", cluster_id, *chosen]), nodes))


def _format(node: ProcessNode, jvm: Jvm, chosen: list[str]) -> None:
    arguments = ["format", *chosen, "--config", str(node.write_properties())]
    command = jvm.storage_command(node.distribution, arguments)
    done = subprocess.run(command, capture_output=True, text=True, timeout=_WITHIN_S, check=False)
    if done.returncode != 0:
        raise ClusterError(f"formatting {node.name} failed with code {done.returncode}: {done.stdout}{done.stderr}")
