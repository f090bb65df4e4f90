"""Who owns what, by what members have reported so far."""

from pytest_kmigrate.checkers.evidence.ownership import owners
from pytest_kmigrate.documents.kip_125.kinds import TOPIC
from tests.unit.documents.kip_125.groups import ended, owns, released


def test_a_partition_is_the_last_owners() -> None:
    """Neither that of one who released it, nor of one who ended."""
    events = [owns(1, 10, 0, 1, 2), released(1, 20, 1), owns(2, 30, 1), ended(1, 40)]
    assert owners(events) == {(TOPIC, 1): "MEZKCC-2"}


def test_lines_that_are_read_late_change_no_owner() -> None:
    """The successor's line was read before those of the member that had the partition earlier."""
    assert owners([owns(2, 30, 0), owns(1, 10, 0), released(1, 20, 0)]) == {(TOPIC, 0): "MEZKCC-2"}
