"""Transactional producers against a cluster that answers as each test says."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.waiting import until
from pytest_kmigrate.workloads import transacting
from pytest_kmigrate.workloads.client_settings import ClientsSettings, ClientWorkload
from pytest_kmigrate.workloads.counting import Counts, RunClock, TransactionalRow
from pytest_kmigrate.workloads.transacting import NUMBERS_EACH, Transactors

NUMBER = 7
RECORDS = 3
OK, FAILED, INDEFINITE = OperationOutcome.OK, OperationOutcome.FAILED, OperationOutcome.INDEFINITE
LATER = KafkaException(KafkaError(KafkaError._TIMED_OUT, "later", retriable=True))
PURGED = KafkaError(KafkaError._PURGE_QUEUE)
ABORT = KafkaException(KafkaError(KafkaError._INVALID_ARG, "abort", txn_requires_abort=True))
FATAL = KafkaException(KafkaError(KafkaError._FATAL, "over", fatal=True))

Answer = KafkaException | None


class Answered:
    """A message of which only the place is asked."""

    def topic(self) -> str:
        """Of which topic."""
        return "payments"

    def partition(self) -> int:
        """Where it went."""
        return 0

    def offset(self) -> int:
        """At which offset."""
        return 40


class Cluster:
    """What producers are answered, in turn, and what they asked for; when nothing is left, all is well."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {"init": [], "begin": [], "commit": [], "abort": []}
        self.asked: list[str] = []
        self.is_silent = False
        """Whether sends get no answer."""

    def answer(self, what: str, *answers: Answer) -> None:
        """Say so next time."""
        self.answers[what] += answers

    def ask(self, what: str) -> None:
        """As a producer does."""
        self.asked.append(what)
        told = self.answers[what].pop(0) if self.answers[what] else None
        if told is not None:
            raise told


class FakeProducer:
    """The methods of a transactional producer. As the real one it gathers records, and an abort drops those."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._gathered: list[Callable[..., None]] = []
        self._waiting: list[Callable[..., None]] = []
        self._is_purging = False

    def init_transactions(self, _timeout: float) -> None:
        """As told."""
        self._cluster.ask("init")

    def begin_transaction(self) -> None:
        """As told."""
        self._cluster.ask("begin")

    def produce(self, _topic: str, _value: bytes, _key: bytes, on_delivery: Callable[..., None]) -> None:
        """Answered at the poll after the next flush."""
        if self._is_purging:
            on_delivery(PURGED, Answered())
        else:
            self._gathered.append(on_delivery)

    def poll(self, _timeout: float) -> None:
        """All answers that are due."""
        while self._waiting and not self._cluster.is_silent:
            self._waiting.pop(0)(None, Answered())

    def flush(self, _timeout: float) -> None:
        """What was gathered is sent."""
        self._waiting, self._gathered = self._waiting + self._gathered, []
        self.poll(0)

    def purge(self) -> None:
        """Nothing comes back here, and what is sent next is purged as well: the worst case."""
        self._is_purging = True

    def commit_transaction(self, timeout: float) -> None:
        """As told, after a flush of its own."""
        self.flush(timeout)
        self._cluster.ask("commit")

    def abort_transaction(self, _timeout: float) -> None:
        """As told; what was not sent is answered by the client itself."""
        while self._gathered:
            self._gathered.pop(0)(PURGED, Answered())
        self._cluster.ask("abort")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """All producers' cluster."""
    made = Cluster()
    monkeypatch.setattr(transacting, "Producer", lambda _properties: FakeProducer(made))
    monkeypatch.setattr(transacting, "PURGE_S", 0.0)
    return made


@pytest.fixture
def rows() -> list[TransactionalRow]:
    """Where rows end up."""
    return []


@pytest.fixture
def transactors(cluster: Cluster, rows: list[TransactionalRow]) -> Iterator[Transactors]:
    """One transactional producer, not begun yet; every third transaction is aborted."""
    workload = ClientWorkload(
        transactors=1, transactions_per_s=1000, transaction_records=RECORDS, transactions_per_abort=3
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
    """Readers are kept from what lies behind it, so nobody may read everything and miss something."""
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
