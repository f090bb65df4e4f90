"""Checks of the records: lost, invented."""

import pytest

from pytest_kmigrate.checkers.clients.records import no_acked_record_lost, no_phantom_record
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.operations import OperationKind
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import (
    FAILED,
    INDEFINITE,
    MS,
    consumed,
    event,
    fault,
    history,
    phase,
    read_back,
    refused,
    sent,
    unsure,
)


def test_nothing_is_lost_when_every_acknowledged_record_is_read_back() -> None:
    """Conforming: acknowledged records are read back, an indefinite one may be missing or there."""
    rows = [sent(0), sent(1), unsure(2), unsure(3), read_back(0), read_back(1), read_back(3, 2)]
    verdict = no_acked_record_lost.judge(history(rows))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary == "none of 2 acknowledged records was lost"


def test_lost_records_are_told_with_place_time_and_evidence() -> None:
    """Violating: the summary names count, partition and offsets; the violation says when and which event."""
    acked = [sent(n, partition=2, ended_ns=(4000 + n) * MS) for n in range(1000)]
    read = [read_back(n, partition=2) for n in range(1000) if not 411 <= n <= 413]
    read += [consumed(411, 4600, partition=2)]
    verdict = no_acked_record_lost.judge(history(acked + read, [phase(1000, "HYBRID"), *fault(3211)]))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 3)
    assert verdict.summary == "3 of 1 000 acknowledged records were never read back: orders-2 at 411-413"
    [violation] = verdict.violations
    assert violation.observed == (
        "3 records at 411-413 (record 411 of producer 1 first; client 50 had read it at 4.600 s), acknowledged 1.2 s "
        "after kill(active-controller) began, in HYBRID, never read back"
    )
    assert violation.evidence == ("event 1", "event 0")
    assert violation.at_ns == 4411 * MS


def test_a_partition_of_which_nothing_came_back_is_lost_too() -> None:
    """A whole partition without a final read is loss, not lack of evidence, once the final read happened."""
    verdict = no_acked_record_lost.judge(history([sent(0), sent(0, partition=1), read_back(0)]))
    assert verdict.summary == "1 of 2 acknowledged records was never read back: orders-1 at 0"


def test_the_same_record_in_another_partition_does_not_count_as_read_back() -> None:
    """Records are looked for where they were acknowledged."""
    verdict = no_acked_record_lost.judge(history([sent(0), read_back(0, partition=1)]))
    assert verdict.outcome is Outcome.VIOLATES


def test_no_acknowledged_record_is_inconclusive() -> None:
    """Inconclusive: without an acknowledged record nothing could be lost."""
    verdict = no_acked_record_lost.judge(history([unsure(0), read_back(0)]))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_no_final_read_is_inconclusive() -> None:
    """Inconclusive: consuming along the way is no proof that the records stayed."""
    verdict = no_acked_record_lost.judge(history([sent(0), consumed(0)]))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_a_partition_that_could_not_be_read_to_its_end_is_inconclusive() -> None:
    """A failed final read is no loss; unless it failed because the topic is gone."""
    stuck = read_back(-1, partition=1, producer=-1, outcome=INDEFINITE, error="_TIMED_OUT")
    rows = [sent(0), read_back(0), sent(0, partition=1), stuck]
    verdict = no_acked_record_lost.judge(history(rows))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.INFRA)
    assert "orders-1 could not be read" in verdict.summary
    gone = {**stuck, "outcome": FAILED, "error": "UNKNOWN_TOPIC_OR_PART"}
    assert no_acked_record_lost.judge(history([*rows[:3], gone])).outcome is Outcome.VIOLATES
    whole_topic = {**stuck, "partition": -1}
    assert no_acked_record_lost.judge(history([*rows[:3], whole_topic])).outcome is Outcome.INCONCLUSIVE


GONE = read_back(-1, producer=-1, partition=-1, outcome=FAILED, error="UNKNOWN_TOPIC_OR_PARTITION")
"""What the final reader writes of a topic that does not exist."""


