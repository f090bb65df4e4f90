"""Facts about faults of links: which links, which way, what shows that they bit, and that leaving heals."""

import pytest

from pytest_kmigrate.faults.effect import Fault
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.links import Cut, Isolate, Partition, Refuse, Reset, Slice, Slow, Throttle, _BetweenTwo
from pytest_kmigrate.faults.targets import active_controller, every, node
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.links import Disturbance, Stream
from pytest_kmigrate.model.topology import Role
from tests.unit.fakes import Stage

ONE, TWO = node("broker-1"), node("broker-2")


def ways(stage: Stage) -> set[tuple[str, str]]:
    """The links disturbed now, as pairs of nodes."""
    return {(link.source, link.destination) for link in stage.cluster.links.disturbed()}


@pytest.mark.parametrize(
    ("fault", "disturbance"),
    [
        (Cut(ONE, TWO), Disturbance("cut")),
        (Refuse(ONE, TWO), Disturbance("refuse")),
        (Reset(ONE, TWO, Stream.BACK), Disturbance("reset", Stream.BACK)),
        (Slow(ONE, TWO, latency_ms=70), Disturbance("slow", Stream.BOTH, {"latency_ms": 70, "jitter_ms": 0})),
        (Throttle(ONE, TWO, rate_kb_per_s=5), Disturbance("throttle", Stream.BOTH, {"rate_kb_per_s": 5})),
        (
            Slice(ONE, TWO, Stream.FORWARD, average_bytes=3, delay_us=9),
            Disturbance("slice", Stream.FORWARD, {"average_bytes": 3, "delay_us": 9}),
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, Disturbance) else type(value).__name__,
)
def test_each_effect_is_one_disturbance_with_its_numbers(stage: Stage, fault: Fault, disturbance: Disturbance) -> None:
    """Every effect reaches the links as the disturbance it means, on the one link it means, and is healed."""
    with inject(stage.scene, fault):
        assert ways(stage) == {("broker-1", "broker-2")}
    assert [each for _, each in stage.cluster.links.done] == [disturbance]
    assert ways(stage) == set()
    assert stage.of(EventKind.FAULT_WITNESSED)


def test_both_ways_also_disturbs_the_links_dialled_the_other_way_round(stage: Stage) -> None:
    """``both_ways`` takes both directions of dialling between the two targets."""
    with inject(stage.scene, Cut(ONE, TWO, both_ways=True)):
        assert ways(stage) == {("broker-1", "broker-2"), ("broker-2", "broker-1")}


def test_isolate_cuts_a_node_from_everybody_but_its_clients(stage: Stage) -> None:
    """Without more, every link of the node to and from other nodes is cut, and no other."""
    stage.view.controller = "controller-3000"
    everyone = {each.name for each in stage.cluster.nodes()}
    with inject(stage.scene, Isolate(active_controller())) as injection:
        assert injection.targets == ("controller-3000",)
        assert {end for pair in ways(stage) for end in pair} == everyone
        assert all("controller-3000" in pair for pair in ways(stage))
    assert ways(stage) == set()


def test_isolate_can_spare_roles_and_take_clients(stage: Stage) -> None:
    """``from_roles`` limits whom the node is cut from; ``from_clients`` adds the clients."""
    with inject(stage.scene, Isolate(ONE, from_roles=(Role.BROKER,), from_clients=True)):
        found = ways(stage)
    assert found == {
        ("broker-0", "broker-1"),
        ("broker-1", "broker-0"),
        ("broker-1", "broker-2"),
        ("broker-2", "broker-1"),
        ("clients", "broker-1"),
    }


def test_partition_cuts_between_groups_only(stage: Stage) -> None:
    """Nodes of one group reach each other; a node named twice belongs to the first group."""
    with inject(stage.scene, Partition((node("broker-0"), every(Role.BROKER)))):
        assert ways(stage) == {
            (one, other)
            for pair in (("broker-0", "broker-1"), ("broker-0", "broker-2"))
            for one, other in (pair, pair[::-1])
        }


@pytest.mark.parametrize("fault", [Cut(ONE, TWO), Refuse(ONE, TWO), Isolate(ONE), Partition((ONE, TWO))], ids=str)
def test_a_link_nobody_uses_is_no_witness(stage: Stage, fault: Fault) -> None:
    """When no connection crosses the links, the fault did not bite: fault-not-witnessed."""
    stage.cluster.links.is_idle = True
    with inject(stage.scene, fault):
        pass
    assert stage.of(EventKind.FAULT_NOT_WITNESSED)
    assert not stage.of(EventKind.FAULT_WITNESSED)


@pytest.mark.parametrize(
    ("fault", "bit"),
    [(Cut(ONE, TWO), False), (Isolate(ONE), False), (Slow(ONE, TWO), False), (Refuse(ONE, TWO), True)],
    ids=str,
)
def test_a_connection_on_which_nothing_moves_is_no_witness(stage: Stage, fault: Fault, bit: bool) -> None:
    """What holds bytes back or delays them needs some; what severs needs a connection."""
    stage.cluster.links.sent_bytes = 0
    with inject(stage.scene, fault):
        pass
    assert bool(stage.of(EventKind.FAULT_WITNESSED)) == bit


@pytest.mark.parametrize(
    ("sent_bytes", "fault", "reported"),
    [
        (4312, Cut(ONE, TWO, both_ways=True), "8,624 bytes arrived on 2 of 2 links under cut"),
        (4312, Reset(ONE, TWO), "1 of 1 connections severed"),
        (None, Slow(ONE, TWO), "1 connections on 1 links under slow, whose bytes this kernel does not count"),
    ],
    ids=str,
)
def test_the_witness_says_what_it_saw(stage: Stage, sent_bytes: int | None, fault: Fault, reported: str) -> None:
    """Bytes and links, connections severed; or that only connections could be counted."""
    stage.cluster.links.sent_bytes = sent_bytes
    with inject(stage.scene, fault):
        pass
    (witnessed,) = stage.of(EventKind.FAULT_WITNESSED)
    assert witnessed.data["witness"] == reported


@pytest.mark.parametrize(
    ("fault", "dialled", "reported"),
    [
        (Reset(ONE, TWO), 3, ["3 connections severed as they were made"]),
        (Reset(ONE, TWO), 0, []),
        (Refuse(ONE, TWO), 3, []),
    ],
    ids=["reset", "none made", "those that are refused are not made"],
)
def test_connections_that_are_reset_as_they_are_made_are_a_witness(
    stage: Stage, fault: Fault, dialled: int, reported: list[str]
) -> None:
    """Where there was none before: none is ever there to be counted."""
    stage.cluster.links.is_idle = True
    with inject(stage.scene, fault):
        stage.cluster.links.dialled += dialled
    assert [each.data["witness"] for each in stage.of(EventKind.FAULT_WITNESSED)] == reported


def test_links_that_do_not_exist_are_no_witness(stage: Stage) -> None:
    """ZooKeeper never dials a broker: such a fault has no link, and says so by not being witnessed."""
    with inject(stage.scene, Cut(every(Role.ZOOKEEPER), every(Role.BROKER))):
        pass
    assert stage.of(EventKind.FAULT_NOT_WITNESSED)


@pytest.mark.parametrize("fault", [Cut(ONE, TWO), Isolate(ONE), Partition((ONE, TWO))], ids=str)
def test_heals_also_when_the_test_body_raises(stage: Stage, fault: Fault) -> None:
    """An error inside the block comes out of it, and no link is disturbed any more."""
    with pytest.raises(ZeroDivisionError), inject(stage.scene, fault):
        raise ZeroDivisionError
    assert ways(stage) == set()


def test_names_tell_effect_targets_and_way() -> None:
    """``str()`` reads as a report shall say it."""
    reported = [str(each) for each in (Cut(ONE, TWO), Slow(ONE, TWO, Stream.BACK), Reset(ONE, TWO, both_ways=True))]
    assert reported == ["cut(broker-1->broker-2)", "slow(broker-1->broker-2, back)", "reset(broker-1<->broker-2)"]
    assert str(Isolate(ONE, (Role.CONTROLLER,))) == "isolate(broker-1 from controller)"
    assert str(Partition((ONE, TWO))) == "partition(broker-1 | broker-2)"


def test_a_connection_has_no_half_to_refuse() -> None:
    """One way of it cannot be asked for, rather than being passed over."""
    with pytest.raises(TypeError, match="stream"):
        Refuse(ONE, TWO, stream=Stream.BACK)  # type: ignore[call-arg]  # that is what is tested


def test_an_effect_must_say_what_it_does_to_a_link() -> None:
    """One that forgot is no fault at all, before anything is disturbed."""

    class Forgetful(_BetweenTwo):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Forgetful(ONE, TWO)  # type: ignore[abstract]  # that is what is tested
