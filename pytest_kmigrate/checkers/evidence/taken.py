"""What faults take from nodes by design: a disk, or every other node. What follows from that is not Kafka's."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from pytest_kmigrate.checkers.evidence.moments import healed_ns, targets_of
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.faults import DISK, FaultApplied, FaultBegan
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.keeping import kept

Times = Mapping[str, Sequence[tuple[int, int]]]
"""By name of a node, from when to when, in nanoseconds."""

_ISOLATED = "isolate"
_ONLY_FROM = " from "
_OF_REPLICAS = ("broker", "combined", "clients")


@kept
def without_a_disk(history: History) -> Times:
    """When a fault had taken one of its disks from a node; to the end of the run where it was not healed."""
    return _in_force(history, lambda applied, _: applied.what.takes == DISK)


@kept
def cut_off(history: History) -> Times:
    """When a fault had cut a node off from all others, from the brokers, or from the clients."""
    return _in_force(
        history,
        lambda _, began: began is not None and began.what.effect == _ISOLATED and _is_from_replicas(began.what),
    )


def may_end(history: History, node: str | None, at_ns: int) -> bool:
    """Whether a fault was in force at an instant by which this node may end."""
    times = _in_force(history, lambda applied, _: applied.what.lets_nodes_end)
    return any(since <= at_ns < to for since, to in times.get(str(node), ()))


def ends_allowed(history: History, node: str | None) -> Sequence[tuple[int, int]]:
    """From when to when this node might end by a fault: from its beginning, as it bites before it is applied."""
    times = _in_force(history, lambda applied, _: applied.what.lets_nodes_end, from_its_beginning=True)
    return times.get(str(node), ())


def is_without_a_disk(history: History, node: str | None, at_ns: int) -> bool:
    """Whether a node lacked a disk at an instant, by a fault."""
    return any(since <= at_ns < to for since, to in without_a_disk(history).get(str(node), ()))


def _is_from_replicas(began: FaultBegan) -> bool:
    _, only, roles = began.fault.partition(_ONLY_FROM)
    return not only or any(each in roles for each in _OF_REPLICAS)


def _in_force(
    history: History,
    counts: Callable[[Recorded[FaultApplied], Recorded[FaultBegan] | None], bool],
    *,
    from_its_beginning: bool = False,
) -> Times:
    begun = {event.what.fault_id: event for event in history.of(FaultBegan)}
    healed = healed_ns(history)
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for applied in history.of(FaultApplied):
        fault = applied.what.fault_id
        began = begun.get(fault)
        if counts(applied, began):
            since_ns = began.at_ns if began and from_its_beginning else applied.at_ns
            for node in targets_of(applied):
                found[node].append((since_ns, healed.get(fault, history.end_ns + 1)))
    return dict(found)
