"""Facts about triggers: a fault begins when its trigger fires and not before; one that never fires is reported."""

from collections.abc import Callable

import pytest

from pytest_kmigrate.documents.kip_866.crash_points import METADATA_COPIED_NOT_COMMITTED
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.processes import Kill
from pytest_kmigrate.faults.targets import every, node
from pytest_kmigrate.faults.triggers import (
    Trigger,
    after_operations,
    at_crash_point,
    in_turn,
    on_event,
    on_metric,
    on_state,
    on_znode_change,
)
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.nodes import NodeReady
from pytest_kmigrate.model.protocols import Reading
from pytest_kmigrate.model.topology import Role
from tests.unit.fakes import FakeView, FakeZnodes, Stage
from tests.unit.typical_events import typical

Happening = Callable[[Stage], object]
VICTIM = node("broker-1")
CASES: list[tuple[Trigger, Happening, Happening]] = [
    (
        on_state("phase", Phase.HYBRID),
        lambda stage: stage.view.readings.update(phase=Reading("COPYING")),
        lambda stage: stage.view.readings.update(phase=Reading("HYBRID")),
    ),
    (
        on_state("migration_state", "MIGRATION"),
        lambda stage: stage.view.readings.update(phase=Reading("MIGRATION")),
        lambda stage: stage.view.readings.update(migration_state=Reading("MIGRATION", "controller-3000")),
    ),
    (
        on_event(EventKind.STEP_BEGAN),
        lambda stage: stage.recorder.record(typical(EventKind.STEP_ENDED)),
        lambda stage: stage.recorder.record(typical(EventKind.STEP_BEGAN)),
    ),
    (
        on_event(EventKind.NODE_READY, "broker-2"),
        lambda stage: stage.recorder.record(NodeReady(1), "broker-0"),
        lambda stage: stage.recorder.record(NodeReady(1), "broker-2"),
    ),
    (
        on_znode_change("/controller"),
        lambda stage: stage.znodes.set("/migration", b"1"),
        lambda stage: stage.znodes.set("/controller", b"1"),
    ),
    (
        on_znode_change("/brokers/topics"),
        lambda stage: stage.znodes.set("/brokers/ids/0", b"1"),
        lambda stage: stage.znodes.set("/brokers/topics/new", b"1"),
    ),
    (
        on_metric(every(Role.CONTROLLER), "ZkWriteBehindLag", 10),
        lambda stage: stage.view.metrics.update({("controller-3001", "ZkWriteBehindLag"): 9}),
        lambda stage: stage.view.metrics.update({("controller-3001", "ZkWriteBehindLag"): 10}),
    ),
    (
        after_operations(5),
        lambda stage: setattr(stage.view, "acked", 104),
        lambda stage: setattr(stage.view, "acked", 105),
    ),
    (
        at_crash_point(METADATA_COPIED_NOT_COMMITTED),
        lambda stage: stage.cluster.held.update({"copy-ended": "controller-3000"}),
        lambda stage: stage.cluster.held.update({METADATA_COPIED_NOT_COMMITTED.name: "controller-3000"}),
    ),
]


