"""Where a quorum stands: whether it has a leader, could elect one, or has lost its majority."""

import enum

from pytest_kmigrate.model.document import ClusterReader
from pytest_kmigrate.model.protocols import Reading
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.probes.quorum import leading


class QuorumPhase(enum.Enum):
    """The phases of a quorum, which is in none of them for good."""

    SERVING = "a live controller leads"
    ELECTING = "none leads, and most controllers live"
    LOST = "most controllers do not live"


def phase(reader: ClusterReader) -> Reading:
    """Read by which controllers live and which of them reports to be active."""
    controllers = reader.cluster.nodes(Role.CONTROLLER)
    live = [node for node in controllers if node.alive and not node.stands_still]
    if len(live) * 2 <= len(controllers):
        return Reading(QuorumPhase.LOST.name)
    leader, _ = leading(reader.cluster)
    return Reading(QuorumPhase.SERVING.name if leader else QuorumPhase.ELECTING.name, leader)
