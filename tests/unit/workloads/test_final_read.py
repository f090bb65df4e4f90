"""The final read's bookkeeping, with messages made by hand."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.workloads.clients import final_read
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings, ClientWorkload
from pytest_kmigrate.workloads.clients.counting import Partition, Row, RunClock
from pytest_kmigrate.workloads.clients.final_read import FinalRead
from pytest_kmigrate.workloads.clients.record_value import encode
from tests.unit.workloads.played_message import PlayedMessage
from tests.unit.workloads.played_time import PlayedTime

END = 5
ANSWER_S = 0.01
PARTITION: Partition = ("orders", 0)


class Kept:
    """Rows that appear at the close."""

    def __init__(self) -> None:
        self.waiting: list[Row] = []
        self.shown: list[Row] = []

    def append(self, row: Row) -> None:
        """Take one row."""
        self.waiting.append(row)

    def close(self) -> None:
        """Show all."""
        self.shown, self.waiting = self.waiting, []

    def abandon(self) -> None:
        """Show none."""
        self.waiting = []


class Read(FinalRead):
    """A final read of one partition that ends at END, from messages at hand."""

    def __init__(self, rows: Kept, *messages: PlayedMessage | KafkaException) -> None:
        settings = ClientsSettings(ClientWorkload(), {"bootstrap.servers": "127.0.0.1:1"}, "unused", 0)
        super().__init__(9, settings, rows, RunClock(0), {})
        self._messages = messages

    def _read_everything(self) -> dict[Partition, int]:
        ends = {PARTITION: END}
        self._read[PARTITION] = 0
        for message in self._messages:
            if isinstance(message, KafkaException):
                raise message
            self._take(message, ends, 2)
        return ends


def _record(offset: int, partition: int = 0) -> PlayedMessage:
    return PlayedMessage(partition, offset, value=encode(3, offset, 50))


def _end_at(offset: int) -> PlayedMessage:
    return PlayedMessage(0, offset, error=KafkaError(KafkaError._PARTITION_EOF))


def test_records_up_to_the_end_are_rows() -> None:
    """Reaching the last record completes the read, and every record is a row of the reader."""
    rows = Kept()
    result = Read(rows, *map(_record, range(END))).run()
    assert (result["event"], result["records"], result["ends"]) == ("final-read-done", END, {"orders-0": END})
    assert [(row[2], row[5], row[6], row[7]) for row in rows.shown] == [(9, each, 3, each) for each in range(END)]


@pytest.mark.parametrize("after", [_end_at(END), _end_at(END + 2), _record(END + 3)], ids=["end", "past", "new record"])
def test_offsets_without_a_record_do_not_keep_the_read_waiting(after: PlayedMessage) -> None:
    """Markers of transactions have offsets: the end of the partition, or a record past it, completes the read too."""
    rows = Kept()
    assert Read(rows, _record(0), after).run()["event"] == "final-read-done"
    assert [row[5] for row in rows.shown] == [0]


@pytest.mark.parametrize(
    "cut_short", [_end_at(END - 1), KafkaException(KafkaError(KafkaError._TIMED_OUT))], ids=["behind", "no answer"]
)
def test_a_read_that_stopped_early_shows_no_row(cut_short: PlayedMessage | KafkaException) -> None:
    """Half a final read would look like lost records, so it fails and leaves nothing."""
    rows = Kept()
    result = Read(rows, _record(0), cut_short).run()
    assert (result["event"], result["records"]) == ("final-read-failed", 1)
    assert (rows.shown, rows.waiting) == ([], [])


def test_a_failed_read_tells_how_far_it_came_and_why() -> None:
    """The reader's last error and the place of each partition that is behind are in the result."""
    refused = PlayedMessage(0, -1, error=KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    assert Read(Kept(), _record(0), refused).run()["why"] == (
        "orders-0 at 1 of 5; last error: TOPIC_AUTHORIZATION_FAILED"
    )


class Reader:
    """A client that met a broker which knew the topics, and of so many partitions, or not of all of them."""

    def __init__(
        self,
        *,
        lacks: Sequence[str] = (),
        partitions: int = 1,
        gives: Sequence[int] = range(END),
        ends: Sequence[int] = (END,),
        trouble: int | None = None,
    ) -> None:
        self.time = PlayedTime()
        self._lacks = lacks
        self._partitions = partitions
        self._messages = [_record(offset, partition) for partition in range(partitions) for offset in gives]
        if trouble is not None:
            self._messages.append(PlayedMessage(0, -1, error=KafkaError(trouble)))
        self._ends = list(ends)
        self.begins: list[int] = []
        self.is_closed = False

    def list_topics(self, topic: str, timeout: float) -> Any:
        """The topic's partitions, as the broker knows them."""
        assert timeout >= 0
        self.time.now_s += ANSWER_S
        error = KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART) if topic in self._lacks else None
        return SimpleNamespace(
            topics={topic: SimpleNamespace(error=error, partitions=dict.fromkeys(range(self._partitions)))}
        )

    def get_watermark_offsets(self, _partition: TopicPartition, timeout: float) -> tuple[int, int]:
        """From the beginning to the end, which may be another later; none is no answer."""
        assert timeout >= 0
        end = self._ends.pop(0) if self._ends[1:] else self._ends[0]
        if end < 0:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return 0, end

    def assign(self, partitions: list[TopicPartition]) -> None:
        """As asked."""
        self.begins = [each.offset for each in partitions]

    def consume(self, _count: int, timeout: float) -> list[PlayedMessage]:
        """Everything there is, once; nothing comes when the time is over."""
        self.time.now_s += timeout
        messages, self._messages = self._messages if "orders" not in self._lacks else [], []
        return messages

    def close(self) -> None:
        """No more calls."""
        self.is_closed = True


