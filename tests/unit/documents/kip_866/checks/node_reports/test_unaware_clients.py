"""Check of clients that do not know the field of readiness."""

import pytest

from pytest_kmigrate.documents.kip_866.checks.nodes.unaware_clients import clients_read_the_answers_of_ready_brokers
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import MS, Row, event, fault, history, sent, unsure
from tests.unit.documents.kip_866.checks.nodes import migrating, stopped
from tests.unit.documents.kip_866.checks.outcomes import looked_at


def joined(at_ms: int, number: int, *, ready: bool = True) -> list[Event]:
    """A broker was restarted in migration mode, and reported whether it is ready to migrate."""
    answer = event(EventKind.NODE_REQUESTS, at_ms + 1, f"broker-{number}", requests={}, is_ready_to_migrate=ready)
    return [*migrating(at_ms, number), answer]


def run(row: Row, *events: Event) -> History:
    """Two brokers are in migration mode from 2 s on, and the run ends after 100 s."""
    ended = event(EventKind.CHECKS, 100_000)
    return history([row], events=[*joined(1_000, 0), *(events or joined(2_000, 1)), ended])


ACKED = sent(1, began_ns=10_000 * MS, ended_ns=10_010 * MS)
UNANSWERED = unsure(1, began_ns=10_000 * MS, ended_ns=70_000 * MS)


def test_a_record_that_ready_brokers_acknowledge_conforms() -> None:
    """Conforming: also where only one broker runs."""
    for events in ((), (*joined(2_000, 1, ready=False), stopped(3_000))):
        assert looked_at(clients_read_the_answers_of_ready_brokers.judge(run(ACKED, *events))) == {
            "RPC-ApiVersions-client-ignores": "CONFORMS"
        }


def test_records_that_no_ready_broker_acknowledges_violate() -> None:
    """Violating, as a matter of liveness."""
    verdict = clients_read_the_answers_of_ready_brokers.judge(run(UNANSWERED))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].observed.startswith("none of 1 record was for 98.0 s")


@pytest.mark.parametrize(
    "there",
    [
        run(ACKED, *joined(2_000, 1, ready=False)),
        run(sent(1, began_ns=1_500 * MS, ended_ns=1_600 * MS), *joined(1_000, 1, ready=False)),
        run(UNANSWERED, *joined(2_000, 1), *fault(5_000)),
        run(UNANSWERED, *joined(60_000, 1)),
        history([ACKED]),
    ],
    ids=["one is not ready", "before", "under a fault", "too short", "no answers"],
)
def test_anything_else_proves_nothing(there: History) -> None:
    """Vacuous."""
    assert not looked_at(clients_read_the_answers_of_ready_brokers.judge(there))