@pytest.mark.parametrize(("trigger", "near_miss", "moment"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_a_fault_begins_at_its_trigger(stage: Stage, trigger: Trigger, near_miss: Happening, moment: Happening) -> None:
    """What only resembles the trigger does not fire it; the thing itself does, and the history names the trigger."""
    stage.view.acked = 100
    with trigger.armed(stage.scene) as fired:
        assert not fired()
        near_miss(stage)
        assert not fired()

    stage.view.acked = 100
    with inject(stage.scene, Kill(VICTIM), at=trigger) as injection:
        assert injection.targets == ()
        moment(stage)
        injection.await_begun(within_s=30)
        assert not stage.cluster.node("broker-1").alive
    (began,) = stage.of(EventKind.FAULT_BEGAN)
    assert began.data["trigger"] == str(trigger)


@pytest.mark.parametrize(
    ("trigger", "asked", "moment"),
    [
        (CASES[0][0], (FakeView, "state"), CASES[0][2]),
        (CASES[4][0], (FakeZnodes, "get"), CASES[4][2]),
        (CASES[6][0], (FakeView, "metric"), CASES[6][2]),
    ],
    ids=["state", "znode", "metric"],
)
def test_a_trigger_waits_for_what_does_not_answer_for_a_while(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, trigger: Trigger, asked: tuple[type, str], moment: Happening
) -> None:
    """ZooKeeper stands still by another fault, say, for longer than who asks it is patient; then it fires."""

    def silent(*_asked: object) -> object:
        raise ClusterError("ZooKeeper does not answer for /controller within 30 s")

    with trigger.armed(stage.scene) as fired:
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(*asked, silent)
            moment(stage)
            assert not fired()
        assert fired()


def test_only_events_after_arming_fire(stage: Stage) -> None:
    """An event that happened before the trigger was armed does not count."""
    stage.recorder.record(typical(EventKind.STEP_BEGAN))
    with on_event(EventKind.STEP_BEGAN).armed(stage.scene) as fired:
        assert not fired()
        stage.recorder.record(typical(EventKind.STEP_BEGAN))
        assert fired()


@pytest.mark.parametrize(
    "trigger",
    [on_state("phase", Phase.FINALIZED), after_operations(1), at_crash_point(METADATA_COPIED_NOT_COMMITTED)],
    ids=str,
)
def test_a_trigger_that_never_fires_gives_no_witness(stage: Stage, trigger: Trigger) -> None:
    """The block ends, nothing was hit, and fault-not-witnessed names the trigger."""
    with inject(stage.scene, Kill(VICTIM), at=trigger):
        pass
    (without,) = stage.of(EventKind.FAULT_NOT_WITNESSED)
    assert str(trigger) in str(without.data["witness"])
    assert not stage.of(EventKind.FAULT_BEGAN, EventKind.FAULT_HEALED, EventKind.NODE_STOPPED)


def test_crash_points_are_armed_for_the_block_only(stage: Stage) -> None:
    """Arming reaches the cluster, and leaving the block disarms."""
    with inject(stage.scene, Kill(VICTIM), at=at_crash_point(METADATA_COPIED_NOT_COMMITTED)):
        assert stage.cluster.armed == {METADATA_COPIED_NOT_COMMITTED.name}
    assert stage.cluster.armed == set()


def test_triggers_in_turn_fire_one_after_the_other_while_the_first_holds_on(stage: Stage) -> None:
    """The second is armed only when the first has fired: what happened before does not count for it."""
    record = stage.recorder.record
    in_both = in_turn(on_event(EventKind.STEP_BEGAN), on_event(EventKind.STEP_ENDED))
    with in_both.armed(stage.scene) as fired:
        record(typical(EventKind.STEP_ENDED))
        assert not fired()
        record(typical(EventKind.STEP_BEGAN))
        assert not fired()
        record(typical(EventKind.STEP_ENDED))
        assert fired()
    with in_turn(at_crash_point(METADATA_COPIED_NOT_COMMITTED), after_operations(1)).armed(stage.scene) as fired:
        assert not fired()
        assert stage.cluster.armed == {METADATA_COPIED_NOT_COMMITTED.name}


def test_a_trigger_on_a_metric_that_there_is_not_is_refused_at_once(stage: Stage) -> None:
    """It would never fire: the block is not even entered, and nothing was hit."""
    trigger = on_metric(every(Role.CONTROLLER), "ZkWriteBehindLags", 10)
    with (
        pytest.raises(WrongUseError, match='did you mean "ZkWriteBehindLag'),
        inject(stage.scene, Kill(VICTIM), trigger),
    ):
        pytest.fail("the block was entered")
    assert stage.recorder.events == []


def test_a_trigger_on_a_state_that_there_is_not_is_refused_at_once(stage: Stage) -> None:
    """It would never fire: the error names the document's states, and nothing was hit."""
    with (
        pytest.raises(WrongUseError, match=r"of phase, migration_state; got 'phases'; did you mean \"phase"),
        inject(stage.scene, Kill(VICTIM), on_state("phases", "HYBRID")),
    ):
        pytest.fail("the block was entered")
    assert stage.recorder.events == []
