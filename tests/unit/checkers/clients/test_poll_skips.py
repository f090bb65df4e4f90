"""Poll skips: a reader that goes over a record it should have read, and what only looks like it."""

import pytest

from pytest_kmigrate.checkers.kernels import AnomalyClass, anomalies_of, polls_over
from tests.unit.checkers.histories import FAILED, MS, OK, Row, consumed, operations, read_back, sent, unsure

LOG = [row for at in range(8) for row in (sent(at, ended_ns=at * MS), read_back(at))]
"""Eight records, acknowledged a millisecond apart, all finally there."""


def _skipped(*rows: Row) -> list[tuple[int, int, int]]:
    """(skipped, read below it, read above it) by their offsets."""
    group = operations(*rows)
    found = polls_over(group)
    columns = [group.offset[rows].tolist() for rows in (found.skipped, found.before, found.rows)]
    return sorted(zip(*columns, strict=True))


def _read(*offsets: int, client: int = 50, at_ms: int = 100, group: str = "billing") -> list[Row]:
    return [consumed(at, at_ms + place, client=client, group=group) for place, at in enumerate(offsets)]


def test_every_record_gone_over_is_found_with_the_reads_around_it() -> None:
    """Of a group as of a client without one; each record once, however often it is gone over."""
    assert _skipped(*LOG, *_read(0, 1, 4, 5, 7)) == [(2, 1, 4), (3, 1, 4), (6, 5, 7)]
    assert _skipped(*LOG, *_read(0, 2, group="")) == [(1, 0, 2)]
    assert _skipped(*LOG, *_read(0, 2, 0, 3)) == [(1, 0, 2)]


def test_the_first_client_that_goes_over_a_record_is_told() -> None:
    """Both members of a group do; the one that did so earlier is the example."""
    late, early = _read(0, 4, at_ms=300, client=51), _read(1, 3, at_ms=200, client=52)
    assert (2, 1, 3) in _skipped(*LOG, *late, *early)


@pytest.mark.parametrize(
    "rows",
    [
        [*LOG, *_read(0, 3), *_read(1, 2, client=51)],
        [*LOG, *_read(2, 3, 4)],
        [*LOG, *_read(5, 6), *_read(0, 1, at_ms=400)],
        [sent(0), read_back(0), sent(3), read_back(3), *_read(0, 3)],
        [*LOG[:2], sent(1, transaction=7, transaction_outcome=FAILED), read_back(1), *LOG[4:], *_read(0, 2)],
        [*LOG[:2], sent(1), *LOG[4:], *_read(0, 2)],
        [*LOG[:2], unsure(1), read_back(1), *LOG[4:], *_read(0, 2)],
        [*LOG[:2], sent(1, ended_ns=999 * MS), read_back(1), *LOG[4:], *_read(0, 2)],
        [*LOG[:2], sent(1, 9), read_back(9, 1), *LOG[4:], *_read(0, 2)],
        [*LOG, *_read(0), *_read(3, client=51)],
    ],
    ids=[
        "another member read it",
        "before the first and behind the last read",
        "assigned anew it reads from below",
        "a marker of a transaction lies there",
        "its transaction was aborted, though the final read shows it",
        "it is lost or deleted, which is another matter",
        "unknown when it came there",
        "it came there only after the read above it",
        "another record lies there finally",
        "two members, neither of which read on over it",
    ],
)
def test_what_only_looks_like_a_skip_is_none(rows: list[Row]) -> None:
    """Gaps that Kafka may leave, and reads that a re-assignment explains."""
    assert _skipped(*rows) == []


def test_clients_without_a_group_do_not_read_for_each_other() -> None:
    """What the other one read is no excuse; in a group it is."""
    both = [*LOG, *_read(0, 2, group=""), *_read(0, 1, 2, client=51, group="")]
    assert _skipped(*both) == [(1, 0, 2)]


def test_a_workload_that_was_cut_off_proves_no_skip() -> None:
    """Its last reads may have had no time to be reported."""
    rows = operations(*LOG, *_read(0, 2))
    assert [each.name for each in anomalies_of(rows)] == [AnomalyClass.POLL_SKIP]
    assert anomalies_of(rows, is_settled=False) == []


def test_refused_and_unknown_reads_are_no_reads() -> None:
    """Only what a client got counts as read."""
    rows = [*LOG, *_read(0, 2), consumed(1, 150, outcome=FAILED)]
    assert _skipped(*rows) == [(1, 0, 2)]
    assert _skipped(*LOG, *_read(0, 2), consumed(1, 150, outcome=OK)) == []
