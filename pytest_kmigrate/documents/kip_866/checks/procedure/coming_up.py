"""Brokers that are started in dual write: whether each comes up, and is in sync again where it was before."""

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.expected_ends import is_expected_end, is_while_an_end_is_expected
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_begun_of, phase_at, targets_of, took_ns
from pytest_kmigrate.checkers.evidence.replicas import is_in_sync_again, never_in_sync
from pytest_kmigrate.checkers.evidence.wording import listed, span
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.leading import leading
from pytest_kmigrate.documents.kip_866.checks.settled import DUAL_WRITE, is_inherited
from pytest_kmigrate.model.event import Event, EventKind, is_a
from pytest_kmigrate.model.events.faults import FaultApplied
from pytest_kmigrate.model.events.nodes import NodeDied, NodeReady, NodeStarted, NodeStopped
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind

_UP_NS = 90_000_000_000
"""By then a broker that was started is ready, and then its replicas are in sync: each takes some seconds."""
_OF_ONE_NODE = ("kill", "stop")
"""Faults that end when their node is started."""
_CHANGES = (EventKind.NODE_STARTED, EventKind.NODE_STOPPED, EventKind.NODE_DIED, EventKind.NODE_PAUSED)


@dataclass(frozen=True)
class Start:
    """A start of a broker that had run before, in this run or on its cluster before, while the others are up."""

    event: Event
    how: str
    """Such as ``in KRaft mode beside the others``."""
    mode: str
    is_of_the_run: bool
    """Whether it had run before in this run; else it is only asked for being ready."""

    @property
    def node(self) -> str:
        """The broker."""
        return str(self.event.node)


def starts(history: History, how: str, mode: str) -> list[Start]:
    """Those in one mode of brokers that were in ZooKeeper mode before; in ZooKeeper mode only those in dual write."""
    return [Start(event, how, mode, is_of_the_run) for event, is_of_the_run in _starts(history, mode)]


def _starts(history: History, mode: str) -> Iterator[tuple[Event, bool]]:
    for event in history.of(NodeStarted):
        now = brokers_at(history, event.at_ns)
        others = [each for each in now if each.name != event.node]
        ran = [e for e in history.of(NodeStarted) if e.node == event.node and e.seq < event.seq]
        was_in_zookeeper_mode = ran[-1].what.mode == "zookeeper" if ran else is_inherited(history)
        are_up = bool(others) and all(each.away_ns is None for each in others)
        is_ours = mode == "kraft" or (
            phase_at(history, event.at_ns) in DUAL_WRITE
            and any(each.name == event.node and each.is_migrating for each in now)
        )
        if event.what.mode == mode and was_in_zookeeper_mode and are_up and is_ours:
            yield event, bool(ran)


def judge_start(history: History, rows: ByRequirement, row: str, start: Start) -> None:
    """Judge a requirement by whether a broker is ready after a start, and in sync again; nothing under another fault.

    One in ZooKeeper mode is ready by itself, so that only one that was out of sync, and is in sync again, conforms.
    """
    later = history.of(NodeReady, NodeDied, NodeStopped)
    end = next((each for each in later if each.node == start.node and each.seq > start.event.seq), None)
    last_ns = history.end_ns if end is None else end.at_ns
    if _is_disturbed(history, start, start.event.at_ns, last_ns) or _is_expected(history, start, end):
        return
    if end is not None and is_a(end, NodeReady):
        if not start.is_of_the_run:
            return
        rows.looked_at(row, start.mode == "kraft" or is_in_sync_again(history, _id(start), end.at_ns))
        _judge_replicas(history, rows, row, start, end)
    elif end is not None and is_a(end, NodeDied) and start.is_of_the_run:
        observed = f"it died {span(last_ns - start.event.at_ns)} later"
        evidence = (_event(start.event), _event(end))
        rows.violated(row, timed_violation(history, _expected(start), observed, last_ns, *evidence))
    elif _is_led(history, start, last_ns):
        observed, awaited = f"it was not ready {span(last_ns - start.event.at_ns)} later", (start.event.at_ns, last_ns)
        late = timed_violation(history, _expected(start), observed, last_ns, _event(start.event), awaited=awaited)
        rows.violated(row, late, Kind.LIVENESS)


def _is_led(history: History, start: Start, last_ns: int) -> bool:
    """Whether one controller had led for so long when the broker had had as long: it needs one to come up."""
    return any(
        start.event.at_ns + _UP_NS <= sample.at_ns <= last_ns and sample.at_ns - since_ns >= _UP_NS
        for sample, since_ns in leading(history)
    )


def _is_disturbed(history: History, start: Start, from_ns: int, to_ns: int) -> bool:
    """Whether a fault was in force, other than the one that had ended this broker, and ends with its start."""
    targets = {event.what.fault_id: targets_of(event) for event in history.of(FaultApplied)}
    return any(
        began.what.effect not in _OF_ONE_NODE
        or began.at_ns >= start.event.at_ns
        or targets.get(began.what.fault_id) != {start.node}
        for began in faults_begun_of(history, from_ns, to_ns)
    )


def _is_expected(history: History, start: Start, end: Event | None) -> bool:
    is_refused = is_while_an_end_is_expected(history, start.event)
    return is_refused or (end is not None and is_a(end, NodeDied) and is_expected_end(history, end))


def _judge_replicas(history: History, rows: ByRequirement, row: str, start: Start, ready: Event) -> None:
    """Whether a broker is in sync again, if dual write goes on and nothing else has happened for so long."""
    until_ns = ready.at_ns + _UP_NS
    is_dual_write = phase_at(history, ready.at_ns) in DUAL_WRITE and phase_at(history, until_ns) in DUAL_WRITE
    is_quiet = not any(ready.at_ns < each.at_ns <= until_ns for each in history.of(*_CHANGES))
    is_judged = is_quiet and is_dual_write and until_ns <= history.end_ns
    if not is_judged or _is_disturbed(history, start, ready.at_ns, until_ns):
        return
    stops = [e for e in history.of(NodeStopped, NodeDied) if e.node == start.node and e.seq < start.event.seq]
    before_ns = stops[-1].at_ns - took_ns(stops[-1]) if stops else start.event.at_ns
    if out := never_in_sync(history, _id(start), before_ns, ready.at_ns, until_ns):
        observed = f"it is out of sync for {span(_UP_NS)}, in {listed(out, 'partition')}"
        expected, awaited = f"{_expected(start)}, and is in sync again", (ready.at_ns, until_ns)
        stays = timed_violation(history, expected, observed, until_ns, _event(ready), awaited=awaited)
        rows.violated(row, stays, Kind.LIVENESS)


def _id(start: Start) -> int:
    return int(start.node.rpartition("-")[2])


def _expected(start: Start) -> str:
    return f"{start.node} comes up {start.how}"


def _event(event: Event) -> str:
    return f"event {event.seq}"
