"""Formatting of KRaft disks with Kafka's own storage tool, several nodes at once."""

import base64
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from pytest_kmigrate.distributions.versions import numbers_of
from pytest_kmigrate.providers.owned.jvm import Jvm
from pytest_kmigrate.providers.owned.network.addresses import CONTROLLER_PORT
from pytest_kmigrate.providers.owned.node import OwnedNode
from pytest_kmigrate.providers.owned.tools import STORAGE_TOOL, run_tool
from pytest_kmigrate.wire.record_batches import batch_of

_BOOTSTRAP = "bootstrap.checkpoint"
"""Records with which the leader of a quorum begins an empty log."""

_AFTER_THE_TOOL = 3
"""The offset behind what the tool writes there."""


def new_cluster_id() -> str:
    """A fresh cluster id as Kafka makes them: 16 random bytes in URL-safe base64."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


def initial_controllers(nodes: Iterable[OwnedNode]) -> list[str]:
    """The tool's argument for the first voters of a dynamic quorum: ids, addresses, and new ids of directories."""
    voters = [f"{each.spec.node_id}@{each.name}:{CONTROLLER_PORT}:{new_cluster_id()}" for each in nodes]
    return ["--initial-controllers", ",".join(voters)]


def common_level(releases: Iterable[str]) -> str | None:
    """The highest metadata.version that nodes of all these releases know; None where each knows its own, the same."""
    levels = {numbers_of(each).release[:2] for each in releases}
    return ".".join(map(str, min(levels))) if len(levels) > 1 else None


def format_disks(
    nodes: Sequence[OwnedNode],
    jvm: Jvm,
    cluster_id: str,
    more: Sequence[str] = (),
    of_node: Callable[[OwnedNode], Sequence[str]] = lambda _: (),
) -> None:
    """Format each node's disk, with ``more`` arguments and those of the node; ClusterError if the tool refuses."""
    # In one word: one id of 64 begins with a dash, and would be taken for an option of its own.
    chosen = [f"--cluster-id={cluster_id}", *more]
    with ThreadPoolExecutor(max(1, len(nodes))) as pool:
        list(pool.map(lambda node: _format(node, jvm, [*chosen, *of_node(node)]), nodes))


def _format(node: OwnedNode, jvm: Jvm, chosen: list[str]) -> None:
    arguments = ["format", *chosen, "--config", str(node.write_properties())]
    run_tool(jvm, node, STORAGE_TOOL, arguments, f"formatting {node.name}")


def begin_with(nodes: Iterable[OwnedNode], records: Sequence[bytes]) -> None:
    """Let the log of formatted nodes begin with these records behind those of the tool."""
    batch = batch_of(records, offset=_AFTER_THE_TOOL)
    for node in nodes:
        with (node.metadata_dir / _BOOTSTRAP).open("ab") as held:
            held.write(batch)
