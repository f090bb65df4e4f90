"""Facts about injections in trouble: whatever goes wrong, the fault is healed and the history says what happened."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from pytest_kmigrate.documents.kip_866.crash_points import ISR_CHANGE_ASKED
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.faults.effect import Applied
from pytest_kmigrate.faults.holding import Hold
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.processes import Kill, Pause
from pytest_kmigrate.faults.targets import active_controller, every, follower_controller, node
from pytest_kmigrate.faults.triggers import Trigger, on_state, on_znode_change, when
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import (
    AwaitTimeoutError,
    ClusterError,
    NoEffectError,
    NotApplicableError,
    WrongUseError,
)
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.protocols import Reading, Scene
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.procedures.moves import Roll
from pytest_kmigrate.waiting import until
from tests.unit.fakes import Stage


@dataclass(frozen=True)
class Awkward:
    """A fault that fails where a test wants it."""

    fails: str = ""
    log: list[str] = field(default_factory=list)
    needs: frozenset[Capability] = frozenset()

    def __str__(self) -> str:
        return "awkward(nobody)"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Apply, note it, heal."""
        self._do("apply")
        try:
            yield Applied((), "nothing", self._witness)
        finally:
            self._do("heal")

    def _witness(self) -> str:
        self._do("witness")
        return "it bit"

    def _do(self, what: str) -> None:
        self.log.append(what)
        if what == self.fails:
            raise ClusterError(f"{what} failed")


def test_the_order_of_a_fault_is_told_by_its_events(stage: Stage) -> None:
    """Began, applied, witnessed, healed: each once, all under one id."""
    with inject(stage.scene, Awkward()):
        pass
    assert stage.recorder.kinds() == [
        EventKind.FAULT_BEGAN,
        EventKind.FAULT_APPLIED,
        EventKind.FAULT_WITNESSED,
        EventKind.FAULT_HEALED,
    ]
    assert len({event.data["fault_id"] for event in stage.recorder.events}) == 1
    began, applied = stage.recorder.events[:2]
    assert applied.data["began"] == began.seq


def test_a_ctrl_c_begins_to_heal_and_waits_for_nothing(stage: Stage) -> None:
    """A node that was killed is started, and not waited for: the cluster ends with the run."""
    asked: list[str] = []

    class Slow(Awkward):
        def _do(self, what: str) -> None:
            asked.append(what)
            if what == "heal":
                until(lambda: False, awaited="a node", within_s=3600)

    with pytest.raises(KeyboardInterrupt) as interrupted, inject(stage.scene, Slow()):
        raise KeyboardInterrupt
    assert asked[-1] == "heal"
    assert "not waited for, because of a Ctrl-C" in interrupted.value.__notes__[0]
    assert EventKind.FAULT_HEALED not in stage.recorder.kinds()


def test_a_test_can_wait_until_a_fault_bites(stage: Stage) -> None:
    """The witness is asked until it has seen something, which is kept; what never bites is reported in the end."""
    hold = Hold(ISR_CHANGE_ASKED, Role.BROKER)
    with inject(stage.scene, hold) as injection:
        with pytest.raises(AwaitTimeoutError, match=r"hold\(a broker at isr-change-asked\) seen to bite"):
            injection.await_bitten(within_s=0)
        stage.cluster.held["isr-change-asked"] = "broker-2"
        injection.await_bitten()
        stage.cluster.held.clear()
    (witnessed,) = stage.of(EventKind.FAULT_WITNESSED)
    assert "broker-2 was held" in str(witnessed.data["witness"])


def test_a_fault_that_cannot_be_applied_is_an_error(stage: Stage) -> None:
    """The block is not entered, and the error is the fault's own."""
    with pytest.raises(ClusterError, match="apply failed"), inject(stage.scene, Awkward("apply")):
        pytest.fail("entered")


def test_a_triggered_fault_that_cannot_be_applied_is_an_error_at_the_end(stage: Stage) -> None:
    """It began in a thread of its own: the error comes out where the block is left."""
    stage.view.readings["phase"] = Reading("HYBRID")
    fault = Awkward("apply")
    with (
        pytest.raises(ClusterError, match="apply failed"),
        inject(stage.scene, fault, at=on_state("phase", Phase.HYBRID)),
    ):
        until(lambda: fault.log, awaited="the attempt", within_s=60)
    assert stage.of(EventKind.FAULT_NOT_WITNESSED)


def test_heals_also_when_the_witness_cannot_be_asked(stage: Stage) -> None:
    """A node that died under a pause, a table that cannot be read: no reason to leave a link cut."""
    fault = Awkward("witness")
    with pytest.raises(ClusterError, match="witness failed"), inject(stage.scene, fault):
        pass
    assert fault.log == ["apply", "witness", "witness", "heal"]
    assert stage.of(EventKind.FAULT_HEALED)


def test_a_fault_that_could_not_be_applied_is_told_by_the_history(stage: Stage) -> None:
    """It began, so the history must say how it ended, or every later failed step is excused by it."""
    with pytest.raises(ClusterError), inject(stage.scene, Awkward("apply")):
        pass
    assert stage.of(EventKind.FAULT_NOT_WITNESSED)