def test_a_topic_that_does_not_exist_any_more_has_lost_everything() -> None:
    """Violating: one topic is gone, or all are, so that there is no other final read at all."""
    acked = [sent(0), sent(1, partition=1)]
    verdict = no_acked_record_lost.judge(history([*acked, GONE]))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 2)
    assert verdict.summary == (
        "2 of 2 acknowledged records were never read back: orders-0 at 0; orders-1 at 1; "
        "brokers reported to the final reader that there is no topic orders"
    )
    other = [sent(0, topic="payments"), read_back(0, topic="payments")]
    assert no_acked_record_lost.judge(history([*acked, *other, GONE])).count == 2
    assert (
        no_acked_record_lost.judge(history([*acked, {**GONE, "error": "_TIMED_OUT"}])).outcome is Outcome.INCONCLUSIVE
    )


LATE = {"began_ns": 900 * MS, "ended_ns": 901 * MS}


def test_a_record_that_a_consumer_read_must_be_there() -> None:
    """Violating: its send had no answer, but what a consumer gets is committed; reported once, at the first read."""
    rows = [sent(0), read_back(0, **LATE), unsure(3), consumed(3, 30, client=51), consumed(3, 14)]
    verdict = no_acked_record_lost.judge(history([*rows, sent(1)]))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 2)
    assert verdict.summary == (
        "1 of 2 acknowledged records was never read back: orders-0 at 1; "
        "1 record that a consumer had read, but no broker acknowledged, was never read back: orders-0 at 3"
    )
    reported = verdict.violations[1]
    assert reported.observed.startswith("1 record at 3 (record 3 of producer 1, by client 50), read ")
    alone = no_acked_record_lost.judge(history(rows[1:]))
    assert (alone.outcome, alone.count) == (Outcome.VIOLATES, 1)


def test_a_consumed_record_that_was_finally_read_conforms() -> None:
    """Conforming, wherever its send ended; and records of foreign producers."""
    placeless = unsure(4, partition=-1)
    kept = [unsure(3), consumed(3), placeless, consumed(4), read_back(3, **LATE), read_back(4, **LATE)]
    foreign = consumed(9, producer=-1, sequence=-1)
    verdict = no_acked_record_lost.judge(history([sent(0), read_back(0, **LATE), *kept, foreign]))
    assert verdict.outcome is Outcome.CONFORMS


def test_what_is_written_while_the_final_read_goes_on_need_not_be_in_it() -> None:
    """Conforming: a send that timed out may arrive so late that a consumer reads it after the ends were asked for."""
    rows = [sent(0), read_back(0, **LATE), unsure(3), consumed(3, 950)]
    assert no_acked_record_lost.judge(history(rows)).outcome is Outcome.CONFORMS


def test_a_consumed_record_of_an_unread_partition_is_inconclusive() -> None:
    """Inconclusive: it may be there; and if nothing is said of the send, nothing was acknowledged either."""
    unread = read_back(-1, partition=1, producer=-1, outcome=INDEFINITE, error="_TIMED_OUT")
    rows = [read_back(0, **LATE), unsure(3, partition=1), consumed(3, 14, partition=1), unread]
    assert no_acked_record_lost.judge(history(rows)).outcome is Outcome.INCONCLUSIVE
    assert no_acked_record_lost.judge(history([sent(9, partition=1), *rows])).kind is Kind.INFRA


@pytest.mark.parametrize("placed", [0, -1], ids=["in a partition", "in none that is known"])
def test_a_consumed_record_of_an_aborted_transaction_must_not_be_there(placed: int) -> None:
    """Its absence is right; that it was read is the affair of another check. An indefinite one was committed."""
    rows = [sent(0), read_back(0, **LATE), consumed(3, 14)]
    part = unsure(3, partition=placed, transaction=7, transaction_outcome=FAILED)
    assert no_acked_record_lost.judge(history([*rows, part])).outcome is Outcome.CONFORMS
    part["transaction_outcome"] = INDEFINITE
    assert no_acked_record_lost.judge(history([*rows, part])).outcome is Outcome.VIOLATES


def test_only_records_that_must_be_there_are_counted() -> None:
    """An acknowledged record of an aborted transaction is rightly absent; of nothing but such ones nothing is lost."""
    aborted = sent(1, transaction=7, transaction_outcome=FAILED)
    verdict = no_acked_record_lost.judge(history([sent(0), aborted, read_back(0)]))
    assert verdict.summary == "none of 1 acknowledged record was lost"
    assert no_acked_record_lost.judge(history([sent(0), aborted, read_back(9)])).summary.startswith(
        "1 of 1 acknowledged "
    )
    only = no_acked_record_lost.judge(history([aborted, read_back(0)]))
    assert (only.outcome, only.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_an_acknowledged_record_without_a_partition_is_harness_trouble() -> None:
    """What cannot be looked for is not passed over in silence."""
    verdict = no_acked_record_lost.judge(history([sent(0, partition=-1), read_back(0)]))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.HARNESS)


