"""Facts about faults as data: each can be spelled, and comes back as it was."""

import dataclasses
import itertools

import pytest

from pytest_kmigrate.faults.links import Cut, Isolate, Partition
from pytest_kmigrate.faults.processes import Kill
from pytest_kmigrate.faults.schedules.spelling import Mistake, fault_of, keys_of, kinds, spelled, target_of
from pytest_kmigrate.faults.targets import Target, active_controller, every, node, partition_leader
from pytest_kmigrate.model.links import Stream
from pytest_kmigrate.model.protocols import CrashPoint
from pytest_kmigrate.model.topology import Role

POINT = CrashPoint("late-config", "a.Class", "method")
NODES = frozenset({"broker-0", "controller-3000"})
_EXAMPLES = {
    Target: ("active-controller", "every-zookeeper", "leader-of(orders-0)", "broker-0"),
    tuple[Target, ...]: (["broker-0", "controller-3000"],),
    tuple[Role, ...]: (["broker"],),
    Stream: ("back",),
    CrashPoint: ("late-config",),
    Role: ("broker",),
    bool: (True,),
    int: (7,),
    str: ("/controller",),
}


@pytest.mark.parametrize("kind", kinds())
def test_every_fault_comes_back_as_it_was_spelled(kind: str) -> None:
    """By each of its keys, and with each kind of value; what is as by default is not written."""
    keys = dict(keys_of(kinds()[kind]))
    for values in itertools.product(*(_EXAMPLES[hint] for hint in keys.values())):
        data = {"kind": kind, **dict(zip((each.name for each in keys), values, strict=True))}
        mistakes: list[Mistake] = []
        fault = fault_of("fault", data, NODES, mistakes, [POINT])
        assert mistakes == []
        assert fault is not None
        assert spelled(fault) == data


def test_what_is_as_by_default_is_left_out() -> None:
    """Two spellings of one fault would be two schedules."""
    assert spelled(Kill(node("broker-0"))) == {"kind": "kill", "target": "broker-0"}
    assert spelled(Cut(active_controller(), every(Role.ZOOKEEPER), Stream.BACK)) == {
        "kind": "cut",
        "source": "active-controller",
        "destination": "every-zookeeper",
        "stream": "back",
    }
    assert spelled(Partition((node("broker-0"), partition_leader("orders")))) == {
        "kind": "partition",
        "groups": ["broker-0", "leader-of(orders-0)"],
    }
    assert dataclasses.fields(Isolate)[1].name not in spelled(Isolate(node("broker-0")))


_SLOW = {"kind": "slow", "source": "broker-0", "destination": "broker-0"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("kill", "fault: expected a fault, such as {kind: kill, target: random-broker}; got 'kill'"),
        (
            {"kind": "kil", "target": "broker-0"},
            "fault.kind: expected one of kill, .*; got 'kil'; did you mean \"kill\"?",
        ),
        ({"kind": "hold", "point": "late-confg"}, 'fault.point: expected a crash point .*did you mean "late-config"'),
        ({"kind": "kill"}, "fault.target: expected, as kill has no default for it; got none"),
        ({"kind": "kill", "target": "broker-9"}, 'fault.target: expected a target .*; did you mean "broker-0"?'),
        ({"kind": "kill", "target": ["broker-0"]}, "fault.target: expected a target"),
        (
            {"kind": "kill", "target": "broker-0", "signal": 9},
            "fault.signal: expected no such key: kill has target",
        ),
        ({"kind": "cut", "source": "broker-0", "destination": "broker-0", "stream": "bak"}, 'did you mean "back"'),
        (
            {**_SLOW, "latency_ms": "1"},
            "latency_ms: expected a whole",
        ),
        (
            {**_SLOW, "latency_ms": -1},
            "latency_ms: expected a whole",
        ),
        (
            {**_SLOW, "both_ways": 1},
            "both_ways: expected true or",
        ),
        ({"kind": "partition", "groups": "broker-0"}, "groups: expected a list"),
        (
            {"kind": "isolate", "target": "broker-0", "from_roles": ["brocker"]},
            'from_roles.0.: .*did you mean "broker"',
        ),
    ],
)
def test_a_mistake_names_key_and_what_was_expected(data: object, words: str) -> None:
    """One sentence each, with the nearest word where one is near."""
    mistakes: list[Mistake] = []
    assert fault_of("fault", data, NODES, mistakes, [POINT]) is None
    assert len(mistakes) == 1
    with pytest.raises(AssertionError, match=words.replace("?", r"\?").replace("(", r"\(")):
        raise AssertionError(str(mistakes[0]))


@pytest.mark.parametrize("name", ["active-controller", "every-broker", "leader-of(my.topic-1-3)", "owner-of(orders-0)"])
def test_a_target_is_called_as_reports_call_it(name: str) -> None:
    """So a line can be written from what a run has recorded."""
    assert str(target_of("target", name, NODES, [])) == name
