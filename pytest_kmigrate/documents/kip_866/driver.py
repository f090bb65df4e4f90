"""Drives a migration: forward to a phase, part of a step, and back to ZooKeeper."""

import enum
from collections.abc import Mapping, Sequence

from pytest_kmigrate.distributions.versions import version_of
from pytest_kmigrate.documents.kip_866.obstacles import obstacles
from pytest_kmigrate.documents.kip_866.phases import EARLY_ACCESS, Phase
from pytest_kmigrate.documents.kip_866.procedure import LEAVE_MIGRATION, STEPS, WAYS_BACK, deleting
from pytest_kmigrate.model.document import Move, Step, name_of
from pytest_kmigrate.model.errors import UnfitReleaseError, WrongUseError
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.procedures.driver import ProcedureDriver
from pytest_kmigrate.procedures.moves import DeleteZnode
from pytest_kmigrate.waiting import PATIENCE_S, until

_MIGRATING = tuple(f"3.{minor}." for minor in range(4, 10))
"""Releases whose controllers can migrate."""
_AUTHORIZER = "authorizer.class.name"


class MigrationDriver(ProcedureDriver):
    """One cluster's migration."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene, STEPS)

    @property
    def phase(self) -> Phase:
        """Where the cluster is now."""
        reading = self._scene.view.state(PHASE)
        assert reading is not None, "a phase can always be read"
        return Phase[reading.value]

    def _obstacles(self, wanted: str) -> Sequence[str]:
        return obstacles(self._scene, wanted)

    def advance_to(self, value: str | enum.Enum) -> None:
        """Take every step up to the one that reaches this phase, and wait until it is reached."""
        check_migratable(self._scene.cluster.topology, f"advance_to {name_of(value)}")
        _check_phase(value, {node.name: node.kafka for node in self._scene.cluster.nodes(Role.CONTROLLER)})
        super().advance_to(value)

    def begin(self, step: Step, moves: int) -> None:
        """Take only the first ``moves`` moves of the next step; ``advance_to`` later takes the rest."""
        _, phase = step.reaches
        check_migratable(self._scene.cluster.topology, f"begin {step.name}")
        _check_phase(phase, {node.name: node.kafka for node in self._scene.cluster.nodes(Role.CONTROLLER)})
        super().begin(step, moves)

    def revert(self, forgetting: Sequence[str] = (), removing: Sequence[str] = (), *, leaving: bool = True) -> None:
        """Go back to ZOOKEEPER by the documented way for the phase the cluster is in.

        ``forgetting`` names znodes that the operator should delete and does not, ``removing`` others that are deleted
        with them; WrongUseError where none are. Without ``leaving`` brokers stay in migration mode.
        """
        phase = self.phase
        if phase is Phase.ZOOKEEPER:
            return
        if phase not in WAYS_BACK:
            raise WrongUseError(f"there is no way back from {phase.name}: expected to revert before finalization")
        ways = [step for step in WAYS_BACK[phase] if leaving or step is not LEAVE_MIGRATION]
        _require_deleted(forgetting, removing, [move for step in ways for move in step.moves(self._scene.cluster)])
        self.go_back([deleting(step, besides=removing, but=forgetting) for step in ways])
        self.await_state(PHASE, Phase.ZOOKEEPER)
        until(self._scene.view.active_controller, awaited="a broker as controller again", within_s=PATIENCE_S)


def check_topology(topology: Topology, phase: str) -> None:
    """WrongUseError when this topology cannot be migrated to ``phase``."""
    check_migratable(topology, phase)
    _check_phase(phase, {spec.name: version_of(spec.kafka) for spec in topology.of_role(Role.CONTROLLER)})
    early = [spec for spec in topology.of_role(Role.BROKER) if version_of(spec.kafka).startswith(EARLY_ACCESS)]
    # 3.4 looks whether the property is there, whatever it holds.
    guarded = [spec.name for spec in early if topology.security.authorizer or _AUTHORIZER in spec.properties]
    if guarded and phase != Phase.PREPARING.name:
        raise UnfitReleaseError(
            f"{phase}: expected no authorizer in {topology.name}, which brokers of Kafka 3.4 refuse in migration mode; "
            f"got one of {', '.join(guarded)}"
        )


def not_copied(topology: Topology) -> frozenset[str]:
    """Families that keep the copy from ending: on controllers of 3.4 credentials do (kmigrate-27)."""
    releases = [version_of(spec.kafka) for spec in topology.of_role(Role.CONTROLLER)]
    return frozenset({"scram"} if any(release.startswith(EARLY_ACCESS) for release in releases) else ())


def check_migratable(topology: Topology, what: str) -> None:
    """WrongUseError when this topology can be in no migration; ``what`` was asked for."""
    lacking = [role.value for role in (Role.ZOOKEEPER, Role.CONTROLLER) if not topology.of_role(role)]
    if lacking:
        raise WrongUseError(
            f"{what}: expected a topology to migrate, with ZooKeeper and controllers; "
            f"{topology.name} has no {' and no '.join(lacking)}: take another topology"
        )


def _check_phase(value: str | enum.Enum, releases: Mapping[str, str]) -> None:
    """WrongUseError when a migration cannot be driven to a phase; ``releases``: those of the controllers, by name."""
    phase = name_of(value)
    if phase == Phase.COPYING.name:
        raise WrongUseError("COPYING passes by itself: advance to HYBRID with a fault triggered on COPYING")
    unfit = [f"{name} of {kafka}" for name, kafka in releases.items() if not kafka.startswith(_MIGRATING)]
    if phase != Phase.PREPARING.name and unfit:
        raise UnfitReleaseError(f"{phase}: expected controllers of Kafka 3.4 to 3.9, got {', '.join(unfit)}")


def _require_deleted(forgetting: Sequence[str], removing: Sequence[str], moves: Sequence[Move]) -> None:
    deleted = [move.path for move in moves if isinstance(move, DeleteZnode)]
    if removing and not deleted:
        raise WrongUseError(f"removing: expected to be where znodes are deleted, got {', '.join(removing)}")
    strange = [path for path in forgetting if path not in deleted]
    if strange:
        raise WrongUseError(f"forgetting: expected some of {', '.join(deleted) or 'none'}, got {', '.join(strange)}")
