"""Facts about starts under faults: what a fault has ended is started by its heal, and everything else is an error."""

from contextlib import nullcontext

import pytest

from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.processes import Kill
from pytest_kmigrate.faults.targets import node
from pytest_kmigrate.model.errors import NodeDiedError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.faults import DISK, NOTHING, FaultApplied, FaultBegan, FaultHealed
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.procedures.moves import Deprovision, StartControllers
from pytest_kmigrate.procedures.restarts import has_started
from tests.unit.fakes import Stage
from tests.unit.typical_events import typical


@pytest.mark.parametrize(
    ("faults", "is_heal", "is_recorded", "applied", "is_left"),
    [
        (1, False, False, None, True),
        (0, False, False, None, False),
        (1, False, True, None, False),
        (1, True, False, None, False),
        (2, True, False, None, True),
        (1, False, True, FaultApplied("fault-0", ["broker-0"], 0, NOTHING, may_end=True), True),
        (1, False, True, FaultApplied("fault-0", ["broker-0"], 0, DISK), True),
        (1, False, True, FaultApplied("fault-0", ["broker-1"], 0, DISK, may_end=True), False),
        (1, False, True, FaultApplied("fault-9", ["broker-0"], 0, DISK, may_end=True), False),
    ],
    ids=[
        "killed by a fault",
        "killed by nothing known",
        "died by itself",
        "a heal that ended it itself",
        "a heal and another fault",
        "may end",
        "lacks its disk",
        "another one may end",
        "that is over",
    ],
)
def test_what_a_fault_has_ended_is_left_to_its_heal(
    stage: Stage, faults: int, is_heal: bool, is_recorded: bool, applied: FaultApplied | None, is_left: bool
) -> None:
    """The end of anything else fails the start."""
    for number in (9, *range(faults)):
        stage.recorder.record(FaultBegan("a fault", f"fault-{number}", "kill", "now"))
    stage.recorder.record(FaultHealed("fault-9", "a fault"))
    if applied:
        stage.recorder.record(applied)

    def start() -> None:
        error = NodeDiedError("broker-0", -9, "(no log)")
        error.is_recorded = is_recorded
        raise error

    with nullcontext() if is_left else pytest.raises(NodeDiedError):
        assert not has_started(stage.scene, start, is_heal=is_heal)
    assert has_started(stage.scene, lambda: None)


def test_controllers_are_started_beside_one_that_a_fault_kills(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step goes on with the others, and the turn of the killed one is free for its heal."""
    Deprovision().make(stage.scene)
    first, *_, last = stage.cluster.nodes(Role.CONTROLLER)
    start = last.start

    def killed(*, wait: bool = True) -> None:
        start(wait=wait)
        stage.recorder.record(typical(EventKind.FAULT_BEGAN))
        first.kill()

    monkeypatch.setattr(last, "start", killed)
    StartControllers().make(stage.scene)
    ready = [event.node for event in stage.of(EventKind.NODE_READY)]
    assert ready == [each.name for each in stage.cluster.nodes(Role.CONTROLLER) if each is not first]


def test_a_heal_leaves_a_node_to_the_fault_that_kills_it_as_it_starts(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second fault's heal starts it, once."""
    broker = stage.cluster.node("broker-1")
    await_ready, second = broker.await_ready, inject(stage.scene, Kill(node("broker-1")))

    def killed(within_s: float = 0) -> None:
        if broker.incarnation == 2:
            second.__enter__()
        await_ready(within_s)
        if not broker.alive:
            raise NodeDiedError(broker.name, -9, "(no log)")

    monkeypatch.setattr(broker, "await_ready", killed)
    with inject(stage.scene, Kill(node("broker-1"))):
        pass
    assert not broker.alive
    second.__exit__(None, None, None)
    assert (broker.alive, broker.incarnation) == (True, 3)
