"""The leader of the quorum, as the controllers' metrics report it."""

from collections.abc import Mapping, Sequence

from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.topology import Role

_OF_LEADERS = ("ActiveControllerCount", "RaftCurrentEpoch")


def leading(cluster: Cluster, metrics: Sequence[str] = ()) -> tuple[str | None, Mapping[str, float | None]]:
    """Return the live controller that reports to be active, and these metrics of it, read at one look.

    Of several it is the one with the highest raft epoch: a paused or cut leader may go on claiming.
    """
    claims = []
    for node in cluster.nodes(Role.CONTROLLER):
        seen = cluster.metrics(node.name, (*_OF_LEADERS, *metrics)) if node.alive else {}
        if seen.get("ActiveControllerCount") == 1:
            claims.append((seen.get("RaftCurrentEpoch") or 0, node.name, seen))
    if not claims:
        return None, {}
    _, name, seen = max(claims, key=lambda claim: claim[0])
    return name, seen
