"""KIP-500 as the rest of the product uses it."""

from pytest_kmigrate.checkers.registry import checkers_in
from pytest_kmigrate.documents.kip_500.bindings import BINDINGS
from pytest_kmigrate.documents.kip_500.crash_points import CRASH_POINTS
from pytest_kmigrate.documents.kip_500.quorum import QuorumPhase, phase
from pytest_kmigrate.model.document import Document, State
from pytest_kmigrate.model.event import PHASE

DOCUMENT = Document(
    id="kip-500",
    title="KIP-500: a quorum of controllers instead of ZooKeeper",
    judges_runs_of=("kip-778", "kip-866"),
    checks=(*checkers_in("pytest_kmigrate.documents.kip_500.checks"), *BINDINGS),
    crash_points=CRASH_POINTS,
    states=(State(PHASE, phase, tuple(each.name for each in QuorumPhase)),),
    metrics=(
        *("ActiveControllerCount", "RaftCurrentEpoch", "RaftCurrentState", "RaftHighWatermark"),
        *("ActiveBrokerCount", "FencedBrokerCount", "BrokerState", "BrokerLastAppliedRecordOffset"),
    ),
)
