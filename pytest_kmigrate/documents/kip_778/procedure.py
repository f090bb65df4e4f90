"""The documented upgrade: every node is rolled once to the new release, then the level is raised online.

The new release is the topology's own, which ``--kmigrate-kafka`` chooses; the old one is what its nodes begin with.
"""

import enum
from collections.abc import Callable

from pytest_kmigrate.distributions.versions import version_of
from pytest_kmigrate.documents.kip_778.levels import METADATA_VERSION
from pytest_kmigrate.documents.kip_778.moves import SetLevel
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.document import ClusterReader, Move, Step
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.protocols import Cluster, Reading
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.procedures.moves import Roll
from pytest_kmigrate.wire.features import node_features_at


class UpgradePhase(enum.Enum):
    """Where an upgrade stands."""

    OLD = "every node runs the old release"
    MIXED = "some nodes run the new release"
    ROLLED = "all nodes run the new release, at the old level"
    RAISED = "the level is the highest of the new release"


def phase(reader: ClusterReader) -> Reading | None:
    """Read by what each node runs, and by the level that the quorum's leader takes for finalized."""
    cluster = reader.cluster
    nodes = (*cluster.nodes(Role.CONTROLLER), *cluster.nodes(Role.BROKER))
    if not is_upgrade(cluster.topology):
        return None
    count = sum(node.installed == cluster.topology.kafka for node in nodes)
    if count < len(nodes):
        return Reading(UpgradePhase.MIXED.name if count else UpgradePhase.OLD.name)
    return Reading(_of_rolled(reader))


def is_upgrade(topology: Topology) -> bool:
    """Whether a topology has nodes that begin with another release than its own."""
    return any(
        spec.kafka != topology.kafka for role in (Role.CONTROLLER, Role.BROKER) for spec in topology.of_role(role)
    )


def _of_rolled(reader: ClusterReader) -> str:
    live = next((node.name for node in reader.cluster.nodes(Role.BROKER) if node.alive), None)
    if live is None:
        return reader.last(PHASE) or UpgradePhase.ROLLED.name
    features = node_features_at(reader.cluster.peer(live), within_s=1)
    is_highest = features.finalized[METADATA_VERSION][1] == features.supported[METADATA_VERSION][1]
    return UpgradePhase.RAISED.name if is_highest else UpgradePhase.ROLLED.name


def rolled(role: Role) -> Callable[[Cluster], list[Move]]:
    """Moves that roll each node of a role to the new release, one by one."""

    def moves(cluster: Cluster) -> list[Move]:
        return [Roll(node.name, kafka=cluster.topology.kafka) for node in cluster.nodes(role)]

    return moves


def raised(cluster: Cluster) -> list[Move]:
    """Moves that raise the level to the highest of the new release."""
    major, minor = version_of(cluster.topology.kafka).split(".")[:2]
    return [SetLevel("upgrade", f"{major}.{minor}")]


ROLL_CONTROLLERS = Step("roll-controllers", rolled(Role.CONTROLLER), (PHASE, UpgradePhase.MIXED.name))
ROLL_BROKERS = Step("roll-brokers", rolled(Role.BROKER), (PHASE, UpgradePhase.ROLLED.name))
RAISE = Step("raise-the-level", raised, (PHASE, UpgradePhase.RAISED.name))
LOWER = "lower-the-level"
"""The step by which a test takes the level back; it is no part of the documented upgrade."""
STEPS = (ROLL_CONTROLLERS, ROLL_BROKERS, RAISE)
WALKING_NEEDS = frozenset({Capability.START, Capability.RECONFIGURE, Capability.INSTALL, Capability.TOOLS})
