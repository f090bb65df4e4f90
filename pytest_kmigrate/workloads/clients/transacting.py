"""Transactional producers: transactions of a few records, one after another, every so many of them aborted on purpose.

Each has a thread of its own, since ending a transaction blocks until the cluster has answered.
"""

import queue
import threading
import time
from collections.abc import Callable
from functools import partial

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.workloads.clients.client_properties import transactor_properties
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings
from pytest_kmigrate.workloads.clients.counting import Counts, Row, RunClock, TransactionalRow, TransactionalRows
from pytest_kmigrate.workloads.clients.drawn_keys import keys_of
from pytest_kmigrate.workloads.clients.outcomes import error_name, produce_outcome
from pytest_kmigrate.workloads.clients.producing import PURGE_S, place_of, purge
from pytest_kmigrate.workloads.clients.record_value import encode

NUMBERS_EACH = 1_000_000_000
"""A transaction's number contains its producer: number of the producer times this, and the producer's own counter."""

ATTEMPT_S = 2.0
"""One attempt at beginning or ending a transaction; then it is asked whether to go on trying."""

END_WITHIN_S = 20.0
"""Longer than the end of a dead broker's session and an election; who cannot end a transaction by then never will."""


class Transactor:
    """One transactional producer. What it is asked from other threads: ``stop``, ``give_up``, ``join``, ``is_over``."""

    def __init__(
        self, number: int, settings: ClientsSettings, clock: RunClock, done: Callable[[list[TransactionalRow]], None]
    ) -> None:
        self.number = number
        self._settings = settings
        self._workload = settings.workload
        self._keys = keys_of(settings.workload.seed, number)
        self._clock = clock
        self._done = done
        self._sequence = 0
        self._transactions = 0
        self._rows: list[Row] = []
        self._unanswered: dict[int, int] = {}
        """When each send without an answer began, by its sequence."""
        self._is_stopping = threading.Event()
        self._has_given_up = threading.Event()
        self._may_be_open = False
        self._is_spent = False
        """Whether something of its producer went wrong."""
        self._thread = threading.Thread(target=self._run, name=f"transactor-{number}", daemon=True)

    def start(self) -> None:
        """Begin with the first transaction."""
        self._thread.start()

    def stop(self) -> None:
        """End the transaction under way, and begin no other."""
        self._is_stopping.set()

    def give_up(self) -> None:
        """As ``stop``, and without trying again when the cluster does not answer."""
        self._is_stopping.set()
        self._has_given_up.set()

    def join(self) -> None:
        """Return when it has ended, or has had the time to."""
        self._thread.join(2 * ATTEMPT_S + PURGE_S)

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is open any more: until then readers see nothing behind what may still be aborted."""
        return not self._thread.is_alive() and not self._may_be_open

    def _run(self) -> None:
        while self._anew():
            while not (self._is_stopping.is_set() or self._may_be_open or self._is_spent):
                self._one()

    def _anew(self) -> bool:
        """A new producer under the same transactional id: that ends what its predecessor left open.

        One that failed with a record is not used again. What it takes out of its queue a broker may have all the same,
        if it stood there to be sent once more, and librdkafka then gives its sequence number to a record of the next
        transaction: the broker takes that for the former one, acknowledges it and writes nothing. And when a broker
        that has just started reports no topic at all, librdkafka counts anew, gets an error for the gap, and then
        neither commits nor aborts.
        """
        while self._must_go_on():
            self._producer = Producer(transactor_properties(self._settings, self.number))
            if self._is_initialized():
                self._may_be_open = self._is_spent = False
                return True
        return False

    def _must_go_on(self) -> bool:
        return not self._has_given_up.is_set() and (self._may_be_open or not self._is_stopping.is_set())

    def _is_initialized(self) -> bool:
        while self._must_go_on():
            try:
                self._producer.init_transactions(ATTEMPT_S)
            except KafkaException as refused:
                if not refused.args[0].retriable():
                    self._producer.poll(ATTEMPT_S)  # nothing is under way: this only lets time pass
                    return False
            else:
                return True
        return False

    def _one(self) -> None:
        try:
            self._producer.begin_transaction()
        except KafkaException:  # something has ended its producer since the last transaction
            self._may_be_open = True
            return
        self._transactions += 1
        gap_s = 1 / (self._workload.transactions_per_s * self._workload.transaction_records)
        began_s = time.monotonic()
        for count in range(1, self._workload.transaction_records + 1):
            self._send()
            self._poll_until(began_s + count * gap_s)
        commits = self._transactions % self._workload.transactions_per_abort != 0
        if not commits:
            # An abort drops what waits to be sent: records never written do not show whether aborted ones are read.
            self._producer.flush(ATTEMPT_S)
        self._tell(self._ended(commits=commits))

    def _poll_until(self, at_s: float) -> None:
        """Take answers until then; one poll ends with the first answer."""
        while (left_s := at_s - time.monotonic()) > 0:
            self._producer.poll(left_s)

    def _send(self) -> None:
        sequence, began_ns = self._sequence, self._clock.now_ns()
        value = encode(self.number, sequence, self._workload.record_bytes)
        try:
            self._producer.produce(
                self._workload.transactions_topic,
                value,
                self._keys[sequence % len(self._keys)],
                on_delivery=partial(self._answered, sequence, began_ns),
            )
        except (BufferError, KafkaException):
            self._is_spent = True  # and this was not tried
            return
        self._sequence += 1
        self._unanswered[sequence] = began_ns

    def _ended(self, *, commits: bool) -> OperationOutcome:
        """Commit or abort; what cannot be committed is aborted. INDEFINITE leaves it to the next producer."""
        deadline = time.monotonic() + END_WITHIN_S
        while True:
            try:
                if commits:
                    self._producer.commit_transaction(ATTEMPT_S)
                else:
                    self._producer.abort_transaction(ATTEMPT_S)
            except KafkaException as refused:
                error = refused.args[0]
                if commits and error.txn_requires_abort():
                    commits = False
                elif not error.retriable() or self._has_given_up.is_set() or time.monotonic() > deadline:
                    self._may_be_open = True
                    return OperationOutcome.INDEFINITE
            else:
                return OperationOutcome.OK if commits else OperationOutcome.FAILED

    def _tell(self, outcome: OperationOutcome) -> None:
        """Hand over the rows of the transaction; a send that was never answered becomes indefinite."""
        purge(self._producer, self._unanswered)
        for sequence, began_ns in list(self._unanswered.items()):
            self._row(sequence, began_ns, (self._workload.transactions_topic, -1, -1), "_PURGE_INFLIGHT")
        number = self.number * NUMBERS_EACH + self._transactions
        rows, self._rows = self._rows, []
        self._done([(*row, number, outcome.value) for row in rows])

    def _answered(self, sequence: int, began_ns: int, error: KafkaError | None, message: Message) -> None:
        self._row(sequence, began_ns, place_of(error, message), error_name(error))

    def _row(self, sequence: int, began_ns: int, place: tuple[str, int, int], error: str) -> None:
        if self._unanswered.pop(sequence, None) is None:
            return  # an answer that came after all, when the send had its row already
        self._is_spent |= error != ""
        who = (OperationKind.PRODUCE.value, produce_outcome(error).value, self.number)
        times = (began_ns, self._clock.now_ns())
        self._rows.append((*who, *place, self.number, sequence, *times, "", True, error))


class Transactors:
    """All transactional producers of a workload; their rows come in by ``tick``, transaction by transaction."""

    def __init__(self, settings: ClientsSettings, rows: TransactionalRows, counts: Counts, clock: RunClock) -> None:
        self._settings = settings
        self._rows = rows
        self._counts = counts
        self._clock = clock
        self._done: queue.SimpleQueue[list[TransactionalRow]] = queue.SimpleQueue()
        self._each: list[Transactor] = []

    def begin(self, numbers: list[int]) -> None:
        """Make and start them."""
        self._each = [Transactor(number, self._settings, self._clock, self._done.put) for number in numbers]
        for transactor in self._each:
            transactor.start()

    def tick(self) -> None:
        """Take the rows of transactions that have ended."""
        while not self._done.empty():
            for row in self._done.get():
                self._rows.append(row)
                self._counts.sent(OperationOutcome(row[1]), *row[3:6])

    def stop(self) -> None:
        """Let what is under way end, and begin nothing new."""
        for transactor in self._each:
            transactor.stop()

    def give_up(self) -> None:
        """End at once; what has no answer becomes indefinite."""
        for transactor in self._each:
            transactor.give_up()
        for transactor in self._each:
            transactor.join()
        self.tick()

    def open(self) -> list[int]:
        """The numbers of those that may still have a transaction open."""
        return [transactor.number for transactor in self._each if not transactor.is_over]
