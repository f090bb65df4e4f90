"""KIP-500 as the rest of the product uses it."""

import enum

from pytest_kmigrate.checkers.registry import checkers_in, diagnoses_in
from pytest_kmigrate.documents.kip_500.bindings import BINDINGS
from pytest_kmigrate.documents.kip_500.crash_points import CRASH_POINTS
from pytest_kmigrate.model.document import ClusterReader, Document, State
from pytest_kmigrate.model.event import PHASE
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


DOCUMENT = Document(
    id="kip-500",
    title="KIP-500: a quorum of controllers instead of ZooKeeper",
    judges_runs_of=("kip-778", "kip-866"),
    checks=(*checkers_in("pytest_kmigrate.documents.kip_500.checks"), *BINDINGS),
    diagnoses=diagnoses_in("pytest_kmigrate.documents.kip_500.diagnoses"),
    crash_points=CRASH_POINTS,
    states=(State(PHASE, phase, tuple(each.name for each in QuorumPhase)),),
    metrics=(
        *("ActiveControllerCount", "RaftCurrentEpoch", "RaftCurrentState", "RaftHighWatermark"),
        *("ActiveBrokerCount", "FencedBrokerCount", "BrokerState", "BrokerLastAppliedRecordOffset"),
    ),
)
