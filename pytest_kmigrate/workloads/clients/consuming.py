"""Consumers of one group: every record read and every offset committed becomes one row."""

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.workloads.clients.client_properties import consumer_properties
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings
from pytest_kmigrate.workloads.clients.counting import Counts, Rows, RunClock
from pytest_kmigrate.workloads.clients.outcomes import error_name, request_outcome
from pytest_kmigrate.workloads.clients.record_value import decode

MOST_PER_CALL = 1000

CONSUME = OperationKind.CONSUME.value
COMMIT = OperationKind.COMMIT.value
OK = OperationOutcome.OK.value


class GroupMember:
    """One consumer. Commits are asynchronous and one at a time: a synchronous one would halt every client here.

    librdkafka fetches ahead, so a record's row begins where the call before ended, not where the call itself began.
    """

    def __init__(self, number: int, settings: ClientsSettings, rows: Rows, counts: Counts, clock: RunClock) -> None:
        self.number = number
        self._group = settings.workload.group
        self._commit_every_ns = int(settings.workload.commit_every_s * 1e9)
        self._rows = rows
        self._counts = counts
        self._clock = clock
        self._looked_ns = clock.now_ns()
        self._next_commit_ns = self._looked_ns + self._commit_every_ns
        self._positions: dict[tuple[str, int], int] = {}
        """Next offset to read of each partition with records that no commit covers yet."""
        self._committing: dict[tuple[str, int], int] = {}
        self._commit_began_ns = 0
        self.is_broken = False
        """Whether librdkafka has given up, as it does when a coordinator takes another one for this static member."""
        self._consumer = Consumer({**consumer_properties(settings, number), "on_commit": self._committed})
        self._consumer.subscribe(list(settings.workload.every_topic), on_revoke=self._revoked, on_lost=self._lost)

    @property
    def is_committing(self) -> bool:
        """Whether a commit has no answer yet."""
        return bool(self._committing)

    def tick(self, wait_s: float) -> None:
        """Read what is there (waiting up to ``wait_s``), commit when it is time."""
        began_ns = self._looked_ns
        messages = self._consumer.consume(MOST_PER_CALL, wait_s)
        self._looked_ns = ended_ns = self._clock.now_ns()
        who = (CONSUME, OK, self.number)
        for message in messages:
            if (error := message.error()) is not None:
                self.is_broken |= error.code() == KafkaError._FATAL  # noqa: SLF001  # its public name
                continue
            topic, partition, offset = message.topic() or "", message.partition() or 0, message.offset() or 0
            producer, sequence = decode(message.value())
            self._rows.append(
                (*who, topic, partition, offset, producer, sequence, began_ns, ended_ns, self._group, False, "")
            )
            self._positions[topic, partition] = offset + 1
            self._counts.consumed += 1
        if ended_ns >= self._next_commit_ns:
            self.commit()

    def commit(self) -> None:
        """Commit what was read, unless nothing was or a commit is still under way."""
        self._next_commit_ns = self._clock.now_ns() + self._commit_every_ns
        if self._committing or not self._positions:
            return
        self._committing, self._positions = self._positions, {}
        self._commit_began_ns = self._clock.now_ns()
        offsets = [TopicPartition(topic, partition, at) for (topic, partition), at in self._committing.items()]
        try:
            self._consumer.commit(offsets=offsets, asynchronous=True)
        except KafkaException as refused:
            self._commit_ended(dict.fromkeys(self._committing, error_name(refused.args[0])))

    def close(self) -> None:
        """Leave the group; may block while the cluster is away."""
        self._consumer.close()

    def give_up(self) -> None:
        """Take a commit without an answer for indefinite."""
        self._commit_ended(dict.fromkeys(self._committing, "_DESTROY"))

    def _committed(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        if not self._committing:
            return
        if error is not None:
            self._commit_ended(dict.fromkeys(self._committing, error_name(error)))
        else:
            self._commit_ended({(each.topic, each.partition): error_name(each.error) for each in partitions})

    def _commit_ended(self, errors: dict[tuple[str, int], str]) -> None:
        ended_ns = self._clock.now_ns()
        for (topic, partition), offset in self._committing.items():
            error = errors.get((topic, partition), "")
            outcome = request_outcome(error)
            times = (self._commit_began_ns, ended_ns)
            who = (COMMIT, outcome.value, self.number)
            self._rows.append((*who, topic, partition, offset, -1, -1, *times, self._group, False, error))
            if outcome is OperationOutcome.OK:
                self._counts.committed += 1
        self._committing = {}

    def _revoked(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """The last chance to commit for these partitions; afterwards they are somebody else's."""
        self.commit()
        self._lost(_consumer, partitions)

    def _lost(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        for each in partitions:
            self._positions.pop((each.topic, each.partition), None)
