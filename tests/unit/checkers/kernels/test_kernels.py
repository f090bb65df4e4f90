"""Kernels, by properties: random clean groups give nothing, planted anomalies are found, slow oracles agree."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_kmigrate.checkers import kernels
from pytest_kmigrate.checkers.kernels.identity import different, is_among
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations
from tests.unit.checkers.histories import (
    FAILED,
    INDEFINITE,
    OK,
    Row,
    committed,
    consumed,
    operations,
    read_back,
    sent,
    unsure,
)

NUMBERS = st.integers(-(2**63), 2**63 - 1)
OUTCOMES = st.sampled_from([OK, FAILED, INDEFINITE])


@st.composite
def clean_logs(draw: st.DrawFn, least: int = 2) -> list[Row]:
    """One partition as it should be: interleaved producers, holes between offsets, sends of unsure fate."""
    next_sequence: dict[int, int] = defaultdict(int)
    rows: list[Row] = []
    offset = draw(st.integers(0, 2**40))
    for _ in range(draw(st.integers(least, 30))):
        producer = draw(st.integers(1, 3))
        sequence = next_sequence[producer] = next_sequence[producer] + draw(st.integers(1, 3))
        offset += draw(st.integers(1, 3))
        fate = draw(st.sampled_from(["acked", "acked", "unsure", "gone"]))
        rows.append(sent(sequence, offset, producer=producer))
        if fate != "acked":
            rows[-1] = unsure(sequence, producer=producer)
        if fate != "gone":
            rows.append(read_back(sequence, offset, producer=producer))
            rows += [consumed(offset, producer=producer, sequence=sequence)] if draw(st.booleans()) else []
    return draw(st.permutations(rows))


def _places(group: Operations) -> tuple[Any, Any, Any, Any, Any]:
    return group.kind, group.outcome, group.offset, group.producer, group.sequence


def _anomalies(rows: list[Row]) -> dict[str, int]:
    g = operations(*rows)
    unknown, denied = kernels.phantoms(g.kind, g.outcome, g.producer, g.sequence, g.error)
    return {
        "lost": len(kernels.lost(g.kind, g.outcome, g.producer, g.sequence)),
        "phantom": len(unknown) + len(denied),
        "reordered": len(kernels.reordered(*_places(g), g.idempotent)[1]),
        "duplicated": len(kernels.duplicated(*_places(g), g.idempotent)[1]),
        "contested": len(kernels.contested_offsets(*_places(g))[1]),
        "moved": len(kernels.moved(*_places(g))[1]),
    }


NOTHING = dict.fromkeys(("lost", "phantom", "reordered", "duplicated", "contested", "moved"), 0)


def _kept(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["kind"] is OperationKind.FINAL_READ]


@given(clean_logs(least=0))
def test_a_clean_log_shows_nothing(rows: list[Row]) -> None:
    """No kernel finds anything in a log as it should be, however it was recorded."""
    assert _anomalies(rows) == NOTHING


@given(clean_logs(), st.data())
def test_dropped_final_reads_of_acknowledged_records_are_lost(rows: list[Row], data: st.DataObject) -> None:
    """Exactly those acknowledged records are lost whose final read is taken away."""
    dropped = data.draw(st.sets(st.sampled_from(range(len(rows)))))
    left = [row for at, row in enumerate(rows) if at not in dropped or row["kind"] is not OperationKind.FINAL_READ]
    read = {(row["producer"], row["sequence"]) for row in _kept(left)}
    acked = [row for row in left if row["kind"] is OperationKind.PRODUCE and row.get("outcome", OK) is OK]
    expected = sum((row["producer"], row["sequence"]) not in read for row in acked)
    assert _anomalies(left)["lost"] == expected


@given(clean_logs(), st.integers(1, 3), st.integers(1000, 2000))
def test_an_invented_record_is_a_phantom(rows: list[Row], producer: int, sequence: int) -> None:
    """A record with a counter never reached is found, and nothing else with it that is not so."""
    found = _anomalies([*rows, read_back(sequence, 2**41, producer=producer)])
    assert found["phantom"] == 1
    assert (found["lost"], found["contested"], found["moved"]) == (0, 0, 0)


@given(clean_logs(), st.data())
def test_a_copy_at_a_new_offset_is_a_duplicate_and_nothing_else(rows: list[Row], data: st.DataObject) -> None:
    """A second final read of a record at a later offset is a duplicate of an idempotent producer."""
    kept = _kept(rows)
    if kept:
        copy: Row = {**data.draw(st.sampled_from(kept)), "offset": 2**41}
        assert _anomalies([*rows, copy]) == {**NOTHING, "duplicated": 1}


@given(clean_logs(), st.data())
def test_two_records_that_changed_places_are_found(rows: list[Row], data: st.DataObject) -> None:
    """Final reads that put two records at each other's offsets contradict every acknowledgement of those offsets."""
    kept = _kept(rows)
    if len(kept) < 2:
        return
    one, other = data.draw(st.lists(st.sampled_from(kept), min_size=2, max_size=2, unique_by=id))
    swap = {id(one): other["offset"], id(other): one["offset"]}
    swapped: list[Row] = [{**row, "offset": swap.get(id(row), row.get("offset", -1))} for row in rows]
    claims = {
        (r["producer"], r["sequence"]) for r in rows if r["kind"] is not OperationKind.FINAL_READ and r["offset"] >= 0
    }
    is_claimed = any((row["producer"], row["sequence"]) in claims for row in (one, other))
    found = _anomalies(swapped)
    assert (found["contested"] > 0) == (found["moved"] > 0) == is_claimed
    if one["producer"] == other["producer"] and not is_claimed:
        assert found["reordered"] > 0


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=20))
def test_packing_keeps_equality_and_order(pairs: list[tuple[int, int]]) -> None:
    """Packed numbers are equal for equal pairs, different for different ones, and in their order; for all values."""
    high = np.array([pair[0] for pair in pairs], np.int64)
    low = np.array([pair[1] for pair in pairs], np.int64)
    keys = kernels.packed(high, low).tolist()
    ranks = {pair: rank for rank, pair in enumerate(sorted(set(pairs)))}
    key_ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    assert [ranks[pair] for pair in pairs] == [key_ranks[key] for key in keys]


