"""Checks of places: order, duplicates, offsets."""

import pytest

from pytest_kmigrate.checkers.clients.places import (
    no_duplicate_from_idempotent_producer,
    no_offset_given_twice,
    order_kept_per_partition,
)
from pytest_kmigrate.model.checks import AnyChecker
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import FAILED, MS, consumed, fault, history, read_back, sent, unsure

CLEAN = [sent(0), sent(1), sent(2, partition=1), sent(3), read_back(0), read_back(1), read_back(3), consumed(1)]


@pytest.mark.parametrize(
    "checker", [order_kept_per_partition, no_duplicate_from_idempotent_producer, no_offset_given_twice]
)
def test_a_clean_history_conforms(checker: AnyChecker) -> None:
    """Conforming: all three checks of places hold for records that lie where and as they were sent."""
    assert checker.judge(history(CLEAN)).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    "checker", [order_kept_per_partition, no_duplicate_from_idempotent_producer, no_offset_given_twice]
)
def test_nothing_placed_is_inconclusive(checker: AnyChecker) -> None:
    """Inconclusive: without an acknowledged or read record there is no place to judge."""
    verdict = checker.judge(history([unsure(0)]))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_a_record_before_an_earlier_one_is_out_of_order() -> None:
    """Violating: sequence 5 lies behind 6; the message names both offsets."""
    rows = [sent(5, 11), sent(6, 10, ended_ns=1700 * MS), read_back(5, 11)]
    verdict = order_kept_per_partition.judge(history(rows, fault(500, "cut(controller-zookeeper)")))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    [violation] = verdict.violations
    assert violation.expected == "record 6 of producer 1 lies behind record 5 in orders-0"
    assert violation.observed == "it lies at 10, before 11; seen 1.2 s after cut(controller-zookeeper) began"


def test_order_is_judged_by_partition_and_producer() -> None:
    """Other partitions and other producers have offsets of their own."""
    rows = [sent(1, 50), sent(2, 3, partition=1), sent(0, 7, producer=2), sent(3, 51)]
    assert order_kept_per_partition.judge(history(rows)).outcome is Outcome.CONFORMS


def test_order_and_duplicates_are_not_demanded_without_idempotence() -> None:
    """A producer without idempotence may reorder and repeat by its own retries."""
    plain = {"idempotent": False}
    rows = [sent(5, 11), {**sent(6, 10, producer=2), **plain}, {**sent(5, 12, producer=2), **plain}, read_back(5, 11)]
    copies = [read_back(6, 10, producer=2), read_back(6, 14, producer=2)]
    assert order_kept_per_partition.judge(history([*rows, *copies])).outcome is Outcome.CONFORMS
    assert no_duplicate_from_idempotent_producer.judge(history([*rows, *copies])).outcome is Outcome.CONFORMS
    only_plain = history([*rows[1:3], *copies])
    assert no_duplicate_from_idempotent_producer.judge(only_plain).outcome is Outcome.INCONCLUSIVE


def test_a_duplicate_is_no_wrong_order_but_a_duplicate() -> None:
    """Violating: record 1 again at 3, listed with when it was sent; the order counts a record at its lowest offset."""
    rows = [*[sent(n) for n in range(3)], *[read_back(n) for n in range(3)], read_back(1, 3)]
    assert order_kept_per_partition.judge(history(rows)).outcome is Outcome.CONFORMS
    verdict = no_duplicate_from_idempotent_producer.judge(history(rows))
    assert (verdict.outcome, verdict.count) == (Outcome.VIOLATES, 1)
    assert verdict.summary == (
        "1 of 3 acknowledged records of idempotent producers found again at another offset: orders-0 at 3"
    )
    assert "it is at 1 and again at 3; acknowledged " in verdict.violations[0].observed


def test_an_indefinite_record_found_twice_is_a_duplicate_too() -> None:
    """Idempotence holds for what was not acknowledged as well."""
    rows = [sent(0), unsure(1), read_back(0), read_back(1), read_back(1, 2)]
    assert no_duplicate_from_idempotent_producer.judge(history(rows)).outcome is Outcome.VIOLATES