ReadFrom = Callable[..., dict[str, object]]


@pytest.fixture
def rows() -> Kept:
    """What the readers of ``read_from`` wrote."""
    return Kept()


@pytest.fixture
def read_from(monkeypatch: pytest.MonkeyPatch, rows: Kept) -> ReadFrom:
    """A final read by the first of these clients that knows all, where orders has ``partitions``."""

    def read(
        met: list[Reader],
        partitions: int,
        doubting_s: float,
        topics: tuple[str, ...] = ("orders",),
        within_s: float = 2,
        quiet_s: float = 2,
        acknowledged: int = 0,
    ) -> dict[str, object]:
        waiting, played = list(met), PlayedTime()
        for each in met:
            each.time = played
        monkeypatch.setattr(final_read, "Consumer", lambda _properties: waiting.pop(0) if waiting[1:] else waiting[0])
        monkeypatch.setattr(final_read, "time", played)
        monkeypatch.setattr(final_read, "PATIENCE_S", 0.0)
        settings = ClientsSettings(ClientWorkload(topics=topics), {}, "unused", 0)
        at_least = {("orders", number): acknowledged for number in range(partitions)}
        read = FinalRead(9, settings, rows, RunClock(0), at_least)
        monkeypatch.setattr(read, "_deadline", within_s)
        monkeypatch.setattr(read, "_doubting_until", doubting_s)
        monkeypatch.setattr(read, "_doubting_s", doubting_s)
        monkeypatch.setattr(read, "_quiet_s", quiet_s)
        return read.run()

    return read


@pytest.mark.parametrize(
    "stale", [{"lacks": ["orders"]}, {"partitions": 2}], ids=["no topic", "not the partition that was added"]
)
def test_a_broker_that_was_told_too_little_does_not_end_the_read(read_from: ReadFrom, stale: dict[str, Any]) -> None:
    """A client stays with the broker it met, so another one is made, which meets another; each is closed."""
    met = [Reader(**stale), Reader(**stale), Reader(partitions=3)]
    result = read_from(met, partitions=3, doubting_s=2)
    assert result["ends"] == {"orders-0": END, "orders-1": END, "orders-2": END}
    assert all(reader.is_closed for reader in met)


def test_a_leader_that_was_deposed_does_not_end_the_read(read_from: ReadFrom, rows: Kept) -> None:
    """One that was cut off reports an end before what its successor has acknowledged; another client meets another."""
    met = [Reader(ends=(2,)), Reader(ends=(2,)), Reader()]
    result = read_from(met, partitions=1, doubting_s=2, acknowledged=END)
    assert (result["event"], result["ends"]) == ("final-read-done", {"orders-0": END})
    assert [row[5] for row in rows.shown] == list(range(END))
    assert all(reader.is_closed for reader in met)


def test_an_end_before_what_was_acknowledged_is_believed_in_the_end(read_from: ReadFrom, rows: Kept) -> None:
    """Where no broker has more for half of the time, the rest is lost, and the read shows it."""
    result = read_from([Reader(ends=(2,))], partitions=1, doubting_s=0.05, acknowledged=END)
    assert (result["event"], result["ends"]) == ("final-read-done", {"orders-0": 2})
    assert [row[5] for row in rows.shown] == [0, 1]


def test_a_partition_that_nobody_knows_any_more_is_lost(read_from: ReadFrom) -> None:
    """After a while brokers are believed: what was acknowledged there was never read back then."""
    result = read_from([Reader(partitions=2)], partitions=3, doubting_s=0)
    assert (result["event"], result["ends"]) == ("final-read-done", {"orders-0": END, "orders-1": END})


