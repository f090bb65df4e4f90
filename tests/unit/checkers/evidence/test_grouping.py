"""Operations by partition: cut once for all checks of a run."""

from pytest_kmigrate.checkers.evidence.grouping import partitions
from tests.unit.checkers.histories import operations, sent


def test_partitions_are_cut_once() -> None:
    """The second check gets the groups of the first, also if the first looked at one only."""
    whole = operations(sent(0, partition=1), sent(1, partition=0))
    first = next(partitions(whole))
    again = list(partitions(whole))
    assert again[0] is first
    assert [name.rpartition("-")[2] for name, _ in again] == ["0", "1"]
    assert next(partitions(operations(sent(0)))) is not first
