"""Walks the procedure: forward to a phase, part of a step, and back; every step and move is an event."""

from collections.abc import Mapping, Sequence

from pytest_kmigrate.documents.kip_866.checks.migration_metrics import LACKED_BY
from pytest_kmigrate.documents.kip_866.diagnoses.dying import signatures_of_last_words
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.documents.kip_866.procedure import LEAVE_MIGRATION, STEPS, WAYS_BACK, Step, deleting
from pytest_kmigrate.model.capabilities import require
from pytest_kmigrate.model.errors import KmigrateError, WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.steps import StepBegan, StepEnded
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.procedures.moves import DeleteZnode, Move
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until

_STATE = "ZkMigrationState"


class MigrationDriver:
    """One cluster's migration. Phases are read from the cluster's state, never assumed."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._next = 0
        self._half_done: tuple[Step, int] | None = None

    @property
    def phase(self) -> Phase:
        """Where the cluster is now."""
        return self._scene.view.phase()

    def advance_to(self, phase: Phase) -> None:
        """Take every step up to the one that reaches ``phase``, and wait until it is reached."""
        if phase is Phase.COPYING:
            raise WrongUseError("COPYING passes by itself: advance to HYBRID with a fault triggered on COPYING")
        self._require_told(phase)
        if self._next and phase < STEPS[self._next - 1].reaches:
            raise WrongUseError(
                f"expected a phase from {STEPS[self._next - 1].reaches.name} on, got {phase.name}; revert()"
            )
        while self._next < len(STEPS) and STEPS[self._next].reaches <= phase:
            self._walk(STEPS[self._next])
            self._next += 1
        self.await_phase(phase)

    def begin(self, step: Step, moves: int) -> None:
        """Take only the first ``moves`` moves of the next step; ``advance_to`` later takes the rest."""
        if self._next >= len(STEPS) or STEPS[self._next] is not step:
            expected = STEPS[self._next].name if self._next < len(STEPS) else "none, all are done"
            raise WrongUseError(f"the next step is expected to be {expected}; got {step.name}")
        self._require_told(step.reaches)
        self._walk(step, moves)

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
        self._half_done = None
        for step in ways:
            self._walk(deleting(step, besides=removing, but=forgetting))
            self._half_done = None
        self._next = 0
        self.await_phase(Phase.ZOOKEEPER)
        until(self._scene.view.active_controller, awaited="a broker as controller again", within_s=PATIENCE_S)

    def await_phase(self, phase: Phase, within_s: float = PATIENCE_S) -> None:
        """Return when the cluster is in ``phase``."""
        until(lambda: self._in(phase), awaited=f"phase {phase.name}", within_s=within_s)

    def await_new_active_controller(self, within_s: float = PATIENCE_S) -> str:
        """Return the node that took over since the last fault began."""
        before = self._active_before_last_fault()
        return until(
            lambda: self._other_than(before),
            awaited=f"an active controller other than {before}",
            within_s=within_s,
        )

    def _require_told(self, phase: Phase) -> None:
        require_told(phase, {node.name: node.kafka for node in self._scene.cluster.nodes(Role.CONTROLLER)})

    def _walk(self, step: Step, moves: int | None = None) -> None:
        recorder = self._scene.recorder
        all_moves = step.moves(self._scene.cluster)
        needs = frozenset(need for move in all_moves for need in move.needs)
        require(self._scene.cluster.capabilities, needs, f"step {step.name}", recorder)
        done = self._half_done[1] if self._half_done and self._half_done[0] is step else 0
        last = len(all_moves) if moves is None else min(done + moves, len(all_moves))
        recorder.record(StepBegan(step.name, done, last, len(all_moves)))
        try:
            for move in all_moves[done:last]:
                move.make(self._scene)
                done += 1
            if moves is None:
                self.await_phase(step.reaches)
        except KmigrateError as error:
            error.signature = error.signature or self._died_of()
            recorder.record(StepEnded(step.name, "failed", str(error), error.signature))
            raise
        finally:
            self._half_done = (step, done)
        recorder.record(StepEnded(step.name, "done" if moves is None else "stopped", reason=""))

    def _died_of(self) -> str:
        """What a known bug looks like of which nodes died, or threads of theirs: what needs them never comes true."""
        for node in self._scene.cluster.nodes():
            node.tell_dead_threads()
        kinds = (EventKind.NODE_DIED, EventKind.THREAD_DIED)
        deaths = [event for event in self._scene.recorder.events if event.kind in kinds]
        return next(iter(signatures_of_last_words(deaths)), "")

    def _in(self, phase: Phase) -> bool | NotYet:
        seen = self.phase
        return seen is phase or NotYet(f"phase {seen.name}")

    def _active_before_last_fault(self) -> str | None:
        """The active controller last recorded before the last fault began; without a fault, the present one."""
        events = list(self._scene.recorder.events)
        faults = [event.seq for event in events if event.kind is EventKind.FAULT_BEGAN]
        horizon = faults[-1] if faults else len(events)
        seen = [event.node for event in events[:horizon] if event.kind is EventKind.ACTIVE_CONTROLLER and event.node]
        return seen[-1] if seen else None

    def _other_than(self, before: str | None) -> str | NotYet:
        now = self._scene.view.active_controller()
        return now if now and now != before else NotYet(f"active controller {now}")


def require_told(phase: Phase, releases: Mapping[str, str]) -> None:
    """WrongUseError when controllers, of these releases by name, do not tell that a migration has come to ``phase``."""
    silent = [f"{name} of {kafka}" for name, kafka in releases.items() if kafka.startswith(LACKED_BY[_STATE])]
    if phase > Phase.PREPARING and silent:
        raise WrongUseError(
            f"{phase.name}: expected controllers of Kafka 3.5 to 3.9, got {', '.join(silent)}: without the metric "
            f"{_STATE} nobody could see the phase; give the controllers a later release, brokers of 3.4 may stay"
        )


def _require_deleted(forgetting: Sequence[str], removing: Sequence[str], moves: Sequence[Move]) -> None:
    deleted = [move.path for move in moves if isinstance(move, DeleteZnode)]
    if removing and not deleted:
        raise WrongUseError(f"removing: expected to be where znodes are deleted, got {', '.join(removing)}")
    strange = [path for path in forgetting if path not in deleted]
    if strange:
        raise WrongUseError(f"forgetting: expected some of {', '.join(deleted) or 'none'}, got {', '.join(strange)}")
