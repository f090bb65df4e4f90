"""What a run of a provider with these capabilities always has: a stream that was taken away whole is missed."""

from collections.abc import Iterator, Mapping

from pytest_kmigrate.checkers.evidence.moments import targets_of
from pytest_kmigrate.documents import document
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.event import Event, EventKind, Recorded, is_a
from pytest_kmigrate.model.events.evidence import ChecksRequested, HarnessTrouble
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan, FaultWitnessed
from pytest_kmigrate.model.events.nodes import NodeReady, NodeStarted
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.recording.disagreement import Disagreement
from pytest_kmigrate.recording.run_folder import EVIDENCE

_OBSERVED_AFTER_NS = 5_000_000_000
"""A node that has been up so long was observed: of 798 on a busy machine the last one took 0.6 s."""
_ENDS = (EventKind.NODE_STOPPED, EventKind.NODE_DIED)


def streams_are_there(history: History) -> Iterator[Disagreement]:
    """Each node has a log, what was up has metrics, and ZooKeeper its znodes and its log."""
    if not is_whole(history):
        return
    offered = history.header.offered or frozenset[str]()
    started = {str(event.node): event for event in reversed(history.of(NodeStarted))}
    if Capability.LOGS in offered:
        logged = history.events[-1].log_bytes
        unlogged = (each for node, each in started.items() if node not in logged)
        yield from (_lacks(each, "its log is not in the last event") for each in unlogged)
    if Capability.METRICS in offered and document(history.header.profile).metrics:
        yield from _unobserved(history, started)
    with_zookeeper = next((each for each in started.values() if each.what.role == Role.ZOOKEEPER), None)
    if with_zookeeper is None:
        return
    watched = document(history.header.profile).watched_znodes
    if Capability.ZNODES in offered and watched and not history.znodes:
        yield _lacks(with_zookeeper, f"znodes has nothing of {', '.join(sorted(watched))}")
    wrote = any(each.is_ephemeral and each.mzxid > history.header.inherited_zxid for each in history.znodes)
    if Capability.ZOOKEEPER_LOG in offered and wrote and not history.transactions:
        yield _lacks(with_zookeeper, "zookeeper has no transaction of it")


def is_whole(history: History) -> bool:
    """Whether a run of this kind of evidence came to its checks and its end, and lost no part of the harness."""
    is_ended = bool(history.events) and history.events[-1].kind is EventKind.RUN_ENDED
    troubled = history.of(HarnessTrouble)
    return history.header.evidence >= EVIDENCE and is_ended and bool(history.of(ChecksRequested)) and not troubled


def _unobserved(history: History, started: Mapping[str, Recorded[NodeStarted]]) -> Iterator[Disagreement]:
    """Brokers and controllers that were up for long, and have no metrics."""
    sampled = {sample.node for sample in history.samples}
    over = history.of(ChecksRequested)[0].at_ns
    for ready in history.of(NodeReady):
        node = str(ready.node)
        ends = [each.at_ns for each in history.of(*_ENDS) if each.node == node and each.at_ns > ready.at_ns]
        up_ns = min([over, *ends]) - ready.at_ns
        is_kafka = node in started and started[node].what.role != Role.ZOOKEEPER
        if is_kafka and node not in sampled and up_ns > _OBSERVED_AFTER_NS:
            sampled.add(node)
            yield _lacks(ready, f"metrics has no sample of it in {up_ns / 1e9:.0f} s")


def kills_have_ends(history: History) -> Iterator[Disagreement]:
    """A node that a witnessed fault killed has stopped since, and one that starts again had stopped before."""
    if not is_whole(history) or Capability.START not in (history.header.offered or ()):
        return
    ends = history.of(*_ENDS)
    nodes = {str(event.node) for event in history.of(NodeStarted)}
    witnessed = {event.what.fault_id for event in history.of(FaultWitnessed)}
    began = {event.what.fault_id: event for event in history.of(FaultBegan)}
    for event in history.of(FaultApplied):
        fault = event.what.fault_id
        if fault not in witnessed or fault not in began or began[fault].what.effect != "kill":
            continue
        stopped = {each.node for each in ends if each.seq > began[fault].seq}
        for target in sorted((targets_of(event) & nodes) - stopped):
            yield Disagreement(f"event {event.seq} killed {target}, which was witnessed", "it never stopped")
    yield from _started_twice(history)


def _started_twice(history: History) -> Iterator[Disagreement]:
    up: dict[str | None, Event] = {}
    for event in history.of(EventKind.NODE_STARTED, *_ENDS):
        before = up.pop(event.node, None)
        if not is_a(event, NodeStarted):
            continue
        if before is not None:
            yield Disagreement(
                f"event {before.seq} starts {event.node}", f"event {event.seq} starts it again, and it never stopped"
            )
        up[event.node] = event


def _lacks(event: Event, what: str) -> Disagreement:
    return Disagreement(f"event {event.seq} is {event.kind} of {event.node}", what)
