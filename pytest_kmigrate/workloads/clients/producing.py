"""Producers: paced sends of numbered records, each of which becomes one row when it is answered."""

import time
from collections.abc import Sequence, Sized
from functools import partial

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.workloads.clients.client_properties import producer_properties
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings
from pytest_kmigrate.workloads.clients.counting import Counts, Rows, RunClock
from pytest_kmigrate.workloads.clients.drawn_keys import keys_of
from pytest_kmigrate.workloads.clients.outcomes import error_name, produce_outcome
from pytest_kmigrate.workloads.clients.record_value import encode, encode_as_text

PRODUCE = OperationKind.PRODUCE.value
LONGEST_CATCH_UP_S = 0.1
PURGE_S = 1.0


def place_of(error: KafkaError | None, message: Message) -> tuple[str, int, int]:
    """Topic, partition and offset of a send that was answered; -1 is unknown."""
    topic, partition, offset = message.topic() or "", message.partition(), message.offset()
    return topic, -1 if partition is None else partition, -1 if error is not None or offset is None else offset


def purge(producer: Producer, unanswered: Sized) -> None:
    """Take back what has no answer, and hear for a second what came of it; ``unanswered`` then holds the rest.

    Not when nothing is: a purge goes on in librdkafka's other threads, and would reach what is sent next.
    """
    if unanswered:
        producer.purge()
    deadline = time.monotonic() + PURGE_S
    while unanswered and time.monotonic() < deadline:
        hear(producer, 0.01)


def hear(producer: Producer, timeout_s: float) -> bool:
    """Hear answers, waiting for them up to ``timeout_s``; False if the producer does not survive.

    A fatal error is raised where the producer is asked, and not handed to its callback for errors: after minutes
    without an answer an idempotent one cannot say any more what it has sent.
    """
    try:
        producer.poll(timeout_s)
    except KafkaException as error:
        if not error.args[0].fatal():
            raise
        return False
    return True


class Pace:
    """How many sends are due: steady at ``per_s``, and after a stall at most a tenth of a second is made up for."""

    def __init__(self, per_s: float, now_ns: int) -> None:
        self.per_s = per_s
        self._last_ns = now_ns
        self._credit = 0.0

    def due(self, now_ns: int) -> int:
        """How many sends to make now."""
        self._credit += self.per_s * (now_ns - self._last_ns) / 1e9
        self._credit = min(self._credit, max(1.0, self.per_s * LONGEST_CATCH_UP_S))
        self._last_ns = now_ns
        whole = int(self._credit)
        self._credit -= whole
        return whole


class Sender:
    """One idempotent producer; its number and its own counter are the identity of what it writes."""

    def __init__(self, number: int, settings: ClientsSettings, rows: Rows, counts: Counts, clock: RunClock) -> None:
        self.number = number
        self.broken = False
        """True after an error that an idempotent producer does not survive."""
        self._topics = settings.workload.topics
        self._record_bytes = settings.workload.record_bytes
        self._keys = keys_of(settings.workload.seed, number)
        self._encode = encode_as_text if settings.workload.is_text else encode
        self._rows = rows
        self._counts = counts
        self._clock = clock
        self._sequence = 0
        self._unanswered: dict[int, tuple[int, str]] = {}
        """When each send without an answer began, and to which topic it went, by its sequence."""
        # With a callback errors that pass are not logged, and a fatal one is raised by ``poll``.
        self._producer = Producer(producer_properties(settings, number), error_cb=lambda _: None)

    def __len__(self) -> int:
        """Sends without an answer."""
        return len(self._unanswered)

    def send(self) -> bool:
        """Send the next record; False when there is no room, and then nothing was tried."""
        sequence = self._sequence
        topic = self._topics[sequence % len(self._topics)]
        value = self._encode(self.number, sequence, self._record_bytes)
        began_ns = self._clock.now_ns()
        answered = partial(self._answered, sequence, began_ns)
        try:
            self._producer.produce(topic, value, self._keys[sequence % len(self._keys)], on_delivery=answered)
        except BufferError:
            return False
        except KafkaException as refused:
            self._sequence += 1
            self._ended(sequence, began_ns, (topic, -1, -1), OperationOutcome.FAILED, error_name(refused.args[0]))
            return True
        self._sequence += 1
        self._unanswered[sequence] = (began_ns, topic)
        return True

    def serve(self, timeout_s: float) -> None:
        """Hear answers, waiting for them up to ``timeout_s``."""
        self.broken = not hear(self._producer, timeout_s) or self.broken

    def give_up(self) -> None:
        """End every send that has no answer; it becomes indefinite."""
        purge(self._producer, self._unanswered)
        # The purged come back through other threads. One that was not heard is a send all the same: without a row it
        # would, if it is in the log, look like a record that was never sent.
        for sequence, (began_ns, topic) in self._unanswered.items():
            self._ended(sequence, began_ns, (topic, -1, -1), OperationOutcome.INDEFINITE, "_PURGE_INFLIGHT")
        self._unanswered.clear()

    def _answered(self, sequence: int, began_ns: int, error: KafkaError | None, message: Message) -> None:
        if self._unanswered.pop(sequence, None) is None:
            return  # an answer that came after all, when the send had its row already
        name = error_name(error)
        self._ended(sequence, began_ns, place_of(error, message), produce_outcome(name), name)

    def _ended(
        self, sequence: int, began_ns: int, where: tuple[str, int, int], outcome: OperationOutcome, error: str
    ) -> None:
        ended_ns = self._clock.now_ns()
        who = (PRODUCE, outcome.value, self.number)
        self._rows.append((*who, *where, self.number, sequence, began_ns, ended_ns, "", True, error))
        self._counts.sent(outcome, *where)


class Senders:
    """All producers, at one pace together; a broken one is replaced under a new number: identities stay unique."""

    def __init__(self, settings: ClientsSettings, rows: Rows, counts: Counts, clock: RunClock) -> None:
        self._settings = settings
        self._rows = rows
        self._counts = counts
        self._clock = clock
        self.pace = Pace(settings.workload.per_s, clock.now_ns())
        self._producing = True
        self._turn = 0

    def begin(self, numbers: Sequence[int]) -> None:
        """Make the producers."""
        self._senders = [self._sender(number) for number in numbers]

    def _sender(self, number: int) -> Sender:
        return Sender(number, self._settings, self._rows, self._counts, self._clock)

    def __len__(self) -> int:
        return sum(len(sender) for sender in self._senders)

    def stop_producing(self) -> None:
        """Send nothing new; answers still come in."""
        self._producing = False

    def tick(self, wait_s: float) -> None:
        """Send what is due, then hear answers; the waiting for them is the pacing."""
        due = self.pace.due(self._clock.now_ns()) if self._producing and self._senders else 0
        for _ in range(due):
            self._turn = (self._turn + 1) % len(self._senders)
            if not self._senders[self._turn].send():
                self._counts.skipped += 1
        for position, sender in enumerate(self._senders):
            sender.serve(wait_s if position == 0 else 0)

    def replace_broken(self, new_number: "NumberSource") -> None:
        """End each broken producer and put a new one in its place."""
        for position, sender in enumerate(self._senders):
            if sender.broken:
                sender.give_up()
                self._senders[position] = self._sender(new_number())

    def give_up(self) -> None:
        """End every send that has no answer."""
        for sender in self._senders:
            sender.give_up()


class NumberSource:
    """Numbers for clients, each given once."""

    def __init__(self) -> None:
        self._next = 0

    def __call__(self) -> int:
        """The next number."""
        number = self._next
        self._next += 1
        return number
