"""Transactional producers against a cluster that answers as each test says."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.waiting import until
from pytest_kmigrate.workloads.clients import producing, transacting
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings, ClientWorkload
from pytest_kmigrate.workloads.clients.counting import Counts, RunClock, TransactionalRow
from pytest_kmigrate.workloads.clients.transacting import NUMBERS_EACH, Transactors
from tests.unit.workloads.played_time import PlayedTime
from tests.unit.workloads.played_transactions import Cluster, FakeProducer

NUMBER = 7
RECORDS = 3
TRANSACTIONS_PER_S = 1000
OK, FAILED, INDEFINITE = OperationOutcome.OK, OperationOutcome.FAILED, OperationOutcome.INDEFINITE
LATER = KafkaException(KafkaError(KafkaError._TIMED_OUT, "later", retriable=True))
ABORT = KafkaException(KafkaError(KafkaError._INVALID_ARG, "abort", txn_requires_abort=True))
FATAL = KafkaException(KafkaError(KafkaError._FATAL, "over", fatal=True))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """All producers' cluster."""
    made = Cluster()
    monkeypatch.setattr(transacting, "Producer", lambda _properties: FakeProducer(made))
    monkeypatch.setattr(producing, "PURGE_S", 0.0)
    return made


@pytest.fixture
def rows() -> list[TransactionalRow]:
    """Where rows end up."""
    return []


@pytest.fixture
def transactors(cluster: Cluster, rows: list[TransactionalRow]) -> Iterator[Transactors]:
    """One transactional producer, not begun yet; every third transaction is aborted."""
    workload = ClientWorkload(
        transactors=1,
        transactions_per_s=TRANSACTIONS_PER_S,
        transaction_records=RECORDS,
        transactions_per_abort=3,
    )
    made = Transactors(ClientsSettings(workload, {}, "unused", 0), rows, Counts(), RunClock(0))
    yield made
    made.give_up()


def _ended(transactors: Transactors, rows: Sequence[TransactionalRow], count: int) -> list[int]:
    """The outcomes of the first transactions, once so many have ended."""

    def enough() -> bool:
        transactors.tick()
        return len(rows) >= count * RECORDS

    transactors.begin([NUMBER])
    until(enough, awaited=f"{count} transactions", within_s=10)
    numbers = sorted({row[13] for row in rows})[:count]
    assert numbers == [NUMBER * NUMBERS_EACH + 1 + place for place in range(count)]
    return [next(row[14] for row in rows if row[13] == number) for number in numbers]


def test_every_so_many_transactions_one_is_aborted(transactors: Transactors, rows: list[TransactionalRow]) -> None:
    """Two are committed, the third is aborted, and so on; each row says of which it is, and how that ended."""
    assert _ended(transactors, rows, 6) == [OK, OK, FAILED, OK, OK, FAILED]
    first: Any = rows[0]
    assert (first[2], first[3], first[4], first[5], first[6], first[11]) == (NUMBER, "payments", 0, 40, NUMBER, True)
    assert [row[7] for row in rows[: 2 * RECORDS]] == list(range(2 * RECORDS))


def test_all_records_of_a_transaction_that_is_aborted_are_written(
    transactors: Transactors, rows: list[TransactionalRow]
) -> None:
    """They are sent before the abort, or there is nothing that a reader could wrongly see."""
    _ended(transactors, rows, 3)
    assert {(row[1], row[12]) for row in rows[: 3 * RECORDS]} == {(OK.value, "")}


def test_a_commit_is_tried_again_until_it_is_answered(
    transactors: Transactors, rows: list[TransactionalRow], cluster: Cluster
) -> None:
    """A time-out says nothing: the same commit is asked for again."""
    cluster.answer("commit", LATER, LATER)
    assert _ended(transactors, rows, 1) == [OK]
    assert cluster.asked[:5] == ["init", "begin", "commit", "commit", "commit"]


def test_what_cannot_be_committed_is_aborted(
    transactors: Transactors, rows: list[TransactionalRow], cluster: Cluster
) -> None:
    """Its records must then not be read: the outcome is FAILED, not unknown."""
    cluster.answer("commit", ABORT)
    cluster.answer("abort", LATER)
    assert _ended(transactors, rows, 1) == [FAILED]
    assert cluster.asked[:5] == ["init", "begin", "commit", "abort", "abort"]


def test_after_a_fatal_error_the_next_producer_ends_what_was_open(
    transactors: Transactors, rows: list[TransactionalRow], cluster: Cluster
) -> None:
    """Nobody knows how that transaction ended; a producer of the same id begins with making sure that it has."""
    cluster.answer("commit", FATAL)
    cluster.answer("init", None, LATER, FATAL)
    assert _ended(transactors, rows, 2) == [INDEFINITE, OK]
    assert cluster.asked[:7] == ["init", "begin", "commit", "init", "init", "init", "begin"]


