"""The final read: a fresh client reads every partition from its beginning to the end known at that moment."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.workloads.clients.client_properties import reader_properties
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings
from pytest_kmigrate.workloads.clients.counting import Partition, Rows, RunClock
from pytest_kmigrate.workloads.clients.outcomes import error_name
from pytest_kmigrate.workloads.clients.record_value import FOREIGN, decode

MOST_PER_CALL = 2000
PER_CALL_S = 0.2
PATIENCE_S = 5.0
"""How long one client may ask one thing in vain."""

_NO_TROUBLE = "none"
_ENOUGH_CLIENTS = 2

T = TypeVar("T")


class WholeRows(Rows, Protocol):
    """Rows that appear all together, or not at all."""

    def close(self) -> None:
        """Let all rows appear."""
        ...

    def abandon(self) -> None:
        """Let none appear."""
        ...


class FinalRead:
    """One final read, in a thread of its own because asking for a partition's end blocks; reports its result once.

    ``ends``: where partitions end at least. A broker that knows of fewer partitions, or reports an earlier end, is not
    believed for the first half of the time: one that was cut off goes on as the leader that it no longer is.
    A topic that no broker has known of for half of the time, and no broker reports otherwise, does not exist: that is
    its result, a row that failed, and the other topics are read. One that is slow to appear is waited for.
    Records that a leader has by its own word, and gives to neither of two clients in a quarter of the time each, are
    withheld: the read is done without them, since no client will ever read them.
    """

    def __init__(
        self, number: int, settings: ClientsSettings, rows: WholeRows, clock: RunClock, ends: Mapping[Partition, int]
    ) -> None:
        self.number = number
        self._topics = settings.workload.every_topic
        self._properties = reader_properties(settings, number)
        self._rows = rows
        self._clock = clock
        self._ends_at_least = ends
        self._deadline = self._doubting_until = time.monotonic()
        self._doubting_s = self._quiet_s = 0.0
        self._count = 0
        self._began_ns = 0
        """When this reader began to ask for the ends: what is written later need not be found."""
        self._known: set[str] = set()
        """Topics that some broker knew of."""
        self._denied_since: dict[str, float] = {}
        """When a broker first said of a topic that it does not exist."""
        self._absent: dict[str, KafkaError] = {}
        self._read: dict[Partition, int] = {}
        """Where the next record of each partition is expected."""
        self._trouble = _NO_TROUBLE
        """The last error that the present client received."""
        self._given_nothing = 0
        """How many clients in a row waited in vain at the same place."""

    def start(self, within_s: float, notify: Callable[[dict[str, object]], None]) -> None:
        """Begin to read; ``notify`` gets the result, from another thread, after ``within_s`` at the latest."""
        self._doubting_s, self._quiet_s = within_s / 2, within_s / 4
        self._doubting_until = time.monotonic() + self._doubting_s
        self._deadline = time.monotonic() + within_s
        threading.Thread(target=lambda: notify(self.run()), name=f"final-read-{self.number}", daemon=True).start()

    def run(self) -> dict[str, object]:
        """Read, and return the result as an event."""
        try:
            ends = self._read_everything()
        except KafkaException as error:
            return self._failed(str(error.args[0]))
        behind = [f"{topic}-{number} at {at} of {end}" for (topic, number), (at, end) in self._behind(ends).items()]
        if behind and self._given_nothing < _ENOUGH_CLIENTS:
            return self._failed(f"{', '.join(behind)}; last error: {self._trouble}")
        for topic, denial in self._absent.items():
            times = (self._began_ns, self._clock.now_ns())
            self._row(OperationOutcome.FAILED, (topic, -1, -1), FOREIGN, times, error_name(denial))
        self._rows.close()
        whole = {f"{topic}-{number}": end for (topic, number), end in ends.items()}
        done = {"client": self.number, "records": self._count, "ends": whole, "withheld": behind}
        return {"event": "final-read-done", **done}

    def _read_everything(self) -> dict[Partition, int]:
        reader, ends = self._reader_that_knows()
        while True:
            begun_at = dict(self._read)
            try:
                self._read_while_it_goes_on(reader, ends)
                before = self._given_nothing if self._read == begun_at else 0
                self._given_nothing = before + 1 if self._is_withheld_from(reader, ends) else 0
            finally:
                reader.close()
            if not self._behind(ends) or self._given_nothing == _ENOUGH_CLIENTS or self._left_s() <= 0:
                return ends
            reader = Consumer(self._properties)
            reader.assign([TopicPartition(*partition, at) for partition, (at, _) in self._behind(ends).items()])
            self._trouble = _NO_TROUBLE

    def _reader_that_knows(self) -> tuple[Consumer, dict[Partition, int]]:
        """A client that has learned where every partition ends.

        A client begins with any broker and stays with it while it answers. One that never learned of the topics, or of
        their new partitions (it is fenced, say) answers for ever that it knows none, so another client is made then,
        which may meet another broker.
        """
        while True:
            reader = Consumer(self._properties)
            try:
                return reader, self._ends(reader)
            except KafkaException:
                reader.close()
                if self._left_s() <= 0:
                    raise

    def _failed(self, why: str) -> dict[str, object]:
        self._rows.abandon()
        return {"event": "final-read-failed", "client": self.number, "records": self._count, "why": why}

    def _left_s(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _ends(self, reader: Consumer) -> dict[Partition, int]:
        """The end of every partition now; of partitions with nothing to read, that is where reading begins too."""
        self._began_ns = self._clock.now_ns()
        ends: dict[Partition, int] = {}
        begins: list[TopicPartition] = []
        for topic, number in self._insistently(reader, lambda: self._partitions(reader)):
            low, high = self._watermarks(reader, TopicPartition(topic, number))
            ends[topic, number] = high
            self._read[topic, number] = low
            begins.append(TopicPartition(topic, number, low))
        reader.assign(begins)
        return ends

    def _partitions(self, reader: Consumer) -> list[Partition]:
        """Every partition; each topic is asked for, so that all that are denied are so from the same time on."""
        self._absent = {}
        found: list[Partition] = []
        troubles: list[KafkaException] = []
        for topic in self._topics:
            try:
                found += [(topic, number) for number in self._partitions_of(reader, topic)]
            except KafkaException as trouble:
                troubles.append(trouble)
        if troubles:
            raise troubles[0]
        return found

    def _partitions_of(self, reader: Consumer, topic: str) -> list[int]:
        described = reader.list_topics(topic, timeout=min(2.0, self._left_s())).topics[topic]
        if described.error is not None:
            if not self._is_gone(topic, described.error):
                raise KafkaException(described.error)
            self._absent[topic] = described.error
            return []
        self._known.add(topic)
        at_least = max((number + 1 for name, number in self._ends_at_least if name == topic), default=0)
        if len(described.partitions) < at_least and time.monotonic() < self._doubting_until:
            raise KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART))
        return sorted(described.partitions)

    def _is_gone(self, topic: str, error: KafkaError) -> bool:
        """Whether brokers have denied a topic for half of the time, and none has known of it."""
        if error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            return False
        denied_s = time.monotonic() - self._denied_since.setdefault(topic, time.monotonic())
        return topic not in self._known and denied_s >= self._doubting_s

    def _watermarks(self, reader: Consumer, partition: TopicPartition) -> tuple[int, int]:
        return self._insistently(reader, lambda: self._watermarks_now(reader, partition))

    def _watermarks_now(self, reader: Consumer, partition: TopicPartition) -> tuple[int, int]:
        low, high = reader.get_watermark_offsets(partition, timeout=min(2.0, self._left_s()))
        at_least = self._ends_at_least.get((partition.topic, partition.partition), 0)
        if high < at_least and time.monotonic() < self._doubting_until:
            raise KafkaException(KafkaError(KafkaError.OFFSET_NOT_AVAILABLE))
        return low, high

    def _insistently(self, reader: Consumer, ask: Callable[[], T]) -> T:
        """What ``ask`` returns, asked again while the cluster has trouble and there is time."""
        patient_until = min(self._deadline, time.monotonic() + PATIENCE_S)
        while True:
            try:
                return ask()
            except KafkaException:
                if time.monotonic() >= patient_until:
                    raise
                reader.consume(1, PER_CALL_S)  # nothing is assigned yet: this only lets time pass

    def _behind(self, ends: Mapping[Partition, int]) -> dict[Partition, tuple[int, int]]:
        """The partitions not read to their end: where the next record is expected, and the end."""
        return {
            partition: (self._read[partition], end) for partition, end in ends.items() if self._read[partition] < end
        }

    def _read_while_it_goes_on(self, reader: Consumer, ends: dict[Partition, int]) -> None:
        """Read to the end, or until nothing has come for a while."""
        quiet_since = time.monotonic()
        while self._behind(ends) and time.monotonic() < min(self._deadline, quiet_since + self._quiet_s):
            messages = reader.consume(MOST_PER_CALL, PER_CALL_S)
            ended_ns = self._clock.now_ns()
            for message in messages:
                self._take(message, ends, ended_ns)
            if messages:
                quiet_since = time.monotonic()

    def _is_withheld_from(self, reader: Consumer, ends: Mapping[Partition, int]) -> bool:
        """Whether each leader reports records that it has not served, although nothing was the matter."""
        behind = self._behind(ends)
        if not behind or self._trouble != _NO_TROUBLE or self._left_s() <= 0:
            return False
        try:
            ends_now = {each: self._watermarks_now(reader, TopicPartition(*each))[1] for each in behind}
        except KafkaException:
            return False
        return all(ends_now[each] >= ends[each] for each in behind)

    def _take(self, message: Message, ends: dict[Partition, int], ended_ns: int) -> None:
        topic, number, offset = message.topic() or "", message.partition() or 0, message.offset() or 0
        error = message.error()
        if error is not None:
            # Markers of transactions have offsets but are not records: only the end of the partition shows it.
            if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  # its public name
                self._read[topic, number] = max(self._read[topic, number], offset)
            else:
                self._trouble = error_name(error)
            return
        if offset >= ends[topic, number]:
            self._read[topic, number] = max(self._read[topic, number], ends[topic, number])
            return
        place, times = (topic, number, offset), (self._began_ns, ended_ns)
        self._row(OperationOutcome.OK, place, decode(message.value()), times, "")
        self._read[topic, number] = offset + 1
        self._count += 1

    def _row(
        self,
        outcome: OperationOutcome,
        place: tuple[str, int, int],
        record: tuple[int, int],
        times: tuple[int, int],
        error: str,
    ) -> None:
        who = (OperationKind.FINAL_READ.value, outcome.value, self.number)
        self._rows.append((*who, *place, *record, *times, "", False, error))