@given(st.lists(st.one_of(NUMBERS, st.integers(0, 9))), st.lists(st.one_of(NUMBERS, st.integers(0, 9))))
def test_membership_agrees_with_sets(values: list[int], others: list[int]) -> None:
    """Close numbers are looked up in a table and distant ones are sorted; the answer is that of a set."""
    reported = is_among(np.array(values, np.int64), np.array(others, np.int64))
    assert reported.tolist() == [value in set(others) for value in values]


COMMITS = st.lists(
    st.builds(
        lambda offset, at, took, outcome: committed(offset, at, took, outcome=outcome),
        st.integers(0, 9),
        st.integers(0, 40),
        st.integers(0, 8),
        OUTCOMES,
    ),
    max_size=12,
)


@given(COMMITS)
def test_falling_commits_agree_with_an_oracle(rows: list[Row]) -> None:
    """A commit runs back exactly if some acknowledged one had ended, with a higher offset, before it began."""
    g = operations(*rows)
    ok = [row for row in range(len(g)) if g.outcome[row] == OK]
    expected = [row for row in ok if any(g.ended_ns[o] <= g.began_ns[row] and g.offset[o] > g.offset[row] for o in ok)]
    earlier, later = kernels.commits_run_back(g.outcome, g.offset, g.began_ns, g.ended_ns)
    assert sorted(later.tolist()) == expected
    assert all(g.offset[high] > g.offset[low] for high, low in zip(earlier, later, strict=True))


