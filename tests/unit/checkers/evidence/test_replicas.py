"""When too few replicas of a partition ran, by what brokers answered of it and by when they ran."""

import pytest

from pytest_kmigrate.checkers.evidence.replicas import (
    can_be_served,
    leader_since,
    served_ns,
    unreadable,
    unserved,
    unserved_together,
)
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import ClientMetadata, History
from tests.unit.checkers.histories import MS, broker_away, copies, event, history

LEAST_2 = event(EventKind.WORKLOAD_BEGAN, 0, workload="clients", topics=["orders"], least_in_sync=2)
END = event(EventKind.CHECKS, 60_000)
ALL = copies(100, "0,1,2")


def run(*events: Event, answers: tuple[ClientMetadata, ...] = (ALL,)) -> History:
    """A run of a minute in which brokers answered so."""
    return history(events=[*events, END], client_metadata=answers)


def in_ms(spans: object) -> list[tuple[int, int]]:
    """Spans in milliseconds."""
    assert isinstance(spans, tuple)
    return [(since // MS, to // MS) for since, to in spans]


PAUSED = [
    event(EventKind.NODE_STARTED, 0, "broker-0", role="broker"),
    event(EventKind.NODE_PAUSED, 20_000, "broker-0"),
    event(EventKind.NODE_RESUMED, 30_000, "broker-0"),
]
ONE = copies(100, "0")


@pytest.mark.parametrize(
    ("events", "answers", "expected"),
    [
        (broker_away(20_000, 34_000), (ONE,), [(20_000, 34_000)]),
        (broker_away(20_000), (ONE,), [(20_000, 60_000)]),
        (PAUSED, (ONE,), [(20_000, 30_000)]),
        ([*broker_away(20_000, 34_000), *broker_away(30_000, 40_000, 1)], (copies(100, "0,1"),), [(30_000, 34_000)]),
        ([LEAST_2, *broker_away(20_000, 34_000)], (copies(100, "0,1"),), [(20_000, 34_000)]),
        ([LEAST_2, *broker_away(20_000, 34_000), *broker_away(30_000, 40_000, 1)], (ALL,), [(30_000, 34_000)]),
        (broker_away(20_000, 34_000), (copies(100, "0,1,2", "0"),), [(20_000, 34_000)]),
        ([*broker_away(20_000, 34_000), *broker_away(40_000, 50_000)], (ONE,), [(20_000, 34_000), (40_000, 50_000)]),
    ],
    ids=[
        "one replica",
        "it does not come back",
        "it stands still",
        "both replicas",
        "as many replicas as a write needs",
        "one fewer than a write needs",
        "the only one in sync",
        "twice",
    ],
)
def test_without_enough_replicas_no_write_can_be_acknowledged(
    events: list[Event], answers: tuple[ClientMetadata, ...], expected: list[tuple[int, int]]
) -> None:
    """From the stop of the last one that is needed to when it is ready again."""
    found = run(*events, answers=answers)
    assert in_ms(unserved(found, "orders-0")) == expected
    assert not can_be_served(found, "orders-0", expected[0][0] * MS)


@pytest.mark.parametrize(
    ("events", "answers"),
    [
        (broker_away(20_000, 34_000), (ALL,)),
        ([LEAST_2, *broker_away(20_000, 34_000)], (ALL,)),
        (broker_away(20_000, 34_000), (ALL, copies(22_000, "0,1,2", "1,2"))),
        (broker_away(20_000, 34_000), (ALL, copies(22_000, "0,1,2", "0"))),
        (broker_away(20_000, 34_000, 4), (ALL,)),
    ],
    ids=["another in sync", "two others", "it left the others", "the others are given up", "of another partition"],
)
def test_another_replica_in_sync_can_acknowledge(events: list[Event], answers: tuple[ClientMetadata, ...]) -> None:
    """Also if the controllers leave it out when the first one stops: that is what is judged."""
    found = run(*events, answers=answers)
    assert unserved(found, "orders-0") == ()
    assert can_be_served(found, "orders-0", 20_000 * MS)


def test_a_replica_that_was_away_before_is_not_in_sync() -> None:
    """It came back, and had not caught up when the last one in sync was stopped."""
    events = [*broker_away(10_000, 15_000, 1), *broker_away(20_000, 30_000)]
    found = run(*events, answers=(copies(100, "0,1"), copies(12_000, "0,1", "0")))
    assert in_ms(unserved(found, "orders-0")) == [(20_000, 30_000)]


def test_nothing_is_known_of_what_no_broker_has_reported() -> None:
    """None of its time is left out, and no broker is known to serve it."""
    for answers, place in (((), "orders-0"), ((ONE,), "orders-1")):
        found = run(*broker_away(20_000, 34_000), answers=answers)
        assert (unserved(found, place), can_be_served(found, place, 5 * MS)) == ((), False)


def test_records_are_read_from_one_replica() -> None:
    """Fewer than a write needs are enough."""
    found = run(LEAST_2, *broker_away(20_000, 34_000), answers=(copies(100, "0,1"),))
    assert (unreadable(found, "orders-0"), in_ms(unserved(found, "orders-0"))) == ((), [(20_000, 34_000)])


def test_partitions_together_are_unserved_while_each_is() -> None:
    """And a span is judged without that time."""
    text = "id; 0 replicas=0 isr=0 leader=0 leader_epoch=0; 1 replicas=1 isr=1 leader=1 leader_epoch=0"
    answer = ClientMetadata(100 * MS, "broker-0", 0, (0, 1), {"orders": text})
    found = run(*broker_away(20_000, 34_000), *broker_away(30_000, 40_000, 1), answers=(answer,))
    together = unserved_together(found, ["orders-0", "orders-1"])
    assert in_ms(together) == [(30_000, 34_000)]
    assert served_ns(25_000 * MS, 45_000 * MS, together) == 16_000 * MS
    assert unserved_together(found, []) == ()


def test_a_leader_leads_since_the_answers_agree() -> None:
    """A former answer that names another leader is where that ends; before any answer nothing is known."""
    answers = (copies(100, "0,1", leader=1), copies(900, "0,1"), copies(2_000, "0,1", "0"), copies(5_000, "0", "0"))
    found = run(answers=answers)
    assert leader_since(found, "orders-0", 4_000 * MS) == (0, 900 * MS)
    assert leader_since(found, "orders-0", 500 * MS) == (1, 100 * MS)
    assert leader_since(found, "orders-0", 50 * MS) is None
    unnamed = ClientMetadata(100 * MS, "broker-0", 0, (0,), {"orders": "id; 0 replicas=0 isr=0"})
    assert leader_since(run(answers=(unnamed,)), "orders-0", 4_000 * MS) is None
