"""The final read's bookkeeping, with messages made by hand."""

import pytest
from confluent_kafka import KafkaError, KafkaException, Message

from pytest_kmigrate.workloads.client_settings import ClientsSettings, ClientWorkload
from pytest_kmigrate.workloads.counting import Row, RunClock
from pytest_kmigrate.workloads.final_read import FinalRead, Partition
from pytest_kmigrate.workloads.record_value import encode

END = 5
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

    def __init__(self, rows: Kept, *messages: Message | KafkaException) -> None:
        settings = ClientsSettings(ClientWorkload(), {"bootstrap.servers": "127.0.0.1:1"}, "unused", 0)
        super().__init__(9, settings, rows, RunClock(0))
        self._messages = messages

    def _read_everything(self) -> dict[Partition, int]:
        ends = {PARTITION: END}
        self._read[PARTITION] = 0
        for message in self._messages:
            if isinstance(message, KafkaException):
                raise message
            self._take(message, ends, 1, 2)
        return ends


def _record(offset: int) -> Message:
    return Message("orders", 0, offset, None, encode(3, offset, 50))


def _end_at(offset: int) -> Message:
    return Message("orders", 0, offset, error=KafkaError(KafkaError._PARTITION_EOF))


def test_records_up_to_the_end_are_rows() -> None:
    """Reaching the last record completes the read, and every record is a row of the reader."""
    rows = Kept()
    result = Read(rows, *map(_record, range(END))).run()
    assert (result["event"], result["records"], result["ends"]) == ("final-read-done", END, {"orders-0": END})
    assert [(row[2], row[5], row[6], row[7]) for row in rows.shown] == [(9, each, 3, each) for each in range(END)]


@pytest.mark.parametrize("after", [_end_at(END), _end_at(END + 2), _record(END + 3)], ids=["end", "past", "new record"])
def test_offsets_without_a_record_do_not_keep_the_read_waiting(after: Message) -> None:
    """Markers of transactions have offsets: the end of the partition, or a record past it, completes the read too."""
    rows = Kept()
    assert Read(rows, _record(0), after).run()["event"] == "final-read-done"
    assert [row[5] for row in rows.shown] == [0]


@pytest.mark.parametrize(
    "cut_short", [_end_at(END - 1), KafkaException(KafkaError(KafkaError._TIMED_OUT))], ids=["behind", "no answer"]
)
def test_a_read_that_stopped_early_shows_no_row(cut_short: Message | KafkaException) -> None:
    """Half a final read would look like lost records, so it fails and leaves nothing."""
    rows = Kept()
    result = Read(rows, _record(0), cut_short).run()
    assert (result["event"], result["records"]) == ("final-read-failed", 1)
    assert (rows.shown, rows.waiting) == ([], [])


def test_a_failed_read_tells_how_far_it_came_and_why() -> None:
    """The reader's last error and the place of each partition that is behind are in the result."""
    refused = Message("orders", 0, -1, error=KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    assert Read(Kept(), _record(0), refused).run()["why"] == (
        "orders-0 at 1 of 5; last error: TOPIC_AUTHORIZATION_FAILED"
    )
