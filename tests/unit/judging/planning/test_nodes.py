"""A run has the nodes of its topology, in their roles, with the software that the topology has for them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.judging.planning.nodes import other_nodes
from pytest_kmigrate.judging.planning.plan import plan
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import RunHeader

PLANNED = next(each for each in plan("kip-866").tests.values() if each.topology == "zk1-broker3-controller3")
OWN, ELSE_JARS = "ab" * 32, "cd" * 32
HEADER = RunHeader("r", PLANNED.test, 1, "3.9.1", PLANNED.topology, extra={"distribution_digests": {"3.9.1": OWN}})
ROLES = {"zookeeper-1": "zookeeper"} | {f"broker-{number}": "broker" for number in range(3)}


def started(node: str, role: str = "", kafka: str = "3.9.1", digest: str | None = OWN) -> Event:
    """A start of a node."""
    role = role or ROLES.get(node, "controller")
    data = {"role": role, "mode": None, "pid": 1, "kafka": kafka, "incarnation": 1, "digest": digest}
    return Event(0, 0, EventKind.NODE_STARTED, node, data)


def installed(node: str) -> Event:
    """Another Kafka is put under a node."""
    return Event(0, 0, EventKind.NODE_INSTALLED, node, {"kafka": "/opt/x", "version": "3.9.1", "digest": ELSE_JARS})


ALL = tuple(started(node) for node in ROLES)
ELSE = started("broker-0", digest=ELSE_JARS)


@pytest.mark.parametrize(
    ("events", "named"),
    [
        (ALL, ""),
        ((*ALL, started("controller-3000")), ""),
        (ALL[1:], "has zookeeper-1 from the begin, but no event starts it"),
        ((*ALL, started("broker-7", "broker")), "has no broker-7, but an event starts it"),
        ((*ALL, started("controller-3000", "broker")), "has controller-3000 as controller, but event 0 starts it as"),
        (
            (*ALL, ELSE),
            f"under test, for broker-0, but event 0 starts it with Kafka 3.9.1 and jars of {ELSE_JARS[:12]}",
        ),
        (
            (*ALL, started("broker-0", digest=None)),
            "but event 0 starts it with Kafka 3.9.1 and jars of no",
        ),
        ((*ALL, installed("broker-0"), ELSE), ""),
    ],
)
def test_nodes_are_those_of_the_topology(events: Sequence[Event], named: str) -> None:
    """One disagreement for each node that is not."""
    found = [str(each) for each in other_nodes(HEADER, events, PLANNED)]
    assert len(found) == bool(named)
    assert named in "".join(found)


def test_nodes_of_somebody_else_run_what_they_run() -> None:
    """Their jars are not known, and no run on them counts."""
    assert not list(other_nodes(replace(HEADER, provider="attach"), ALL[1:], PLANNED))


def test_a_topology_that_the_kafka_cannot_run_is_named_elsewhere() -> None:
    """Its nodes are not known."""
    name = "/opt/acme"
    header = replace(HEADER, kafka="4.3.0", extra={"distribution_digests": {name: OWN}})
    assert not list(other_nodes(header, ALL, PLANNED))