@pytest.mark.parametrize(
    ("again", "given_up", "outcome"),
    [
        ({"began_ns": 10, "ended_ns": 90}, {"ended_ns": 80}, Outcome.CONFORMS),
        ({"began_ns": 10, "ended_ns": 70}, {"ended_ns": 80}, Outcome.VIOLATES),
        ({"began_ns": 85, "ended_ns": 90}, {"ended_ns": 80}, Outcome.VIOLATES),
        ({"began_ns": 10, "ended_ns": 90}, {"ended_ns": 80, "partition": 1}, Outcome.CONFORMS),
        ({"began_ns": 10, "ended_ns": 90}, {"ended_ns": 80, "producer": 2}, Outcome.VIOLATES),
        ({"began_ns": 10, "ended_ns": 90}, {"ended_ns": 80, "partition": 1, "producer": 2}, Outcome.VIOLATES),
        ({"began_ns": 10, "ended_ns": 90}, {"ended_ns": 80, "error": "REQUEST_TIMED_OUT"}, Outcome.VIOLATES),
        ({"began_ns": 10, "ended_ns": 90, "transaction": 1}, {"ended_ns": 80, "transaction": 1}, Outcome.VIOLATES),
    ],
    ids=[
        "waits",
        "answered before",
        "sent later",
        "given up in another partition",
        "of another producer",
        "of another producer in another partition",
        "another error",
        "in a transaction, which can only be aborted then",
    ],
)
def test_what_waits_while_a_producer_gives_up_may_be_sent_again(
    again: dict[str, int], given_up: dict[str, object], outcome: Outcome
) -> None:
    """By a new epoch: the broker may have appended it without an answer before."""
    rows = [unsure(0, **given_up), sent(1, 5, **again), read_back(1, 3), read_back(1, 5)]
    assert no_duplicate_from_idempotent_producer.judge(history(rows)).outcome is outcome


def test_two_final_readers_of_one_partition_are_no_duplicate() -> None:
    """The same record at the same offset read twice is one record."""
    rows = [sent(0), read_back(0), read_back(0, client=91)]
    assert no_duplicate_from_idempotent_producer.judge(history(rows)).outcome is Outcome.CONFORMS


def test_without_a_final_read_duplicates_cannot_be_seen() -> None:
    """Inconclusive: consuming twice is what a re-assignment does."""
    assert no_duplicate_from_idempotent_producer.judge(history([sent(0), consumed(0)])).outcome is Outcome.INCONCLUSIVE


def test_without_a_final_read_nobody_knows_where_records_lie() -> None:
    """Inconclusive: acknowledgements and consumers agree with one another; a contradiction of theirs still violates."""
    verdict = no_offset_given_twice.judge(history([sent(0), consumed(0)]))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    failed = read_back(-1, producer=-1, partition=-1, outcome=FAILED, error="UNKNOWN_TOPIC_OR_PARTITION")
    assert no_offset_given_twice.judge(history([sent(0), failed])).outcome is Outcome.INCONCLUSIVE
    assert no_offset_given_twice.judge(history([sent(0), consumed(0, sequence=5)])).outcome is Outcome.VIOLATES


def test_an_offset_holds_one_record() -> None:
    """Violating: consumed as one record, finally another one: the log was cut off and written anew."""
    rows = [sent(0), consumed(0, 10), sent(7, 0), read_back(7, 0, began_ns=900 * MS, ended_ns=900 * MS)]
    verdict = no_offset_given_twice.judge(history(rows))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.SAFETY)
    assert verdict.summary.startswith("1 offset given to two records: orders-0 at 0")
    assert "record 0 of producer 1" in verdict.violations[0].observed


def test_a_record_stays_where_it_was_acknowledged() -> None:
    """Violating: acknowledged at 4, finally only at 2."""
    verdict = no_offset_given_twice.judge(history([sent(0), sent(1, 4), read_back(0), read_back(1, 2)]))
    assert verdict.summary == "1 record finally elsewhere than acknowledged: orders-0 at 4"
    assert verdict.violations[0].observed.endswith("but is finally at 2")


def test_an_acknowledged_offset_that_is_one_of_two_copies_is_right() -> None:
    """A record with a copy is where it was acknowledged; the copy is another check's affair."""
    rows = [sent(0), read_back(0), read_back(0, 5)]
    assert no_offset_given_twice.judge(history(rows)).outcome is Outcome.CONFORMS