@given(COMMITS, st.lists(st.tuples(st.integers(0, 9), st.integers(0, 50)), max_size=8))
def test_reads_below_committed_agree_with_an_oracle(rows: list[Row], reads: list[tuple[int, int]]) -> None:
    """A start is too low exactly if every commit that may have been in force had a higher offset."""
    reads = sorted(reads, key=lambda each: each[1])
    r, c = operations(*[consumed(offset, at) for offset, at in reads]), operations(*rows)
    expected = []
    for row in range(len(r)):
        is_start = row == 0 or r.offset[row] <= r.offset[row - 1]
        floor = _floor(c, int(r.began_ns[row]))
        expected += [row] if is_start and floor is not None and r.offset[row] < floor else []
    below, _ = kernels.reads_below_committed(r.offset, r.began_ns, c.outcome, c.offset, c.began_ns, c.ended_ns)
    assert below.tolist() == expected


def _floor(commits: Operations, at_ns: int) -> int | None:
    rows = range(len(commits))
    ok = [row for row in rows if commits.outcome[row] == OK and commits.began_ns[row] <= at_ns]
    done = [row for row in ok if commits.ended_ns[row] < at_ns]
    if not done:
        return None
    last = max(done, key=lambda row: (commits.ended_ns[row], row))
    near = [row for row in ok if commits.ended_ns[row] >= commits.began_ns[last]]
    late = [row for row in rows if commits.outcome[row] == INDEFINITE and commits.began_ns[row] <= at_ns]
    return min(int(commits.offset[row]) for row in [*near, *late])


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20), OUTCOMES), max_size=12))
def test_gaps_agree_with_an_oracle(sends: list[tuple[int, int, OperationOutcome]]) -> None:
    """At each instant the wait so far, from the last acknowledgement or the first send waiting, is in some gap."""
    g = operations(*[sent(n, began_ns=b, ended_ns=b + t, outcome=o) for n, (b, t, o) in enumerate(sends)])
    gaps = kernels.gaps_between_acknowledgements(g.outcome, g.began_ns, g.ended_ns)
    spans = list(zip(gaps.began_ns.tolist(), gaps.ended_ns.tolist(), strict=True))
    acked = sorted({b + t for b, t, o in sends if o is OK})
    last = max((b + t for b, t, _ in sends), default=-1)
    stops = acked + ([last] if last not in acked and sends else [])
    expected = []
    for before, stop in zip([None, *stops], stops, strict=False):
        waiting = min(b for b, t, _ in sends if before is None or b + t > before)
        start = waiting if before is None else max(before, waiting)
        failed = [b + t for b, t, _ in sends if (before is None or b + t > before) and b + t < stop]
        again = min(b for b, t, _ in sends if b + t >= stop)
        is_silent = stop in acked and bool(failed) and again > max(failed)
        expected += [(start, max(failed)), (again, stop)] if is_silent else [(start, stop)]
    assert spans == expected


def test_a_damaged_counter_is_still_exact() -> None:
    """Values too far apart for one number are ranked, so that the anomaly next to them is still found."""
    far = [sent(2**62, 5), read_back(2**62, 5), read_back(-(2**62), 6, producer=3)]
    assert _anomalies([sent(0), *far])["lost"] == 1
    assert _anomalies([sent(0), *far])["phantom"] == 1


def test_kernels_take_empty_groups() -> None:
    """A group without rows has no anomalies and no gaps."""
    assert _anomalies([]) == NOTHING
    g = operations()
    assert len(kernels.gaps_between_acknowledgements(g.outcome, g.began_ns, g.ended_ns).length_ns) == 0
    assert len(kernels.steps_back(g.offset)) == 0


@pytest.mark.parametrize("values", [[], [3], [2, 2, 2], [5, -1, 5, 0, -1]])
def test_different_values_come_in_order_each_once(values: list[int]) -> None:
    """As ``np.unique`` has them."""
    column = np.array(values, np.int64)
    assert different(column).tolist() == np.unique(column).tolist()
