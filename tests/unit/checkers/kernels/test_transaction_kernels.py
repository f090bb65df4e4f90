"""Kernels about transactions and cycles: planted anomalies are found, what is allowed is not, slow oracles agree."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_kmigrate.checkers.kernels import AnomalyClass, anomalies_of, cycles
from tests.unit.checkers.histories import FAILED, INDEFINITE, OK, Row, consumed, operations, read_back, sent

ABORTED, OPEN = {"transaction_outcome": FAILED}, {"transaction_outcome": INDEFINITE}


def write(transaction: int, sequence: int, **more: Any) -> Row:
    """A send inside a committed transaction; it began and ended at its sequence."""
    at = {"began_ns": sequence, "ended_ns": sequence, "transaction_outcome": OK}
    return sent(sequence, **{**at, "transaction": transaction, **more})


def found(*rows: Row) -> dict[AnomalyClass, int]:
    """How many anomalies of each class there are in a run of these rows."""
    return {each.name: each.count for each in anomalies_of(operations(*rows))}


def final(sequence: int, **more: Any) -> Row:
    """A final read, long after everything."""
    return read_back(sequence, began_ns=10**6, ended_ns=10**6, **more)


def test_a_committed_transaction_that_is_there_is_no_anomaly() -> None:
    """All of it read, after it ended: nothing to say."""
    assert found(write(1, 0), write(1, 1, partition=1), final(0), final(1, partition=1)) == {}


def test_reading_an_aborted_transaction_is_g1a_and_its_absence_no_loss() -> None:
    """One record of two is read: that one is the anomaly; the other was rightly not there."""
    rows = [write(1, 0, **ABORTED), write(1, 1, **ABORTED), final(0)]
    assert found(*rows) == {AnomalyClass.ABORTED_READ: 1}


def test_a_committed_transaction_of_which_a_part_is_missing_is_torn_and_lost() -> None:
    """The missing write is a lost one; the transaction is torn once, however many of its writes are missing."""
    rows = [write(1, 0), write(1, 1, partition=1), write(1, 2, partition=1), final(0)]
    assert found(*rows) == {AnomalyClass.LOST_WRITE: 2, AnomalyClass.TORN_TRANSACTION: 1}


def test_an_indefinite_transaction_is_there_whole_or_not_at_all() -> None:
    """Whole or absent is admissible, a part is not."""
    rows = [write(1, 0, **OPEN), write(1, 1, **OPEN)]
    other = write(2, 2)
    assert found(*rows, other, final(2)) == {}
    assert found(*rows, other, final(0), final(1), final(2)) == {}
    assert found(*rows, other, final(0), final(2)) == {AnomalyClass.TORN_TRANSACTION: 1}


def test_a_partition_that_was_not_read_to_its_end_tears_nothing() -> None:
    """What could not be read may be there."""
    unread: Row = {**final(-1), "outcome": FAILED, "partition": 1, "error": "_TIMED_OUT", "producer": -1, "offset": -1}
    assert found(write(1, 0), write(1, 1, partition=1), final(0), unread) == {}


def test_reading_before_the_last_send_is_g1b() -> None:
    """A read that ended before its transaction sent its last record saw it unfinished; a later one did not."""
    rows = [write(1, 0), write(1, 50), final(0), final(50)]
    assert found(*rows, {**consumed(0), "ended_ns": 49}) == {AnomalyClass.INTERMEDIATE_READ: 1}
    assert found(*rows, {**consumed(0), "ended_ns": 50}) == {}


def test_a_later_transaction_that_lies_before_an_earlier_one_is_reordered() -> None:
    """Transaction 2 of another producer began after the end of 1, and lies before it in one partition."""
    rows = [write(1, 0, offset=5), write(2, 9, producer=2, offset=3)]
    finals = [final(0, offset=5), final(9, producer=2, offset=3)]
    assert found(*rows, *finals) == {AnomalyClass.REORDERED_TRANSACTIONS: 1}
    overlapping = {**rows[1], "began_ns": -1}
    assert found(rows[0], overlapping, *finals) == {}


def test_two_transactions_that_read_each_other_are_g1c() -> None:
    """Neither can have been committed before the other read it; reading in one direction only is no cycle."""
    elsewhere = {"producer": 2, "partition": 1}
    writes = [write(1, 0), write(2, 1, **elsewhere)]
    finals = [final(0), final(1, **elsewhere)]
    one: Row = {**consumed(1, **elsewhere), "group": "", "client": 7, "transaction": 1, "ended_ns": 90}
    other: Row = {**consumed(0), "group": "", "client": 8, "transaction": 2, "ended_ns": 90}
    assert found(*writes, *finals, one) == {}
    assert found(*writes, *finals, one, other) == {AnomalyClass.CIRCULAR_READS: 1}


def test_a_cycle_of_a_read_and_the_order_of_writes_is_only_mentioned() -> None:
    """Transaction 1 wrote before 2 and read what 2 wrote: an open transaction may read on."""
    rows = [write(1, 0), write(2, 1, producer=2), final(0), final(1, producer=2)]
    read: Row = {**consumed(1, producer=2), "group": "", "client": 7, "transaction": 1, "ended_ns": 90}
    assert found(*rows, read) == {AnomalyClass.MIXED_CYCLE: 1}
    assert AnomalyClass.MIXED_CYCLE.kind is None


def test_interleaved_writes_are_g0_which_kafka_allows() -> None:
    """The cycle is mentioned without a kind, so that nothing is called a violation that Kafka never promised."""
    rows = [
        write(1, 0, offset=0, ended_ns=90),
        write(2, 0, producer=2, offset=1, ended_ns=90),
        write(2, 1, producer=2, offset=0, partition=1, ended_ns=90),
        write(1, 1, offset=1, partition=1, ended_ns=90),
    ]
    finals = [
        final(0, offset=0),
        final(0, producer=2, offset=1),
        final(1, producer=2, offset=0, partition=1),
        final(1, offset=1, partition=1),
    ]
    reported = found(*rows, *finals)
    assert reported == {AnomalyClass.WRITE_CYCLE: 1}
    assert AnomalyClass.WRITE_CYCLE.kind is None


EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda edge: edge[0] != edge[1]), max_size=20)


@given(EDGES)
def test_cycles_agree_with_an_oracle(pairs: list[tuple[int, int]]) -> None:
    """There is one cycle per knot, each a closed way along given edges; reachability by hand finds the same knots."""
    rows = np.arange(len(pairs))
    before, after = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    reported = cycles.cycles(cycles.Edges(before, after, rows, rows))
    reach = {(a, b) for a, b in pairs}
    for _ in range(8):
        reach |= {(a, d) for a, b in reach for c, d in reach if b == c}
    knots = {frozenset(n for n in range(8) if (n, k) in reach and (k, n) in reach) for k in range(8)} - {frozenset()}
    assert len(reported) == len(knots)
    for cycle in reported:
        assert cycle.after.tolist() == [*cycle.before.tolist()[1:], cycle.before.tolist()[0]]
        assert any(set(cycle.before.tolist()) <= knot for knot in knots)
        assert set(zip(cycle.before.tolist(), cycle.after.tolist(), strict=True)) <= set(pairs)


@given(EDGES, st.data())
def test_cycles_through_chosen_edges_begin_with_one(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    """A knot without such an edge is left out; the others' cycles begin with one."""
    rows = np.arange(len(pairs))
    before, after = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    through = np.array(data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))), np.bool_)
    edges = cycles.Edges(before, after, rows, rows)
    reported = cycles.cycles(edges, through)
    assert all(through[cycle.row_before[0]] for cycle in reported)
    assert len(reported) <= len(cycles.cycles(edges))
