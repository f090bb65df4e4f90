"""The check of transactions: whole or absent, never aborted ones, in their order."""

from typing import Any

import pytest

from pytest_kmigrate.checkers.clients.transactions import transactions_all_or_nothing
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import FAILED, INDEFINITE, MS, OK, Row, consumed, history, read_back, sent


def _in(transaction: int, outcome: int, *rows: Row) -> list[Row]:
    timed: list[Row] = []
    for place, row in enumerate(rows):
        at = (10 * transaction + place) * MS
        timed.append(
            {**row, "transaction": transaction, "transaction_outcome": outcome, "began_ns": at, "ended_ns": at}
        )
    return timed


def _read(*sequences: int, **more: Any) -> list[Row]:
    return [read_back(sequence, began_ns=900 * MS, ended_ns=901 * MS, **more) for sequence in sequences]


WHOLE = [*_in(1, OK, sent(0), sent(1)), *_in(2, FAILED, sent(2), sent(3)), *_in(3, INDEFINITE, sent(4), sent(5))]


@pytest.mark.parametrize("indefinite", [(), (4, 5)], ids=["absent", "there"])
def test_whole_transactions_conform(indefinite: tuple[int, ...]) -> None:
    """Committed ones are there, aborted ones are not, and of one with an unknown end all is, or nothing."""
    verdict = transactions_all_or_nothing.judge(history([*WHOLE, *_read(0, 1, *indefinite)]))
    assert verdict.outcome is Outcome.CONFORMS
    assert (verdict.facts["committed"], verdict.facts["aborted"], verdict.facts["indefinite"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("rows", "reported"),
    [
        ([*WHOLE, *_read(0, 1, 2)], "aborted read"),
        ([*WHOLE, *_read(0, 1, 4)], "torn transaction"),
        ([*WHOLE, *_read(0)], "torn transaction"),
        ([*_in(1, OK, sent(0), sent(1)), consumed(0, at_ms=10), *_read(0, 1)], "intermediate read"),
        ([*_in(1, OK, sent(0, 9)), *_in(2, OK, sent(1, 4)), *_read(0, 1)], "reordered transactions"),
    ],
)
def test_any_part_of_what_must_not_be_read_violates(rows: list[Row], reported: str) -> None:
    """SAFETY, with the class and the rows that show it."""
    verdict = transactions_all_or_nothing.judge(history(rows))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.SAFETY)
    assert reported in verdict.summary
    assert verdict.violations[0].observed


def test_without_a_final_read_of_them_nothing_is_judged() -> None:
    """Inconclusive: no client read a record of a transaction at the end; what a consumer saw amiss still violates."""
    for others in ([], [sent(9, producer=2), read_back(9, producer=2)], [consumed(0, at_ms=800)]):
        verdict = transactions_all_or_nothing.judge(history([*WHOLE, *others]))
        assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert transactions_all_or_nothing.judge(history([*WHOLE, consumed(2, at_ms=800)])).outcome is Outcome.VIOLATES


def test_without_a_committed_transaction_nothing_is_judged() -> None:
    """A run of other producers, or one in which nothing was ever committed, proves nothing."""
    for rows in ([sent(0), *_read(0)], _in(1, FAILED, sent(0))):
        verdict = transactions_all_or_nothing.judge(history(rows))
        assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
