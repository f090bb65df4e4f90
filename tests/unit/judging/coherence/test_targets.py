"""A fault hit the nodes that its text means, and no others."""

import pytest

from pytest_kmigrate.judging.coherence.targets import targets_are_meant
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, RunHeader

ROLES = {"broker-0": "broker", "broker-1": "broker", "controller-3000": "controller", "controller-3001": "controller"}


def run(fault: str, *hit: str) -> History:
    """A run in which this fault was applied to these nodes."""
    of = {"fault_id": "fault-1"}
    began = {"fault": fault, "effect": fault.partition("(")[0], "trigger": "now", **of}
    starts = [
        Event(place, 0, EventKind.NODE_STARTED, node, {"role": role, "mode": None, "pid": 1, "kafka": "3.9.1"})
        for place, (node, role) in enumerate(ROLES.items())
    ]
    events = (
        *starts,
        Event(7, 1, EventKind.FAULT_BEGAN, None, began),
        Event(8, 2, EventKind.FAULT_APPLIED, None, {"targets": list(hit), "began": 7, **of}),
    )
    return History(RunHeader("r", "t", 1, "3.9.1", "small"), events)


@pytest.mark.parametrize(
    ("fault", "hit", "is_found"),
    [
        ("kill(active-controller)", ["controller-3000"], False),
        ("kill(active-controller)", ["controller-3000", "broker-1"], True),
        ("kill(active-controller)", [], True),
        ("pause(broker-1)", ["broker-1"], False),
        ("pause(broker-1)", ["broker-0"], True),
        ("kill(leader-of(orders-0))", ["broker-0", "broker-1"], True),
        ("starve(every-broker, 20 %)", ["broker-0", "broker-1"], False),
        ("starve(every-broker, 20 %)", ["broker-0", "controller-3000"], True),
        ("isolate(quorum-leader from controller)", ["controller-3001"], False),
        ("isolate(quorum-leader and clients)", ["controller-3000", "controller-3001"], True),
        ("kill(a-member)", ["a-member"], False),
        ("cut(broker-0->broker-1, back)", ["broker-0", "broker-1"], False),
        ("partition(broker-0 | every-controller)", ["broker-0", "controller-3000"], False),
        ("hold(a controller at late-config)", ["controller-3000", "controller-3001"], False),
        ("tamper(/controller)", [], False),
    ],
)
def test_a_fault_hits_what_its_text_means(fault: str, hit: list[str], *, is_found: bool) -> None:
    """What happens to another node is not excused by it."""
    assert bool(list(targets_are_meant(run(fault, *hit)))) is is_found
