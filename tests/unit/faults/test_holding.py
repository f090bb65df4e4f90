"""Facts about the fault inside a process: who is meant, what shows that it bit, and that leaving takes it back."""

from pytest_kmigrate.documents.kip_866.crash_points import ISR_CHANGE_ASKED
from pytest_kmigrate.faults.holding import Hold
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.topology import Role
from tests.unit.fakes import Stage

HOLD = Hold(ISR_CHANGE_ASKED, Role.BROKER)


def test_whoever_comes_to_the_place_is_the_witness(stage: Stage) -> None:
    """Every live broker is armed; the one that was held is named."""
    stage.cluster.node("broker-0").kill()
    with inject(stage.scene, HOLD):
        assert stage.cluster.armed == {"isr-change-asked"}
        stage.cluster.held["isr-change-asked"] = "broker-2"
    (applied,) = stage.of(EventKind.FAULT_APPLIED)
    assert applied.data["targets"] == ["broker-1", "broker-2"]
    (witnessed,) = stage.of(EventKind.FAULT_WITNESSED)
    assert witnessed.data["witness"] == "broker-2 was held at isr-change-asked"
    assert stage.cluster.armed == set()


def test_nobody_at_the_place_is_no_witness(stage: Stage) -> None:
    """So that a test whose request was never held proves nothing."""
    with inject(stage.scene, HOLD):
        pass
    (without,) = stage.of(EventKind.FAULT_NOT_WITNESSED)
    assert without.data["fault"] == "hold(a broker at isr-change-asked)"
