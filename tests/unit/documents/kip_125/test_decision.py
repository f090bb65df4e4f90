"""What a member decides from what it sees."""

import pytest

from pytest_kmigrate.documents.kip_125.reference.decision import Source, range_assignment, source, thread_split


@pytest.mark.parametrize(
    ("ids", "migrating", "mode", "decides"),
    [
        ("ab", "ab", b"kafka", Source.KAFKA),
        ("ab", "abc", b"kafka", Source.KAFKA),
        ("ab", "a", b"kafka", Source.ZOOKEEPER),
        ("ab", "ab", None, Source.ZOOKEEPER),
        ("ab", "ab", b"zookeeper", Source.ZOOKEEPER),
        ("ab", "ab", b"kafka\n", Source.ZOOKEEPER),
        ("ab", "ab", b"KAFKA", Source.ZOOKEEPER),
        ("ab", "ab", b"", Source.ZOOKEEPER),
    ],
)
def test_kafka_decides_only_where_all_can_follow_and_the_mode_is_exactly_kafka(
    ids: str, migrating: str, mode: bytes | None, decides: Source
) -> None:
    """Any other content, a missing node and any member without migration mean ZooKeeper."""
    assert source(ids, migrating, mode) is decides


def test_range_gives_each_thread_a_stretch_in_the_order_of_their_names() -> None:
    """As the old consumer does: threads sorted as text, the first ones get the partitions left over."""
    found = range_assignment("t", 7, {"b": {"t": 1}, "a": {"t": 2}, "c": {"u": 1}})
    assert [found["t", each] for each in range(7)] == ["a-0", "a-0", "a-0", "a-1", "a-1", "b-0", "b-0"]
    assert range_assignment("t", 3, {"a": {"u": 1}}) == {}


def test_partitions_of_a_member_are_split_by_relative_numbers() -> None:
    """Round robin goes around once over topics and threads, whatever the partitions' real numbers are."""
    held = [("t1", 2), ("t0", 6), ("t0", 1), ("t1", 0), ("t0", 4)]
    found = thread_split(held, {"t0": 2, "t1": 2}, "c")
    assert [found[each] for each in sorted(held)] == ["c-0", "c-1", "c-0", "c-1", "c-0"]
    assert thread_split([("t0", 0), ("t1", 0), ("t1", 1)], {"t0": 1, "t1": 2}, "c") == {
        ("t0", 0): "c-0",
        ("t1", 0): "c-1",
        ("t1", 1): "c-0",
    }
