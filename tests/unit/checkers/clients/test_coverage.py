"""Coverage: a class of anomaly is called checked where the operations would have shown it, and nowhere else."""

from pathlib import Path

import pytest

from pytest_kmigrate.checkers.kernels import ALL_ASPECTS, AnomalyClass, Aspect, anomalies_of, could_show, surroundings
from pytest_kmigrate.checkers.kernels.coverage import Columns
from pytest_kmigrate.recording.operation_parts import read_operations
from tests.bench.operations import Shape, synthetic_run, write_parts
from tests.unit.checkers.histories import FAILED, Row, committed, consumed, operations, read_back, refused, sent, unsure

OF_A_PLAIN_RUN = {"lost write", "phantom", "duplicate", "moved", "inconsistent offset", "reordering"}


def _columns(*rows: Row) -> Columns:
    """Rows as columns, with what is known of the clients' groups."""
    named = operations(*rows)
    looked_at = {name: getattr(named, name) for name in ("kind", "outcome", "idempotent", "transaction")}
    return {**looked_at, "in_group": named.group != ""}


def _shown(*rows: Row, is_settled: bool = True) -> set[str]:
    around = surroundings(operations(*rows), is_settled=is_settled)
    return {each.value for each in could_show(_columns(*rows), ALL_ASPECTS, around)}


def test_what_was_written_and_read_back_would_show_losses_and_no_transactions() -> None:
    """Without a final read no loss, while a workload runs no phantom; nothing at all of no operations."""
    assert _shown(sent(0), read_back(0)) == OF_A_PLAIN_RUN
    assert _shown(sent(0)) == {"reordering"}
    assert _shown(sent(0, idempotent=False), read_back(0)) == OF_A_PLAIN_RUN - {"duplicate", "reordering"}
    assert _shown(sent(0), read_back(0), is_settled=False) == OF_A_PLAIN_RUN - {"phantom"}
    assert _shown(refused(0, idempotent=False), read_back(0)) == {"phantom", "refused but found", "inconsistent offset"}
    assert _shown() == set()


@pytest.mark.parametrize(
    ("more", "added"),
    [
        (consumed(0), {"poll skip"}),
        (consumed(0, group=""), {"poll skip", "non-monotonic poll"}),
        (committed(0, 1), {"non-monotonic commit"}),
        (refused(1), {"refused but found"}),
        (sent(1, transaction=1), {"aborted read (G1a)", "torn transaction", "reordered transactions"}),
    ],
    ids=["a group's read", "a read", "a commit", "a refusal", "a transaction"],
)
def test_each_sort_of_operation_adds_what_it_would_show(more: Row, added: set[str]) -> None:
    """Beside what was written and read back."""
    assert _shown(sent(0), read_back(0), more) == OF_A_PLAIN_RUN | added


def test_what_nobody_acknowledged_or_found_would_show_losses_too() -> None:
    """A record that a consumer read must be there; a topic that does not exist any more has lost all it had."""
    assert "lost write" in _shown(unsure(0), consumed(0), read_back(1))
    assert "lost write" not in _shown(unsure(0), read_back(0))
    gone = read_back(-1, producer=-1, partition=-1, outcome=FAILED, error="UNKNOWN_TOPIC_OR_PARTITION")
    assert _shown(sent(0), gone) == {"reordering", "lost write"}
    assert _shown(sent(0), {**gone, "error": "_TIMED_OUT"}) == {"reordering"}


def test_only_the_aspects_looked_at_count() -> None:
    """A slice of a large run speaks for its own aspect only."""
    rows = (sent(0), read_back(0), committed(0, 1))
    found = could_show(_columns(*rows), {Aspect.READER}, surroundings(operations(*rows)))
    assert found == [AnomalyClass.NON_MONOTONIC_COMMIT]


@pytest.mark.parametrize("shape", [Shape(), Shape(is_transactional=True)], ids=["plain", "transactional"])
def test_what_is_found_was_checked(tmp_path: Path, shape: Shape) -> None:
    """No class is found in a run of which it is said that it would not have shown it."""
    write_parts(synthetic_run(7, 9_000, shape), tmp_path)
    run = read_operations(tmp_path)
    looked_at = {name: getattr(run, name) for name in ("kind", "outcome", "idempotent", "transaction")}
    found = {each.name for each in anomalies_of(run) if each.name.kind is not None}
    checked = could_show({**looked_at, "in_group": run.group != ""}, ALL_ASPECTS, surroundings(run))
    assert found
    assert found <= set(checked)
