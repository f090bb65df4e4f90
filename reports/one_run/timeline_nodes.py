"""Lanes of the timeline about nodes: up (by mode), paused or down; kills and deaths marked."""

from collections.abc import Iterable

from pytest_kmigrate.model.event import Event, EventKind, Recorded, is_a
from pytest_kmigrate.model.events.nodes import NodeDied, NodeStarted, NodeStopped, NodeWiped
from pytest_kmigrate.reports.one_run.run_evidence import RunEvidence, event_text
from pytest_kmigrate.reports.one_run.timeline_lanes import Band, Lane, Mark, clock, ms, node_style

_NODE_EVENTS = {
    EventKind.NODE_STARTED: "starting",
    EventKind.NODE_READY: "up",
    EventKind.NODE_RESUMED: "up",
    EventKind.NODE_PAUSED: "paused",
    EventKind.NODE_STOPPED: "down",
    EventKind.NODE_DIED: "down",
}


def node_lanes(evidence: RunEvidence) -> list[Lane]:
    """One lane per node: up (by mode), paused or down; kills and deaths marked."""
    return [_node_lane(evidence, node) for node in evidence.nodes]


def _node_lane(evidence: RunEvidence, node: str) -> Lane:
    events = [event for event in evidence.history.events if event.node == node]
    turns = [event for event in events if event.kind in _NODE_EVENTS]
    ends = [event.at_ns for event in turns[1:]] + [evidence.end_ns]
    bands, mode = [], "server"
    for event, end_ns in zip(turns, ends, strict=False):
        if is_a(event, NodeStarted):
            mode = _mode(event)
        state = _NODE_EVENTS[event.kind]
        reported = {"up": _MODES[mode], "starting": f"starting ({_MODES[mode]})"}.get(state, state)
        style = f"mode-{mode}" if state == "up" else f"{state} mode-{mode}" if state == "starting" else state
        tip = f"{node}: {reported} for {clock(end_ns - event.at_ns)}"
        bands.append(Band(ms(event.at_ns), ms(end_ns), style, reported, tip))
    marks, swatch = list(_node_marks(events)), node_style(evidence, node)
    return Lane(node, bands=bands, marks=marks, swatch=swatch, group="nodes", signs=_NODE_SIGNS)


_MODES = {
    "zookeeper": "ZooKeeper mode",
    "kraft": "KRaft mode",
    "combined": "KRaft broker and controller",
    "controller": "KRaft controller",
    "server": "ZooKeeper server",
}


def _mode(started: Recorded[NodeStarted]) -> str:
    role = started.what.role
    if role == "broker":
        return str(started.what.mode or "zookeeper")
    return str(role) if role in ("controller", "combined") else "server"


_NODE_SIGNS = {
    ("bad", "†"): "node died by itself",
    ("bad", "✖"): "node was killed",
    ("unsure", "⌫"): "disks of a node wiped",
}


def _node_marks(events: Iterable[Event]) -> Iterable[Mark]:
    for event in events:
        text = event_text(event)
        if is_a(event, NodeDied):
            yield Mark(ms(event.at_ns), "bad", "†", f"{event.node} died unasked\n{text}", f"event-{event.seq}")
        elif is_a(event, NodeStopped) and event.what.how in ("killed", "hung"):
            yield Mark(ms(event.at_ns), "bad", "✖", f"{event.node} was killed\n{text}", f"event-{event.seq}")
        elif is_a(event, NodeWiped):
            yield Mark(ms(event.at_ns), "unsure", "⌫", f"{event.node}: disks wiped", f"event-{event.seq}")