def test_losses_without_a_known_offset_are_counted() -> None:
    """An acknowledgement need not carry its offset (the answer to a retried send does not)."""
    lost = [{**sent(3), "offset": -1}, sent(0)]
    verdict = no_acked_record_lost.judge(history([*lost, read_back(1)]))
    assert verdict.summary.endswith("orders-0 at 0 and 1 unknown offset")
    assert [v.observed.split(" (")[0] for v in verdict.violations] == ["1 record at 0", "1 record at 1 unknown offset"]


def test_many_losses_are_counted_but_few_are_shown() -> None:
    """The count is exact although a verdict shows ten."""
    rows = [sent(n) for n in range(0, 1000, 2)] + [read_back(5000)]
    verdict = no_acked_record_lost.judge(history(rows))
    assert (verdict.count, len(verdict.violations)) == (500, 10)


def test_records_that_we_sent_are_no_phantoms() -> None:
    """Conforming: acknowledged, indefinite and vaguely failed sends may all be read."""
    vague = refused(2, error="NOT_ENOUGH_REPLICAS")
    placeless = unsure(3, partition=-1)
    rows = [sent(0), unsure(1), vague, placeless, *[read_back(n) for n in range(4)], consumed(0)]
    verdict = no_phantom_record.judge(history(rows))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary == "every one of 4 records read was sent by our producers"


def test_a_record_nobody_sent_is_a_phantom() -> None:
    """Violating: a foreign record, an unknown one (once, though read twice) and one sent to another partition."""
    foreign = read_back(-1, 1, producer=-1)
    rows = [sent(0), sent(9, partition=1), read_back(0), foreign, read_back(7), consumed(7), read_back(9, 8)]
    verdict = no_phantom_record.judge(history(rows))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 3)
    assert verdict.summary == "3 records read that no producer of ours sent: orders-0 at 1, 7-8"


def test_a_definitely_refused_record_must_not_be_there() -> None:
    """Violating: the broker said that the record is too large, and yet it was read. It was sent, and refused."""
    verdict = no_phantom_record.judge(history([refused(0), read_back(0)]))
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.facts["refused_yet_there"] == 1
    assert verdict.summary == "1 record read whose send was definitely refused: orders-0 at 0"


def test_what_was_refused_and_what_was_never_sent_are_told_apart() -> None:
    """Violating: one of each, each with its own words."""
    verdict = no_phantom_record.judge(history([refused(0), read_back(0), read_back(7)]))
    assert verdict.summary == (
        "1 record read that no producer of ours sent: orders-0 at 7; "
        "1 record read whose send was definitely refused: orders-0 at 0"
    )


@pytest.mark.parametrize("error", ["TOPIC_AUTHORIZATION_FAILED", "POLICY_VIOLATION", "_UNKNOWN_TOPIC"])
def test_a_refusal_of_the_last_attempt_proves_nothing_of_earlier_ones(error: str) -> None:
    """Conforming, also where a client of an older release called such a send FAILED."""
    assert no_phantom_record.judge(history([refused(0, error=error), read_back(0)])).outcome is Outcome.CONFORMS


def test_unknown_records_of_a_running_workload_are_inconclusive() -> None:
    """Sends in flight have no row yet; once the workload ended, the same record is a phantom."""
    began = event(EventKind.WORKLOAD_BEGAN, 1, workload="orders")
    ended = event(EventKind.WORKLOAD_ENDED, 9, workload="orders")
    rows = [sent(0), read_back(0), read_back(1)]
    verdict = no_phantom_record.judge(history(rows, [began]))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.HARNESS)
    assert no_phantom_record.judge(history(rows, [began, ended])).outcome is Outcome.VIOLATES


def test_reading_nothing_is_inconclusive() -> None:
    """Inconclusive: no read, no phantom."""
    failed = read_back(0, outcome=FAILED, kind=OperationKind.FINAL_READ)
    assert no_phantom_record.judge(history([sent(0), failed])).outcome is Outcome.INCONCLUSIVE