def test_a_send_without_an_answer_is_indefinite(
    transactors: Transactors, rows: list[TransactionalRow], cluster: Cluster
) -> None:
    """Every send has its row, also when the producer is given up before it was answered."""
    cluster.is_silent = True
    cluster.answer("commit", FATAL)
    assert _ended(transactors, rows, 1) == [INDEFINITE]
    assert {(row[1], row[5], row[12]) for row in rows[:RECORDS]} == {(INDEFINITE, -1, "_PURGE_INFLIGHT")}


def test_a_producer_that_cannot_end_its_transaction_is_left_to_another(
    transactors: Transactors, rows: list[TransactionalRow], cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some go on timing out for ever, whatever the cluster says."""
    monkeypatch.setattr(transacting, "END_WITHIN_S", 0.0)
    cluster.answer("commit", LATER)
    assert _ended(transactors, rows, 2) == [INDEFINITE, OK]
    assert cluster.asked[:6] == ["init", "begin", "commit", "init", "begin", "commit"]


def test_a_producer_that_refuses_a_record_is_not_used_again(transactors: Transactors, cluster: Cluster) -> None:
    """It does when a broker reported no topic; it counts anew then, which brokers take for records left out."""
    cluster.answer("produce", FATAL)
    transactors.begin([NUMBER])
    until(lambda: cluster.asked.count("commit") >= 2, awaited="two transactions", within_s=10)
    assert cluster.asked[:6] == ["init", "begin", "commit", "init", "begin", "commit"]


def test_a_transaction_takes_its_time_also_when_no_record_is_taken(
    transactors: Transactors, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a transactor goes round as fast as it can while the cluster has trouble enough."""
    cluster.answer("produce", *[FATAL] * 1_000_000)
    played = PlayedTime()

    def wait(_self: FakeProducer, timeout: float) -> None:
        played.now_s += timeout

    monkeypatch.setattr(transacting, "time", played)
    monkeypatch.setattr(FakeProducer, "poll", wait)
    transactors.begin([NUMBER])
    until(lambda: "commit" in cluster.asked, awaited="a transaction", within_s=10)
    assert played.now_s >= 1 / TRANSACTIONS_PER_S


def test_a_producer_that_purged_records_is_not_used_again(
    transactors: Transactors, rows: list[TransactionalRow], cluster: Cluster
) -> None:
    """A broker may have them all the same; the next record would bear their sequence number and not be written."""
    cluster.is_silent = True
    assert _ended(transactors, rows, 2) == [OK, OK]
    assert cluster.asked[:6] == ["init", "begin", "commit", "init", "begin", "commit"]


def test_a_transaction_that_cannot_be_ended_is_told_to_be_open(
    transactors: Transactors, rows: list[TransactionalRow], cluster: Cluster
) -> None:
    """Readers are kept from what lies behind it, so no client may read everything and miss something."""
    cluster.answer("commit", FATAL)
    cluster.answer("init", None, *[LATER] * 1_000_000)
    assert _ended(transactors, rows, 1) == [INDEFINITE]
    transactors.stop()
    assert transactors.open() == [NUMBER]
    transactors.give_up()
    assert transactors.open() == [NUMBER]


def test_stopping_ends_the_transaction_under_way(transactors: Transactors, rows: list[TransactionalRow]) -> None:
    """After that nothing is open and nothing is begun."""
    _ended(transactors, rows, 1)
    transactors.stop()
    until(lambda: not transactors.open(), awaited="the end of the transaction", within_s=10)
    transactors.tick()
    assert len(rows) % RECORDS == 0


def test_what_is_open_when_stopping_is_ended_before_it_is_over(
    transactors: Transactors, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told to stop, and then the commit is broken: the next producer is still made, for nothing but ending it."""
    cluster.answer("commit", FATAL)
    cluster.answer("init", None, LATER)
    asked = cluster.ask

    def ask(what: str) -> None:
        if what == "commit":
            transactors.stop()
        asked(what)

    monkeypatch.setattr(cluster, "ask", ask)
    transactors.begin([NUMBER])
    until(lambda: cluster.asked.count("init") == 3, awaited="the next producer", within_s=10)
    until(lambda: not transactors.open(), awaited="the end of the transaction", within_s=10)
    assert cluster.asked == ["init", "begin", "commit", "init", "init"]


def test_a_cluster_that_never_answers_holds_nobody(transactors: Transactors, cluster: Cluster) -> None:
    """What was never begun is not open."""
    cluster.answer("init", *[LATER] * 1_000_000)
    transactors.begin([NUMBER])
    transactors.stop()
    until(lambda: not transactors.open(), awaited="the end of the trying", within_s=10)


def test_a_transaction_that_cannot_begin_is_left_to_another_producer(
    transactors: Transactors, cluster: Cluster, rows: list[TransactionalRow]
) -> None:
    """A fatal error since the last one ends the producer, not the transactions."""
    cluster.answer("begin", None, FATAL)
    assert _ended(transactors, rows, 2) == [OK, OK]
    assert cluster.asked[:7] == ["init", "begin", "commit", "begin", "init", "begin", "commit"]
