"""The recorder of a cluster that several runs use in turn."""

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.nodes import NodeDied, NodeReady, NodeReconfigured, NodeStarted, NodeStopped
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.providers.bench import MemoryRecorder
from pytest_kmigrate.recording.relay import Relay

STARTED = NodeStarted(Role.BROKER, BrokerMode.KRAFT, 4, "3.9.1", 2)


def test_events_go_to_the_run_of_the_moment() -> None:
    """Between two runs they are missed, and no run's evidence."""
    relay, first, second = Relay(), MemoryRecorder(), MemoryRecorder()
    relay.begin(first)
    relay.record(STARTED, "broker-0")
    assert relay.events == first.events
    relay.end()
    relay.record(NodeDied(1, "out of memory"), "broker-0")
    assert [event.kind for event in relay.missed] == [EventKind.NODE_DIED]
    relay.begin(second)
    assert relay.missed == []
    relay.record(STARTED, "broker-1")
    assert first.kinds() == [EventKind.NODE_STARTED]
    assert second.kinds() == [EventKind.NODE_STARTED]


def test_a_new_run_hears_of_the_nodes_that_run_already() -> None:
    """As they are now: with all that was reconfigured, and their last start; those that are down are not there."""
    relay, later = Relay(), MemoryRecorder()
    relay.begin(MemoryRecorder())
    relay.record(NodeReconfigured({"a": "1", "b": "1"}, BrokerMode.ZOOKEEPER), "broker-0")
    relay.record(NodeStarted(Role.BROKER, BrokerMode.ZOOKEEPER, 3, "3.9.1", 1), "broker-0")
    relay.record(NodeReady(5), "broker-0")
    relay.record(NodeStopped("controlled", 0, 1, ""), "broker-0")
    relay.record(NodeReconfigured({"b": None}, BrokerMode.KRAFT), "broker-0")
    for node in ("broker-0", "broker-1"):
        relay.record(STARTED, node)
        relay.record(NodeReady(7), node)
    relay.record(NodeStopped("killed", -9, 1, ""), "broker-1")
    relay.end()
    relay.begin(later)
    assert [(event.kind, event.node) for event in later.events] == [
        (EventKind.NODE_RECONFIGURED, "broker-0"),
        (EventKind.NODE_STARTED, "broker-0"),
        (EventKind.NODE_READY, "broker-0"),
    ]
    assert later.events[0].data == {"changed": {"a": "1", "b": None}, "mode": BrokerMode.KRAFT, "inherited": True}
    assert [event.data["incarnation"] for event in later.of(EventKind.NODE_STARTED)] == [2]
    assert all(event.data["inherited"] for event in later.events)
