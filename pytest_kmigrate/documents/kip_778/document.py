"""KIP-778 as the rest of the product uses it."""

from pytest_kmigrate.checkers.registry import checkers_in, diagnoses_in
from pytest_kmigrate.documents.kip_778.procedure import STEPS, WALKING_NEEDS, UpgradePhase, phase
from pytest_kmigrate.model.document import Document, State
from pytest_kmigrate.model.event import PHASE

DOCUMENT = Document(
    id="kip-778",
    title="KIP-778: KRaft to KRaft upgrades and metadata.version",
    checks=checkers_in("pytest_kmigrate.documents.kip_778.checks"),
    diagnoses=diagnoses_in("pytest_kmigrate.documents.kip_778.diagnoses"),
    states=(State(PHASE, phase, tuple(each.name for each in UpgradePhase)),),
    metrics=(
        *("ActiveControllerCount", "CurrentMetadataVersion", "FencedBrokerCount"),
        *("RaftCurrentEpoch", "RaftCurrentState", "RaftHighWatermark"),
    ),
    procedure=STEPS,
    walked_by=("upgrade",),
    walking_needs=WALKING_NEEDS,
)