def test_a_topic_that_is_gone_is_a_row_and_the_others_are_read(read_from: ReadFrom, rows: Kept) -> None:
    """It fails with the brokers' own words, of no partition: what was acknowledged there is lost, not unread."""
    stale = Reader(lacks=["payments"])
    result = read_from([stale], partitions=1, doubting_s=0.1, topics=("payments", "orders"))
    assert (result["event"], result["ends"]) == ("final-read-done", {"orders-0": END})
    *read, gone = [(row[1], *row[3:8], row[12]) for row in rows.shown]
    assert [row[3] for row in read] == list(range(END))
    assert gone == (OperationOutcome.FAILED, "payments", -1, -1, -1, -1, "UNKNOWN_TOPIC_OR_PARTITION")


def test_when_every_topic_is_gone_the_read_is_done(read_from: ReadFrom, rows: Kept) -> None:
    """All are denied from the same time on, so that one half of the time is enough for all of them."""
    result = read_from(
        [Reader(lacks=["orders", "payments"])], 1, doubting_s=1.0, topics=("orders", "payments"), within_s=1.9
    )
    assert (result["event"], result["records"]) == ("final-read-done", 0)
    assert [row[3] for row in rows.shown] == ["orders", "payments"]


def test_a_topic_that_some_broker_knows_is_not_gone(read_from: ReadFrom, rows: Kept) -> None:
    """One broker denied it, another reported it: unknown, so the read fails and shows nothing."""
    met = [Reader(lacks=["payments"]), Reader(lacks=["orders"]), Reader(lacks=["payments"])]
    result = read_from(met, partitions=1, doubting_s=0.1, topics=("orders", "payments"), within_s=0.4)
    assert result["event"] == "final-read-failed"
    assert rows.shown == []


def test_a_topic_that_is_denied_only_at_the_end_is_not_gone(read_from: ReadFrom, rows: Kept) -> None:
    """Brokers that were away until then, and come back without knowing anything yet, are not believed."""
    result = read_from([Reader(lacks=["orders"])], partitions=1, doubting_s=0.5, within_s=0.3)
    assert result["event"] == "final-read-failed"
    assert rows.shown == []


def test_a_read_began_when_the_ends_were_asked_for(read_from: ReadFrom, rows: Kept) -> None:
    """What comes into the log later need not be found, so one moment stands in all rows, and it is that one."""
    asked_ns = RunClock(0).now_ns()
    read_from([Reader(partitions=2)], partitions=2, doubting_s=0)
    (began_ns,) = {row[8] for row in rows.shown}
    assert asked_ns <= began_ns <= min(row[9] for row in rows.shown)


def test_what_a_leader_has_by_its_own_word_and_gives_nobody_is_withheld(read_from: ReadFrom, rows: Kept) -> None:
    """Two clients wait for it at the same place: what was acknowledged there is lost then."""
    met = [Reader(gives=(0, 1)), Reader(gives=(2,)), Reader(gives=()), Reader(gives=())]
    result = read_from(met, partitions=1, doubting_s=2, within_s=20, quiet_s=0.1)
    assert (result["event"], result["withheld"]) == ("final-read-done", ["orders-0 at 3 of 5"])
    assert [row[5] for row in rows.shown] == [0, 1, 2]
    assert [(each.begins, each.is_closed) for each in met] == [([0], True), ([2], True), ([3], True), ([], False)]


def test_what_an_earlier_client_was_told_is_not_held_against_a_later_one(read_from: ReadFrom) -> None:
    """The error was of its connection, or of a leader that has moved since."""
    met = [Reader(gives=(0, 1), trouble=KafkaError.NOT_LEADER_FOR_PARTITION), Reader(gives=()), Reader(gives=())]
    result = read_from(met, partitions=1, doubting_s=2, within_s=20, quiet_s=0.1)
    assert (result["event"], result["withheld"]) == ("final-read-done", ["orders-0 at 2 of 5"])


@pytest.mark.parametrize(
    "second",
    [{"ends": (2,)}, {"ends": (-1,)}, {"trouble": KafkaError.NOT_LEADER_FOR_PARTITION}],
    ids=["a shorter log", "no answer", "an error"],
)
def test_what_may_come_yet_is_not_withheld(read_from: ReadFrom, rows: Kept, second: dict[str, Any]) -> None:
    """As long as the leader does not answer well, the read goes on, and fails in the end."""
    met = [Reader(gives=(0, 1)), *(Reader(gives=(), **second) for _ in range(100))]
    result = read_from(met, partitions=1, doubting_s=2, within_s=1, quiet_s=0.1)
    assert result["event"] == "final-read-failed"
    assert str(result["why"]).startswith("orders-0 at 2 of 5")
    assert rows.shown == []
