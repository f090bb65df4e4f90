"""Facts about requests that brokers forward: only what both sides know is to be offered."""

from pytest_kmigrate.documents.kip_778.forwarded import beyond, common, differing, offered_otherwise

QUORUM, CREATE, FETCH = 55, 19, 1
OWN = {QUORUM: (0, 2), CREATE: (0, 7), FETCH: (0, 17)}
OLD = {QUORUM: (0, 1), CREATE: (0, 7), FETCH: (0, 16)}


def test_what_both_know_conforms() -> None:
    """A request that is not forwarded may differ."""
    assert offered_otherwise({"broker-0": {**OWN, QUORUM: (0, 1)}}, OWN, OLD) == []
    assert differing(OWN, OLD) == ["DescribeQuorum"]


def test_what_the_controller_does_not_know_is_noticed() -> None:
    """Violating: one broker of two offers what it knows by itself."""
    mixed = {"broker-0": {**OWN, QUORUM: (0, 1)}, "broker-1": OWN}
    assert offered_otherwise(mixed, OWN, OLD) == ["broker-1: DescribeQuorum its own (0, 2) instead of (0, 1)"]


def test_what_is_beyond_a_controller() -> None:
    """A request that it lacks, and versions above its own; a broker that has asked it offers neither."""
    assert beyond({"broker-0": {**OWN, QUORUM: (0, 1)}}, OLD) == []
    assert beyond({"broker-0": OWN, "broker-1": {64: (0, 0)}}, OLD) == [
        "broker-0: DescribeQuorum (0, 2)",
        "broker-1: UnregisterBroker (0, 0)",
    ]


def test_less_than_both_know_is_noticed() -> None:
    """Violating: a request that both know is not offered."""
    assert offered_otherwise({"broker-0": {QUORUM: (0, 1)}}, OWN, OLD) == [
        "broker-0: CreateTopics None instead of (0, 7)"
    ]


def test_nothing_differs_between_equal_sides() -> None:
    """Vacuous: a broker that offers its own versions looks like one that compares."""
    assert differing(OWN, OWN) == []


def test_ranges_without_a_common_version() -> None:
    """None, also where one side lacks the request."""
    assert [common((2, 3), (0, 1)), common(None, (0, 1)), common((0, 3), (2, 5))] == [None, None, (2, 3)]
