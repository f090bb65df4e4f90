"""Pace and bookkeeping of producers, without a cluster."""

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import KafkaError, KafkaException

from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.workloads.clients import producing
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings, ClientWorkload
from pytest_kmigrate.workloads.clients.counting import Counts, Row, RunClock
from pytest_kmigrate.workloads.clients.producing import NumberSource, Pace, Sender, Senders
from tests.unit.workloads.played_message import PlayedMessage

NOBODY = {"bootstrap.servers": "127.0.0.1:1", "log_level": "0"}
ROOM = 3


def _settings(per_s: float = 1000) -> ClientsSettings:
    workload = ClientWorkload(per_s=per_s, most_in_flight=ROOM)
    return ClientsSettings(workload, NOBODY, "unused", 0)


@pytest.fixture
def rows() -> list[Row]:
    """Where rows end up."""
    return []


@pytest.fixture
def sender(rows: list[Row]) -> Iterator[Sender]:
    """A producer of a cluster that is not there."""
    made = Sender(4, _settings(), rows, Counts(), RunClock(0))
    yield made
    made.give_up()


def test_the_pace_is_kept_over_uneven_ticks() -> None:
    """Fractions of a send are carried on: over two seconds exactly twice the rate is due."""
    pace = Pace(1000, 0)
    moments = [1_000_000 * (tick * 20 + tick % 7) for tick in range(100)] + [2_000_000_000]
    assert sum(pace.due(now) for now in moments) == pytest.approx(2000, abs=1)


def test_a_slow_pace_is_kept() -> None:
    """Less than one send per tick still adds up."""
    pace = Pace(2, 0)
    assert sum(pace.due(20_000_000 * tick) for tick in range(1, 501)) == 20


def test_a_stall_is_not_made_up_for() -> None:
    """After ten seconds away a tenth of a second's sends are due, not ten seconds' worth in one burst."""
    pace = Pace(1000, 0)
    assert pace.due(10_000_000_000) == 100


def test_a_full_queue_takes_no_number(sender: Sender, rows: list[Row]) -> None:
    """A send for which there was no room was not tried: it has no row and leaves no gap in the sequence."""
    assert [sender.send() for _ in range(ROOM + 2)] == [True] * ROOM + [False, False]
    assert len(sender) == ROOM
    sender.give_up()
    assert len(sender) == 0
    assert sender.send()
    sender.give_up()
    assert sorted(row[7] for row in rows) == list(range(ROOM + 1))


def test_what_was_never_answered_is_indefinite(sender: Sender, rows: list[Row]) -> None:
    """Giving up leaves one indefinite row per send, with the producer's number twice: as client and as writer."""
    sender.send()
    sender.give_up()
    (
        (kind, outcome, client, topic, _partition, offset, producer, sequence, began, ended, group, idempotent, error),
    ) = rows
    assert (kind, outcome) == (OperationKind.PRODUCE, OperationOutcome.INDEFINITE)
    assert (client, topic, offset, producer, sequence, group, idempotent) == (4, "orders", -1, 4, 0, "", True)
    assert began <= ended
    assert error == "_PURGE_QUEUE"


class Deaf:
    """A producer whose answers never come back, until somebody hears them all the same."""

    def __init__(self) -> None:
        self.answers: list[Callable[..., None]] = []

    def produce(self, _topic: str, _value: bytes, _key: bytes, on_delivery: Callable[..., None]) -> None:
        """Taken, and nothing said."""
        self.answers.append(on_delivery)

    def purge(self) -> None:
        """Nothing comes back."""

    def poll(self, _timeout: float) -> None:
        """Nothing is heard."""