def test_a_fault_that_was_applied_without_effect_says_so(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its hook reported success: that is another thing than one that failed."""

    def without_effect(self: Awkward, _scene: Scene) -> None:
        raise NoEffectError("hooks.kill of broker-1 reported success, and 30 s later it takes connections as before")

    monkeypatch.setattr(Awkward, "applied_to", without_effect)
    with pytest.raises(NoEffectError), inject(stage.scene, Awkward()):
        pass
    (event,) = stage.of(EventKind.FAULT_NOT_WITNESSED)
    assert str(event.data["witness"]).startswith("it was applied without effect: hooks.kill of broker-1 reported")


def test_the_error_of_the_test_comes_first(stage: Stage) -> None:
    """Cleanup never hides the first error."""
    with pytest.raises(ZeroDivisionError), inject(stage.scene, Awkward("heal")):
        raise ZeroDivisionError


@pytest.mark.parametrize(("fault", "verb"), [(Kill(every(Role.BROKER)), "kill"), (Pause(every(Role.BROKER)), "pause")])
def test_a_fault_applied_in_part_is_healed_in_part(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, fault: Kill | Pause, verb: str
) -> None:
    """When the second of several nodes cannot be hit, the first is healed."""

    def fails() -> None:
        raise ClusterError("no such process")

    monkeypatch.setattr(stage.cluster.node("broker-1"), verb, fails)
    with pytest.raises(ClusterError), inject(stage.scene, fault):
        pass
    first = stage.cluster.node("broker-0")
    monkeypatch.undo()
    assert (first.alive, first.stands_still) == (True, False)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_target_that_does_not_exist_is_told_at_once(stage: Stage) -> None:
    """A misspelt node is an error of the test, not a wait of two minutes and then a timeout."""
    trigger = on_state("phase", Phase.ZOOKEEPER)
    with (
        pytest.raises(WrongUseError, match="broker-9"),
        inject(stage.scene, Kill(node("broker-9")), at=trigger) as injection,
    ):
        injection.await_begun(within_s=60)


def test_without_a_leader_nobody_is_a_follower(stage: Stage) -> None:
    """The target waits for the election instead of choosing among candidates."""
    stage.view.leader = None
    assert follower_controller().resolve(stage.scene) == []


@pytest.mark.parametrize("lacking", [Capability.PAUSE, Capability.ZNODES], ids=str)
def test_a_fault_or_trigger_that_the_provider_cannot_do_is_not_begun(stage: Stage, lacking: Capability) -> None:
    """The error names what lacks; no node was touched, and the history has no fault that was not witnessed."""
    stage.cluster.capabilities -= {lacking}
    trigger = on_znode_change("/controller")
    with (
        pytest.raises(NotApplicableError, match=f"needs what this provider does not offer: {lacking.value}$"),
        inject(stage.scene, Pause(every(Role.BROKER)), at=trigger),
    ):
        pass
    assert [event.data["lacking"] for event in stage.of(EventKind.NOT_OFFERED)] == [[lacking.value]]
    assert len(stage.recorder.events) == 1


def test_an_error_of_a_trigger_ends_what_its_block_waits_for(stage: Stage) -> None:
    """A walk under a fault that can never begin is not walked to its end."""

    @contextmanager
    def armed(_scene: Scene) -> Iterator[Callable[[], bool]]:
        def fired() -> bool:
            raise ClusterError("no JVM to load into")

        yield fired

    with (
        pytest.raises(ClusterError, match="no JVM to load into"),
        inject(stage.scene, Awkward(), at=Trigger("broken", armed)),
    ):
        until(lambda: False, awaited="the end of the walk", within_s=3600)


def test_a_fault_ends_by_its_release_while_its_block_goes_on(stage: Stage) -> None:
    """It is healed once, with its witness before, and the end of the block finds nothing to heal."""
    fault, over = Awkward(), threading.Event()
    with inject(stage.scene, fault, until=when("over", over.is_set)) as injection:
        with pytest.raises(AwaitTimeoutError, match="over to end awkward"):
            injection.await_healed(within_s=0)
        over.set()
        injection.await_healed()
        assert fault.log == ["apply", "witness", "witness", "heal"]
        assert [event.kind for event in stage.recorder.events][-2:] == [
            EventKind.FAULT_WITNESSED,
            EventKind.FAULT_HEALED,
        ]
    assert fault.log.count("heal") == 1
    assert len(stage.of(EventKind.FAULT_HEALED)) == 1


def test_a_release_that_never_fires_leaves_the_end_to_the_block(stage: Stage) -> None:
    """As without one."""
    fault = Awkward()
    with inject(stage.scene, fault, until=when("never", lambda: False)):
        pass
    assert fault.log[-1] == "heal"


def test_the_end_of_a_block_waits_for_no_target(stage: Stage) -> None:
    """A fault that still looks for a leader is over at once: others are to be healed."""
    stage.view.controller = None
    with inject(stage.scene, Kill(active_controller()), at=when("now", lambda: True)):
        until(lambda: stage.of(EventKind.FAULT_BEGAN), awaited="the search", within_s=60)
    assert stage.of(EventKind.FAULT_NOT_WITNESSED)
    assert all(node.alive for node in stage.cluster.nodes())


def test_a_roll_and_the_end_of_a_kill_take_turns(stage: Stage) -> None:
    """Of two that would start one node, the second finds it running and leaves it alone."""
    rolling, may_start = threading.Event(), threading.Event()
    broker = stage.cluster.node("broker-1")
    start = broker.start

    def started() -> None:
        rolling.set()
        until(may_start.is_set, awaited="the heal to come", within_s=60)
        assert not broker.alive, "runs already"
        start()

    broker.start = started  # type: ignore[method-assign]
    with inject(stage.scene, Kill(node("broker-1"))):
        roll = threading.Thread(target=Roll("broker-1").make, args=(stage.scene,), daemon=True)
        roll.start()
        until(rolling.is_set, awaited="the roll", within_s=60)
        threading.Thread(target=may_start.set).start()
    roll.join(60)
    assert broker.alive
    assert [event.node for event in stage.of(EventKind.NODE_STARTED)].count("broker-1") <= 1
