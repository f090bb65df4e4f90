"""Formatting of KRaft disks with Kafka's own storage tool, several nodes at once."""

import base64
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from pytest_kmigrate.providers.process.jvm import Jvm
from pytest_kmigrate.providers.process.node import ProcessNode
from pytest_kmigrate.providers.process.tools import STORAGE_TOOL, run_tool


def new_cluster_id() -> str:
    """A fresh cluster id as Kafka makes them: 16 random bytes in URL-safe base64."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


def format_disks(nodes: Sequence[ProcessNode], jvm: Jvm, cluster_id: str, more: Sequence[str] = ()) -> None:
    """Format each node's disk, with ``more`` arguments of the tool; ClusterError when it refuses."""
    # In one word: one id of 64 begins with a dash, and would be taken for an option of its own.
    chosen = [f"--cluster-id={cluster_id}", *more]
    with ThreadPoolExecutor(max(1, len(nodes))) as pool:
        list(pool.map(lambda node: _format(node, jvm, chosen), nodes))


def _format(node: ProcessNode, jvm: Jvm, chosen: list[str]) -> None:
    arguments = ["format", *chosen, "--config", str(node.write_properties())]
    run_tool(jvm, node.distribution, STORAGE_TOOL, arguments, f"formatting {node.name}")