def test_a_purged_send_that_was_not_heard_of_has_a_row_too(
    sender: Sender, rows: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one its record would look invented; an answer that comes after all makes no second row."""
    deaf = Deaf()
    monkeypatch.setattr(producing, "PURGE_S", 0.0)
    monkeypatch.setattr(sender, "_producer", deaf)
    assert [sender.send(), sender.send()] == [True, True]
    sender.give_up()
    assert len(sender) == 0
    deaf.answers[0](None, PlayedMessage(0, 40))
    indefinite = (OperationOutcome.INDEFINITE, "orders", -1, -1)
    assert [(*(row[place] for place in (1, 3, 4, 5)), row[7]) for row in rows] == [(*indefinite, 0), (*indefinite, 1)]


def test_a_send_refused_at_once_has_failed(rows: list[Row]) -> None:
    """A record larger than may ever be sent is refused locally: no request, so a definite failure with a row."""
    workload = ClientWorkload(record_bytes=2000)
    settings = ClientsSettings(workload, {**NOBODY, "message.max.bytes": "1000"}, "unused", 0)
    counts = Counts()
    assert Sender(1, settings, rows, counts, RunClock(0)).send()
    assert (rows[0][1], rows[0][4], rows[0][12]) == (OperationOutcome.FAILED, -1, "MESSAGE_TOO_LARGE")
    assert (counts.failed, counts.indefinite) == (1, 0)


def test_a_broken_producer_is_replaced_under_a_new_number(rows: list[Row]) -> None:
    """The successor counts from 0 again, so it must not share its predecessor's identity."""
    senders = Senders(_settings(per_s=0), rows, Counts(), RunClock(0))
    numbers = NumberSource()
    senders.begin([numbers(), numbers()])
    senders._senders[0].send()
    senders._senders[0].broken = True
    senders.replace_broken(numbers)
    assert [sender.number for sender in senders._senders] == [2, 1]
    assert [row[1] for row in rows] == [OperationOutcome.INDEFINITE]


class Fatal(Deaf):
    """A producer that has lost count of what it sent, as each question says."""

    def poll(self, _timeout: float) -> None:
        """The error of an idempotent producer whose batch was answered by none for minutes."""
        raise KafkaException(KafkaError(KafkaError._INCONSISTENT, "unable to guarantee consistency", fatal=True))


def test_a_producer_with_a_fatal_error_is_replaced_and_the_others_go_on(
    rows: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is raised by ``poll``; the clients of a cluster that stood still for minutes died of it."""
    monkeypatch.setattr(producing, "PURGE_S", 0.05)
    counts = Counts()
    senders = Senders(_settings(per_s=0), rows, counts, RunClock(0))
    numbers = NumberSource()
    senders.begin([numbers(), numbers()])
    monkeypatch.setattr(senders._senders[0], "_producer", Fatal())
    senders._senders[0].send()
    senders.tick(0)
    assert [sender.broken for sender in senders._senders] == [True, False]
    senders.replace_broken(numbers)
    assert [sender.number for sender in senders._senders] == [2, 1]
    assert [(row[1], row[12]) for row in rows] == [(OperationOutcome.INDEFINITE, "_PURGE_INFLIGHT")]


def test_an_error_that_is_not_fatal_ends_the_clients(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else is raised by ``poll`` but a mistake of ours."""

    class Wrong(Deaf):
        def poll(self, _timeout: float) -> None:
            raise KafkaException(KafkaError(KafkaError._STATE, "wrong state"))

    monkeypatch.setattr(sender, "_producer", Wrong())
    with pytest.raises(KafkaException, match="wrong state"):
        sender.serve(0)


def test_skipped_sends_are_counted(rows: list[Row]) -> None:
    """While nothing is answered the clients skip: neither memory nor the number of unanswered sends grows."""
    counts = Counts()
    senders = Senders(_settings(per_s=1e9), rows, counts, RunClock(0))
    senders.begin([0])
    senders.pace.due = lambda _now: 10  # type: ignore[method-assign]
    senders.tick(0)
    assert (len(senders), counts.skipped) == (ROOM, 10 - ROOM)
    senders.stop_producing()
    senders.tick(0)
    assert counts.skipped == 10 - ROOM
    senders.give_up()
