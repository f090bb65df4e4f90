"""Check of clients that do not know the field by which a node reports that it is ready to migrate."""

from collections.abc import Iterator
from itertools import pairwise

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import EventKind, is_a
from pytest_kmigrate.model.events.nodes import NodeStarted, RequestsReported
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.model.verdict import Kind, Verdict

_IGNORED = "K866-RPC-ApiVersions-client-ignores"
_ANSWERED_NS = 60_000_000_000
"""A client that can read the answers of brokers has had a record acknowledged by then."""
_EDGES = (
    EventKind.NODE_STARTED,
    EventKind.NODE_REQUESTS,
    EventKind.NODE_STOPPED,
    EventKind.NODE_DIED,
    EventKind.NODE_PAUSED,
    EventKind.NODE_RESUMED,
)


def _is_reported(history: History) -> bool:
    return any(event.what.is_ready_to_migrate is True for event in history.of(RequestsReported))


@checker(
    _IGNORED,
    in_every_run=_is_reported,
    anomaly="clients that cannot read a new field",
    needs=[Capability.REQUESTS],
)
def clients_read_the_answers_of_ready_brokers(history: History) -> Verdict:
    """Records are acknowledged while every broker that runs reports that it is ready to migrate.

    The clients are of librdkafka, which does not know the field, and have connected anew, because brokers were
    restarted to report it. Under a fault nothing is judged.
    """
    rows = ByRequirement(_IGNORED)
    sends = history.operations.of(OperationKind.PRODUCE)
    times = list(_times(history))
    for from_ns, to_ns in times:
        sent = sends.where((sends.began_ns >= from_ns) & (sends.ended_ns <= to_ns))
        if (sent.outcome == OperationOutcome.OK).any():
            rows.looked_at(_IGNORED)
        elif len(sent) and to_ns - from_ns >= _ANSWERED_NS and not faults_during(history, from_ns, to_ns):
            expected = f"a record is acknowledged within {span(_ANSWERED_NS)} by brokers that report readiness"
            observed = f"none of {counted(len(sent), 'record')} was for {span(to_ns - from_ns)}"
            violation = timed_violation(history, expected, observed, to_ns, awaited=(from_ns, to_ns))
            rows.violated(_IGNORED, violation, Kind.LIVENESS)
    text = f"records acknowledged by brokers that all report readiness, at {counted(len(times), 'time')}"
    return rows.verdict(text, "no record was sent while every broker reported readiness")


def _times(history: History) -> Iterator[tuple[int, int]]:
    """When every broker that ran had reported readiness at its start: from, to."""
    last_ns = history.end_ns
    ready: dict[str, bool] = {}
    for event, following in pairwise([*history.of(*_EDGES), None]):
        assert event is not None, "only the last one is followed by none"
        if is_a(event, RequestsReported):
            ready[str(event.node)] = event.what.is_ready_to_migrate is True
        elif is_a(event, NodeStarted):
            ready[str(event.node)] = False
        running = [broker.name for broker in brokers_at(history, event.at_ns) if broker.away_ns is None]
        if running and all(ready.get(name) for name in running):
            yield event.at_ns, following.at_ns if following else last_ns
