"""Facts about faults of processes: whom they hit, what shows that they bit, and that leaving heals."""

from dataclasses import dataclass, replace

import pytest

from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.processes import Kill, Pause, Stop
from pytest_kmigrate.faults.targets import active_controller, every, member, node, owner_of
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.members import MemberOwns
from pytest_kmigrate.model.topology import Role
from tests.unit.fakes import Stage


@pytest.mark.parametrize(("fault", "how"), [(Kill(node("broker-1")), "killed"), (Stop(node("broker-1")), "controlled")])
def test_a_node_that_went_is_witnessed_and_started_again(stage: Stage, fault: Kill | Stop, how: str) -> None:
    """Kill and Stop take the node down in their own way, are witnessed by its absence, and start it again."""
    with inject(stage.scene, fault):
        assert not stage.cluster.node("broker-1").alive

    assert stage.cluster.node("broker-1").alive
    assert [event.data["how"] for event in stage.of(EventKind.NODE_STOPPED)] == [how]
    (witnessed,) = stage.of(EventKind.FAULT_WITNESSED)
    assert "broker-1" in str(witnessed.data["witness"])
    assert not stage.of(EventKind.FAULT_NOT_WITNESSED)


@pytest.mark.parametrize("fault", [Kill(node("broker-1")), Stop(node("broker-1"))], ids=str)
def test_who_was_down_already_is_no_witness(stage: Stage, fault: Kill | Stop) -> None:
    """A fault that met no process took nothing away, so nothing that holds under it proves anything."""
    stage.cluster.node("broker-1").kill()
    with inject(stage.scene, fault):
        pass
    (unmet,) = stage.of(EventKind.FAULT_NOT_WITNESSED)
    assert unmet.data["witness"] == "the process, which lived until then, gone"


def test_a_node_that_the_test_started_is_not_started_twice(stage: Stage) -> None:
    """Healing a kill leaves alone a node that is up already, as after a roll; it was seen to be gone."""
    with inject(stage.scene, Kill(node("broker-1"))):
        stage.cluster.node("broker-1").start()
    assert stage.cluster.node("broker-1").incarnation == 2
    assert stage.of(EventKind.FAULT_WITNESSED)


@pytest.mark.parametrize("is_gone", [True, False], ids=["gone", "one goes on"])
@pytest.mark.parametrize("fault", [Kill(every(Role.BROKER)), Stop(every(Role.BROKER))], ids=str)
def test_of_several_nodes_each_was_gone_at_some_time(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, fault: Kill | Stop, *, is_gone: bool
) -> None:
    """A roll may start the first again while the last is waited for; one that never ends is no witness."""
    first, *_, last = stage.cluster.nodes(Role.BROKER)
    end = last.stop if isinstance(fault, Stop) else last.kill

    def ended_later() -> None:
        first.start()
        if is_gone:
            end()

    monkeypatch.setattr(last, "stop" if isinstance(fault, Stop) else "kill", ended_later)
    with inject(stage.scene, fault):
        assert first.alive
    assert bool(stage.of(EventKind.FAULT_WITNESSED)) is is_gone


def test_a_paused_node_is_witnessed_by_its_process_state(stage: Stage) -> None:
    """Pause keeps the process, is witnessed by the kernel's state of it, and resumes it."""
    with inject(stage.scene, Pause(node("broker-0"))):
        assert stage.cluster.node("broker-0").stands_still
    assert not stage.cluster.node("broker-0").stands_still
    assert stage.cluster.node("broker-0").incarnation == 1
    assert stage.of(EventKind.FAULT_WITNESSED)


@pytest.mark.parametrize("without_effect", ["goes on", "has ended"])
def test_a_pause_without_effect_is_not_witnessed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, without_effect: str
) -> None:
    """A process that goes on under Pause, or ends, gives fault-not-witnessed, which says what was looked for."""
    broker = stage.cluster.node("broker-0")
    monkeypatch.setattr(broker, "pause", broker.kill if without_effect == "has ended" else lambda: None)
    with inject(stage.scene, Pause(node("broker-0"))):
        pass
    (without,) = stage.of(EventKind.FAULT_NOT_WITNESSED)
    assert "state T" in str(without.data["witness"])


@pytest.mark.parametrize("fault", [Kill(node("broker-1")), Stop(node("broker-1"))], ids=str)
def test_heals_also_when_the_test_body_raises(stage: Stage, fault: Kill | Stop) -> None:
    """An error inside the block comes out of it, and the node is up again."""
    with pytest.raises(ZeroDivisionError), inject(stage.scene, fault):
        raise ZeroDivisionError
    assert stage.cluster.node("broker-1").alive
    assert stage.of(EventKind.FAULT_HEALED)


def test_targets_are_resolved_when_the_fault_begins(stage: Stage) -> None:
    """The same fault value hits the node that is the active controller at that moment, and the choice is recorded."""
    fault = Kill(active_controller())
    for chosen in ("controller-3001", "controller-3002"):
        stage.view.controller = chosen
        with inject(stage.scene, fault) as injection:
            assert injection.targets == (chosen,)
    assert [event.data["targets"] for event in stage.of(EventKind.FAULT_APPLIED)] == [
        ["controller-3001"],
        ["controller-3002"],
    ]


def test_every_node_of_a_role_is_hit_at_once(stage: Stage) -> None:
    """A target may mean several nodes; all are down inside the block, all up after it."""
    brokers = stage.cluster.nodes(Role.BROKER)
    with inject(stage.scene, Kill(every(Role.BROKER))):
        assert not any(broker.alive for broker in brokers)
    assert all(broker.alive for broker in brokers)


@dataclass
class PlayedMember:
    """A member of a group that does what it must."""

    name: str = "KC-1"
    alive: bool = True
    stands_still: bool = False

    def kill(self) -> None:
        """Gone."""
        self.alive = False

    def pause(self) -> None:
        """Stand still."""
        self.stands_still = True

    def resume(self) -> None:
        """Go on."""
        self.stands_still = False

    def start(self) -> None:
        """Live again."""
        self.alive = True


def test_members_of_a_group_are_hit_as_nodes_are(stage: Stage) -> None:
    """By name, or as the owner of a partition; a killed one is started again."""
    one = PlayedMember()
    scene = replace(stage.scene, members={"KC-1": one})
    with inject(scene, Kill(member("KC-1"))):
        assert not one.alive
    assert one.alive
    stage.recorder.record(MemberOwns("KC-1", 7, [["orders", 0, 5]], "kafka", 0))
    with inject(scene, Pause(owner_of("orders", 0))):
        assert one.stands_still
    assert not one.stands_still
    witnessed = [str(event.data["witness"]) for event in stage.of(EventKind.FAULT_WITNESSED)]
    assert witnessed == ["KC-1: process gone, killed by signal 9", "KC-1: process in state T"]


def test_a_member_that_was_never_started_is_wrong_use(stage: Stage) -> None:
    """The error names those there are."""
    scene = replace(stage.scene, members={"KC-1": PlayedMember()})
    fault = inject(scene, Kill(member("KC-2")))
    with pytest.raises(WrongUseError, match=r"targets.member: expected .* \(KC-1\); got 'KC-2'"), fault:
        pass
