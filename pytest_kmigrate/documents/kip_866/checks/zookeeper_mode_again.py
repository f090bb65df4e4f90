"""Check of brokers on the way back: one that ran in KRaft mode starts again in ZooKeeper mode."""

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.event import Event, EventKind, Recorded, is_a
from pytest_kmigrate.model.events.nodes import NodeStarted, NodeWiped
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.topology import BrokerMode
from pytest_kmigrate.model.verdict import Kind, Verdict

_ROW = "K866-META-zk-accepts-after-rollback"
_READY_NS = 180_000_000_000
"""By then a broker is ready, on the slowest machine."""


@checker(_ROW, in_every_run=always, anomaly="no way back to ZooKeeper mode")
def brokers_start_in_zookeeper_mode_again(history: History) -> Verdict:
    """A broker that ran in KRaft mode and is started in ZooKeeper mode, on the same disks, becomes ready.

    One that dies instead violates, as does one that is not ready within 180 s; under a fault neither is judged.
    """
    rows = ByRequirement(_ROW)
    looked = 0
    last_ns = history.end_ns
    for started in _restarts(history):
        end = _first_after(history, started)
        ended_ns = end.at_ns if end else last_ns
        if end is not None and end.kind is EventKind.NODE_READY:
            rows.looked_at(_ROW)
            looked += 1
        elif faults_during(history, started.at_ns, ended_ns) or (end is None and ended_ns - started.at_ns < _READY_NS):
            continue
        elif end is None or end.kind is EventKind.NODE_DIED:
            became = "it died" if end else "it was not ready"
            observed = f"{became} {span(ended_ns - started.at_ns)} later"
            expected = f"{started.node} starts in ZooKeeper mode after it ran in KRaft mode"
            evidence = [f"event {started.seq}"] + ([f"event {end.seq}"] if end else [])
            violation = timed_violation(history, expected, observed, ended_ns, *evidence)
            rows.violated(_ROW, violation, Kind.LIVENESS)
    text = f"{counted(looked, 'start')} in ZooKeeper mode of brokers that had run in KRaft mode, all ready"
    return rows.verdict(text, "no broker that had run in KRaft mode was started in ZooKeeper mode")


def _restarts(history: History) -> list[Recorded[NodeStarted]]:
    """Starts in ZooKeeper mode of brokers that ran in KRaft mode before, with their disks kept."""
    ran_kraft, found = set[str](), []
    for event in history.of(NodeStarted, NodeWiped):
        node = str(event.node)
        if is_a(event, NodeWiped):
            ran_kraft.discard(node)
        elif is_a(event, NodeStarted) and event.what.mode is BrokerMode.KRAFT:
            ran_kraft.add(node)
        elif is_a(event, NodeStarted) and event.what.mode is BrokerMode.ZOOKEEPER and node in ran_kraft:
            found.append(event)
            ran_kraft.discard(node)
    return found


def _first_after(history: History, started: Event) -> Event | None:
    kinds = (EventKind.NODE_READY, EventKind.NODE_DIED, EventKind.NODE_STOPPED)
    later = (each for each in history.of(*kinds) if each.node == started.node and each.seq > started.seq)
    return next(later, None)
