"""Facts about moves: what a roll waits for, what it does not wait for, and what the way back waits for."""

from collections.abc import Callable
from contextlib import nullcontext

import pytest

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError, NodeDiedError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.procedures import moves
from pytest_kmigrate.procedures.moves import BACK_IN_SYNC, Deprovision, Roll, StartControllers
from tests.unit.fakes import Stage
from tests.unit.typical_events import typical

ROLL = Roll("broker-0")


@pytest.fixture
def stage(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A cluster that has no time to wait; every other broker reports that no partition is under-replicated."""
    monkeypatch.setattr(moves, "PATIENCE_S", 0)
    for name in ("broker-1", "broker-2"):
        lag(stage, 0, name)
    return stage


def lag(stage: Stage, partitions: float | None, broker: str = "broker-2") -> None:
    """Let a broker report so many under-replicated partitions; None: it does not report it."""
    if partitions is None:
        stage.view.metrics.pop((broker, "UnderReplicatedPartitions"), None)
    else:
        stage.view.metrics[broker, "UnderReplicatedPartitions"] = partitions


def after_its_restart(stage: Stage, happening: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let something happen as soon as broker-0 is up again."""
    node = stage.cluster.node("broker-0")
    start = node.start

    def started() -> None:
        start()
        happening()

    monkeypatch.setattr(node, "start", started)


def test_a_roll_waits_for_replicas_to_be_back_in_sync(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as another broker reports under-replicated partitions, the roll is not over."""
    after_its_restart(stage, lambda: lag(stage, 4), monkeypatch)
    with pytest.raises(AwaitTimeoutError, match=f"{BACK_IN_SYNC}: .*4 partitions under-replicated, 0 before"):
        ROLL.make(stage.scene)


def test_a_broker_that_does_not_tell_any_more_is_not_in_sync(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reported it before the restart: its silence is not the same as nothing under-replicated."""
    after_its_restart(stage, lambda: lag(stage, None), monkeypatch)
    with pytest.raises(AwaitTimeoutError, match="broker-2 not telling how many partitions"):
        ROLL.make(stage.scene)


def test_a_broker_that_never_told_is_not_waited_for(stage: Stage) -> None:
    """One that does not expose the metric must not keep the migration waiting for ever."""
    lag(stage, None)
    ROLL.make(stage.scene)
    assert stage.cluster.node("broker-0").alive


def test_a_broker_that_is_gone_is_not_waited_for(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dead broker leads nothing; what it led is reported by its present leader."""

    def gone() -> None:
        lag(stage, None)
        stage.cluster.node("broker-2").kill()

    after_its_restart(stage, gone, monkeypatch)
    ROLL.make(stage.scene)


def test_a_roll_stops_waiting_for_replicas_when_a_fault_begins(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last broker's start sets off the copy, and a crash in it may keep replicas out of sync for good."""

    def fault() -> None:
        stage.recorder.record(typical(EventKind.FAULT_BEGAN))
        lag(stage, 4)

    after_its_restart(stage, fault, monkeypatch)
    ROLL.make(stage.scene)


@pytest.mark.parametrize(("is_recorded", "is_under_fault"), [(False, True), (True, True), (False, False)])
def test_a_roll_ends_where_a_fault_kills_the_node_as_it_starts(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, is_recorded: bool, is_under_fault: bool
) -> None:
    """The last start sets off the copy, in which a schedule may kill all brokers; what dies by itself fails."""

    def killed() -> None:
        if is_under_fault:
            stage.recorder.record(typical(EventKind.FAULT_BEGAN))
        stage.cluster.node("broker-0").kill()
        error = NodeDiedError("broker-0", -9, "(no log)")
        error.is_recorded = is_recorded
        raise error

    after_its_restart(stage, killed, monkeypatch)
    with nullcontext() if is_under_fault and not is_recorded else pytest.raises(NodeDiedError):
        ROLL.make(stage.scene)


def test_a_roll_may_put_another_kafka_under_a_node(stage: Stage) -> None:
    """Stopped, it is installed and started; a provider must be able to."""
    Roll("broker-0", kafka="3.8.1").make(stage.scene)
    kinds = [event.kind for event in stage.recorder.events if event.node == "broker-0"]
    stopped, installed, started = (EventKind.NODE_STOPPED, EventKind.NODE_INSTALLED, EventKind.NODE_STARTED)
    assert [kind for kind in kinds if kind in (stopped, installed, started)] == [stopped, installed, started]
    assert stage.of(EventKind.NODE_STARTED)[0].data["kafka"] == "3.8.1"
    assert Capability.INSTALL in Roll("broker-0", kafka="3.8.1").needs
    assert Capability.INSTALL not in ROLL.needs


def test_a_controller_has_read_its_log_before_the_next_one_is_rolled(stage: Stage) -> None:
    """It follows earlier than that; what the others have committed is what it has to read."""
    stage.view.metrics["controller-3001", "LastCommittedRecordOffset"] = 40
    for read, seen in ((12, "read 12 of 40"), (40, None)):
        stage.view.metrics["controller-3000", "LastAppliedRecordOffset"] = read
        with pytest.raises(AwaitTimeoutError, match=seen) if seen else nullcontext():
            Roll("controller-3000").make(stage.scene)


def test_a_controller_that_ends_over_its_log_fails_the_roll(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was ready before, and is waited for no longer."""
    monkeypatch.setattr(stage.cluster.node("controller-3000"), "start", lambda: None)
    with pytest.raises(ClusterError, match="controller-3000 ended while it read its metadata log"):
        Roll("controller-3000").make(stage.scene)


def test_the_leader_is_the_last_controller_to_be_stopped(stage: Stage) -> None:
    """While another one runs it could take over, and end a copy that is being undone."""
    names = [node.name for node in stage.cluster.nodes(Role.CONTROLLER)]
    stage.view.leader = names[0]
    Deprovision().make(stage.scene)
    assert [event.node for event in stage.of(EventKind.NODE_STOPPED)] == [*names[1:], names[0]]


def test_only_the_controllers_that_are_named_are_started(stage: Stage) -> None:
    """And configured."""
    Deprovision().make(stage.scene)
    second = stage.cluster.nodes(Role.CONTROLLER)[1].name
    StartControllers({"a": "1"}, only=[second]).make(stage.scene)
    assert [node.name for node in stage.cluster.nodes(Role.CONTROLLER) if node.alive] == [second]
    assert [event.node for event in stage.of(EventKind.NODE_RECONFIGURED)] == [second]
