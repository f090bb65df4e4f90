"""Which nodes are part of a cluster: not those that start later, as long as they do not run."""

from pytest_kmigrate.model.protocols import Cluster, Node
from pytest_kmigrate.model.topology import Role


def joined(cluster: Cluster, role: Role) -> list[Node]:
    """The nodes of a role that run, or were started with the cluster."""
    return [node for node in cluster.nodes(role) if node.alive or node.spec.start == "at-once"]
