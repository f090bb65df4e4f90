"""The documented procedure as data: forward steps, and the way back from every phase that has one.

Sources: KIP-866, Migration Overview and Migration Trigger; the operations manual of Kafka 3.9, "ZooKeeper to KRaft
Migration" and "Reverting to ZooKeeper mode During the Migration".
"""

from collections.abc import Sequence
from dataclasses import replace

from pytest_kmigrate.checkers.controllers.lives import DEPROVISIONING
from pytest_kmigrate.documents.kip_866.moves import AwaitZookeeperController, FormatControllers
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.document import Move, Step
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.procedures.joining import joined
from pytest_kmigrate.procedures.moves import DeleteZnode, Deprovision, Roll, StartControllers

__all__ = [
    "BACK_TO_ZOOKEEPER_MODE",
    "DEPROVISION",
    "ENTER_MIGRATION",
    "FINALIZE",
    "LEAVE_MIGRATION",
    "MIGRATION_FLAG",
    "PROVISION_CONTROLLERS",
    "ROLL_TO_KRAFT",
    "STEPS",
    "TAKE_CONTROL_BACK",
    "WAYS_BACK",
    "AwaitZookeeperController",
    "FormatControllers",
    "brokers_join",
    "controllers_join",
    "deleting",
]

MIGRATION_FLAG = "zookeeper.metadata.migration.enable"
"""The property with which a broker or a controller takes part in a migration."""


def deleting(step: Step, *, besides: Sequence[str], but: Sequence[str]) -> Step:
    """The step of an operator who deletes other znodes: where it deletes any, ``besides`` too, and none of ``but``."""

    def moves(cluster: Cluster) -> list[Move]:
        documented = step.moves(cluster)
        first = next((n for n, move in enumerate(documented) if isinstance(move, DeleteZnode)), len(documented))
        before, after = documented[:first], documented[first:]
        kept = [move for move in after if not (isinstance(move, DeleteZnode) and move.path in but)]
        return [*before, *(DeleteZnode(path) for path in besides if after), *kept]

    return replace(step, moves=moves)


def controllers_join(cluster: Cluster) -> dict[str, str | None]:
    """What a controller needs to take part in a migration."""
    return {MIGRATION_FLAG: "true", "zookeeper.connect": cluster.zookeeper_connect}


def brokers_join(cluster: Cluster) -> dict[str, str | None]:
    """What a broker in ZooKeeper mode needs to take part in a migration."""
    return {
        MIGRATION_FLAG: "true",
        "controller.quorum.voters": cluster.quorum_voters,
        "controller.listener.names": "CONTROLLER",
    }


_BROKERS_LEAVE: dict[str, str | None] = {
    MIGRATION_FLAG: None,
    "controller.quorum.voters": None,
    "controller.listener.names": None,
}
_CONTROLLERS_LEAVE: dict[str, str | None] = {MIGRATION_FLAG: None, "zookeeper.connect": None}


def _brokers(cluster: Cluster) -> list[str]:
    return [node.name for node in joined(cluster, Role.BROKER)]


def _provision(cluster: Cluster) -> list[Move]:
    protocols = [node.properties.get("inter.broker.protocol.version") for node in cluster.nodes(Role.BROKER)]
    # The quorum begins with the metadata version that the brokers speak, or it refuses them (K866-REG-ibp-equality).
    release = cluster.topology.metadata_version or next((protocol for protocol in protocols if protocol), None)
    return [FormatControllers(release), StartControllers(controllers_join(cluster))]


def _enter(cluster: Cluster) -> list[Move]:
    return [Roll(name, brokers_join(cluster)) for name in _brokers(cluster)]


def _to_kraft(cluster: Cluster) -> list[Move]:
    changes: dict[str, str | None] = {MIGRATION_FLAG: None}
    joined = {key: value for key, value in brokers_join(cluster).items() if key != MIGRATION_FLAG}
    return [Roll(name, {**joined, **changes}, BrokerMode.KRAFT) for name in _brokers(cluster)]


def _finalize(cluster: Cluster) -> list[Move]:
    return [Roll(node.name, _CONTROLLERS_LEAVE) for node in cluster.nodes(Role.CONTROLLER)]


def _deprovision(_cluster: Cluster) -> list[Move]:
    return [Deprovision()]


def _take_control_back(_cluster: Cluster) -> list[Move]:
    return [Deprovision(), DeleteZnode("/controller"), DeleteZnode("/migration"), AwaitZookeeperController()]


def _back_to_zookeeper_mode(cluster: Cluster) -> list[Move]:
    in_kraft = [node.name for node in cluster.nodes(Role.BROKER) if node.mode is BrokerMode.KRAFT]
    return [Roll(name, brokers_join(cluster), BrokerMode.ZOOKEEPER) for name in in_kraft]


def _leave(cluster: Cluster) -> list[Move]:
    joined = [node.name for node in cluster.nodes(Role.BROKER) if MIGRATION_FLAG in node.properties]
    return [Roll(name, _BROKERS_LEAVE, BrokerMode.ZOOKEEPER) for name in joined]


PROVISION_CONTROLLERS = Step("provision-controllers", _provision, (PHASE, Phase.PREPARING.name))
ENTER_MIGRATION = Step("roll-brokers-into-migration", _enter, (PHASE, Phase.HYBRID.name), ("K866-TRIG-automatic",))
ROLL_TO_KRAFT = Step("roll-brokers-to-kraft", _to_kraft, (PHASE, Phase.ALL_KRAFT.name), ("K866-PROC-roll-one-by-one",))
FINALIZE = Step("finalize", _finalize, (PHASE, Phase.FINALIZED.name), ("K866-PROC-finalize-by-flag",))

STEPS = (PROVISION_CONTROLLERS, ENTER_MIGRATION, ROLL_TO_KRAFT, FINALIZE)
"""The way forward; each step begins where the one before has ended."""
WALKING_NEEDS = frozenset({Capability.START, Capability.RECONFIGURE, Capability.ZNODES})

DEPROVISION = Step(DEPROVISIONING, _deprovision, (PHASE, Phase.ZOOKEEPER.name), ("K866-RB-provisioned",))
TAKE_CONTROL_BACK = Step(DEPROVISIONING, _take_control_back, (PHASE, Phase.ZOOKEEPER.name), ("K866-RB-any-point",))
BACK_TO_ZOOKEEPER_MODE = Step(
    "roll-brokers-back-to-zookeeper", _back_to_zookeeper_mode, (PHASE, Phase.HYBRID.name), ("K866-RB-mixed",)
)
LEAVE_MIGRATION = Step("roll-brokers-out-of-migration", _leave, (PHASE, Phase.ZOOKEEPER.name), ("K866-RB-any-point",))

WAYS_BACK: dict[Phase, tuple[Step, ...]] = {
    Phase.PREPARING: (DEPROVISION, LEAVE_MIGRATION),
    Phase.COPYING: (TAKE_CONTROL_BACK, LEAVE_MIGRATION),
    Phase.HYBRID: (BACK_TO_ZOOKEEPER_MODE, TAKE_CONTROL_BACK, LEAVE_MIGRATION),
    Phase.ALL_KRAFT: (BACK_TO_ZOOKEEPER_MODE, TAKE_CONTROL_BACK, LEAVE_MIGRATION),
}
"""The way back to ZOOKEEPER from every revertible phase; from FINALIZED there is none (K866-RB-after-final)."""
