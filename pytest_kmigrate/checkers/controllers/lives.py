"""Lives: the times between which a cluster's metadata log is one and the same; a revert begins a new one."""

from bisect import bisect_right

from pytest_kmigrate.model.event import is_a
from pytest_kmigrate.model.events.nodes import NodeStarted, NodeWiped
from pytest_kmigrate.model.events.steps import ActiveControllerChanged, StepEnded
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.topology import Role

DEPROVISIONING = "deprovision-controllers"
"""The step of a revert that takes the controllers and their log away."""


@kept
def life_starts_ns(history: History) -> list[int]:
    """When each life after the first began.

    That is when the step that deprovisions the controllers was done, or when the last of all controllers was wiped
    while the others lay wiped too: one wiped controller among three gets the same log back from the others.
    """
    known, empty, starts = set[str](), set[str](), list[int]()
    for event in history.events:
        if is_a(event, StepEnded):
            if event.what.step == DEPROVISIONING and event.what.outcome == "done":
                starts.append(event.at_ns)
        elif event.node is not None and is_a(event, NodeStarted):
            empty.discard(event.node)
            known |= {event.node} if plays(event.what.role, Role.CONTROLLER) else set()
        elif is_a(event, NodeWiped) and event.node in known:
            empty.add(event.node)
            starts += [event.at_ns] if empty == known else []
    return starts


def life_at(starts_ns: list[int], at_ns: int) -> int:
    """The number of the life at an instant, from 0."""
    return bisect_right(starts_ns, at_ns)


@kept
def roles(history: History) -> dict[str, str]:
    """Every started node's role."""
    return {str(event.node): event.what.role for event in history.of(NodeStarted)}


@kept
def controller_ids(history: History) -> frozenset[int]:
    """The ids of the nodes that started as KRaft controllers, and as nothing else."""
    of_controllers = (node for node, role in roles(history).items() if role == Role.CONTROLLER)
    return frozenset(int(node.rpartition("-")[2]) for node in of_controllers)


def plays(own: object, role: str) -> bool:
    """Whether a node that started as ``own`` plays a role; a combined node plays broker and controller."""
    return own == role or (own == Role.COMBINED and role in Role.COMBINED.parts)


@kept
def processes(history: History, role: str) -> list[list[Sample]]:
    """The samples of each process that a node with this role had, in the order in which they were taken."""
    by_role, starts = roles(history), dict[str, list[int]]()
    for event in history.of(NodeStarted):
        starts.setdefault(str(event.node), []).append(event.at_ns)
    found: dict[tuple[str, int], list[Sample]] = {}
    for sample in history.samples:
        if plays(by_role.get(sample.node), role):
            found.setdefault((sample.node, bisect_right(starts[sample.node], sample.at_ns)), []).append(sample)
    return [sorted(samples, key=lambda each: each.at_ns) for samples in found.values()]


def active_at(history: History, at_ns: int) -> str:
    """The node that was last seen to become the active controller before ``at_ns``; empty if none was."""
    seen = [each for each in history.of(ActiveControllerChanged) if each.at_ns <= at_ns]
    return str(seen[-1].node) if seen else ""
