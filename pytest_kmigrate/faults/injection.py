"""One injection: waits for its trigger, applies the fault, looks for a witness, heals; all of it recorded."""

import itertools
import threading
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from types import TracebackType

from pytest_kmigrate.faults.effect import Applied, Fault, effect_name
from pytest_kmigrate.faults.triggers import Fired, Trigger, now
from pytest_kmigrate.faults.wrong_use import check_fault, check_trigger
from pytest_kmigrate.model.capabilities import require
from pytest_kmigrate.model.errors import ClusterError, KmigrateError, NoEffectError, WrongUseError
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan, FaultHealed, FaultNotWitnessed, FaultWitnessed
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.waiting import PATIENCE_S, ended_early_by
from pytest_kmigrate.waiting import until as wait_until

_TRIGGER_EVERY_S = 0.02
_numbers = itertools.count(1)


class _OverError(Exception):
    """The block was left while a fault still waited for its trigger, or for a node to hit."""


class Injection:
    """A fault that has begun, or will when its trigger fires; it ends with its block, or when ``release`` fires."""

    def __init__(self, scene: Scene, fault: Fault, trigger: Trigger, release: Trigger | None = None) -> None:
        self._scene = scene
        self._fault = fault
        self._trigger = trigger
        self._release = release
        self._id = f"fault-{next(_numbers)}"
        self._over = threading.Event()
        self._begun = threading.Event()
        self._healed = threading.Event()
        self._healing = ExitStack()
        self._applied: Applied | None = None
        self._witnessed: str | None = None
        self._has_begun = False
        self._is_ended = False
        self._error: BaseException | None = None
        self._failed: Exception | None = None  # the same, and kept when it was raised again
        self._thread: threading.Thread | None = None

    @property
    def targets(self) -> tuple[str, ...]:
        """The nodes that were hit; empty until it has begun."""
        return self._applied.targets if self._applied else ()

    @property
    def is_begun(self) -> bool:
        """Whether it is, or was, in force."""
        return self._begun.is_set()

    @property
    def is_witnessed(self) -> bool:
        """Whether its witness has seen it bite."""
        return self.is_begun and self._witness() is not None

    @property
    def is_healed(self) -> bool:
        """Whether it is over, and what it did is undone."""
        return self._healed.is_set()

    def await_begun(self, within_s: float = PATIENCE_S) -> None:
        """Return once the fault is in force."""
        awaited = f"{self._trigger} for {self._fault}"
        wait_until(self._begun.is_set, awaited=awaited, within_s=within_s, abort=self.reraise)

    def await_bitten(self, within_s: float = PATIENCE_S) -> None:
        """Return once the fault was seen to bite, by its own witness."""
        self.await_begun(within_s)
        wait_until(self._witness, awaited=f"{self._fault} seen to bite", within_s=within_s)

    def await_healed(self, within_s: float = PATIENCE_S) -> None:
        """Return once the fault, which began, has ended by what ``inject`` got as ``until``."""
        awaited = f"{self._release} to end {self._fault}"
        wait_until(self._healed.is_set, awaited=awaited, within_s=within_s, abort=self.reraise)

    def arm(self, fired: Fired) -> None:
        """Begin to wait for the trigger, in a thread of its own."""
        self._thread = threading.Thread(target=self._run, args=(fired,), name=str(self._fault), daemon=True)
        self._thread.start()

    def _run(self, fired: Fired) -> None:
        try:
            self._await(self._trigger, fired)
            self._apply()
            if self._release is not None:
                with self._release.armed(self._scene) as released:
                    self._await(self._release, released)
                self._end()
        except _OverError:
            return  # the block heals what has begun
        # Whatever it is, it is raised again in the test's own thread.
        except Exception as error:  # noqa: BLE001
            self._error = self._failed = error

    def _await(self, trigger: Trigger, fired: Fired) -> None:
        wait_until(fired, awaited=str(trigger), within_s=3600, every_s=_TRIGGER_EVERY_S, abort=self._require_block)

    def _require_block(self) -> None:
        """End what this fault waits for when its block is left: healing waits for no target."""
        if self._over.is_set():
            raise _OverError

    def heal(self) -> None:
        """End the fault, unless its release has: look for its witness one last time, heal anyway, record both."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if not self._is_ended:
            self._end()
        self.reraise()

    def _end(self) -> None:
        self._is_ended = True
        try:
            self._record_witness()
        finally:
            self._healing.close()
            if self._has_begun:
                self._scene.recorder.record(FaultHealed(self._id, str(self._fault)))
        self._healed.set()

    def _witness(self) -> str | None:
        """The witness's evidence, remembered once seen: a test may end the fault early, by restarting the node."""
        if self._applied:
            self._witnessed = self._applied.witness() or self._witnessed
        return self._witnessed

    def _record_witness(self) -> None:
        applied, record = self._applied, self._scene.recorder.record
        witness = self._witness()
        if applied and witness:
            record(FaultWitnessed(self._id, witness, applied.facts))
            return
        looked_for = applied.looked_for if applied else self._why_not_applied()
        record(FaultNotWitnessed(self._id, str(self._fault), looked_for))

    def _why_not_applied(self) -> str:
        if isinstance(self._failed, NoEffectError):
            return f"it was applied without effect: {self._failed}"
        return "it could not be applied" if self._has_begun else f"{self._trigger} never fired"

    def _apply(self) -> None:
        self._has_begun = True
        effect = effect_name(type(self._fault))
        began = self._scene.recorder.record(FaultBegan(str(self._fault), self._id, effect, str(self._trigger)))
        scene = replace(self._scene, require_wanted=self._require_block)
        self._applied = self._healing.enter_context(self._fault.applied_to(scene))
        hit = self._applied
        self._scene.recorder.record(FaultApplied(self._id, list(hit.targets), began.seq, hit.takes, hit.may_end))
        self._witness()
        self._begun.set()

    def reraise(self) -> None:
        """Raise what went wrong in the thread of this fault; once."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error


@contextmanager
def inject(scene: Scene, fault: Fault, at: Trigger | None = None, until: Trigger | None = None) -> Iterator[Injection]:
    """The fault is in force inside the block, from its trigger on; leaving the block heals.

    Without ``at`` it begins at once, before the block is entered. ``until`` ends it before the block does. What goes
    wrong with it, such as a trigger that cannot be armed, ends what the block waits for. NotApplicableError where the
    provider cannot do it.
    """
    trigger = at or now()
    meant = str(fault) if at is None else f"{fault} at {trigger}"
    needs = fault.needs | trigger.needs | (until.needs if until else frozenset())
    require(scene.cluster.capabilities, needs, meant, scene.recorder)
    injection = Injection(scene, fault, trigger, until)
    entered = threading.current_thread()

    def ended_by_error() -> None:
        if threading.current_thread() is entered:
            injection.reraise()

    with trigger.armed(scene) as fired:
        injection.arm(fired)
        try:
            if at is None:
                injection.await_begun()
            with ended_early_by(ended_by_error):
                yield injection
        except BaseException as first:
            hurried = ended_early_by(_after_a_ctrl_c) if isinstance(first, KeyboardInterrupt) else nullcontext()
            try:
                with hurried:
                    injection.heal()
            except (KmigrateError, OSError) as error:
                first.add_note(f"healing {fault} failed too: {error}")
            raise
        injection.heal()


def _after_a_ctrl_c() -> None:
    """What heals is begun, and its end is not waited for."""
    raise ClusterError("it was not waited for, because of a Ctrl-C")


class Injector:
    """Makes the faults of one test, and detects those that were made and never begun."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._made: list[_Made] = []

    def __call__(
        self, fault: Fault, at: Trigger | None = None, until: Trigger | None = None
    ) -> AbstractContextManager[Injection]:
        """The fault is in force inside a ``with`` block, as by ``inject``; WrongUseError for anything but a fault."""
        check_fault(fault)
        check_trigger("at", at)
        check_trigger("until", until)
        caller = traceback.extract_stack(limit=2)[0]
        made = _Made(
            inject(self._scene, fault, at, until), f"inject({fault}) in line {caller.lineno} of {caller.filename}"
        )
        self._made.append(made)
        return made

    def require_begun(self) -> None:
        """WrongUseError when a fault was made and its block was never entered; each is reported once."""
        idle = [made.where for made in self._made if not made.has_begun]
        self._made.clear()
        if idle:
            raise WrongUseError(
                f"{'; '.join(idle)}: expected a block, got a fault that was made and never begun: "
                "write `with inject(...):` around what shall happen under it"
            )


class _Made(AbstractContextManager[Injection]):
    def __init__(self, injection: AbstractContextManager[Injection], where: str) -> None:
        self._injection = injection
        self.where = where
        self.has_begun = False

    def __enter__(self) -> Injection:
        self.has_begun = True
        return self._injection.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._injection.__exit__(kind, error, trace)
