"""Facts about images that are equal and yet prove nothing, and about logs that cannot be."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.image import FAMILIES, MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict
from tests.unit.checkers.histories import change, history, snapshot
from tests.unit.checkers.images import FULL


def _compared(left: MetadataImage, right: MetadataImage, families: Sequence[str] | None = None) -> Verdict:
    taken = [snapshot(5, label, took_ms=0) for label in ("left", "right")]
    return metadata_equivalent.judge(
        history(events=taken, images={"left": left, "right": right}), "left", "right", families
    )


def _without(*families: str) -> MetadataImage:
    known = tuple(family for family in FAMILIES if family not in families)
    return replace(FULL, source="admin", known=known, **{family: {} for family in families})


TWICE = "offset 3: topic orders exists already, now with id x2"


def test_a_log_with_changes_of_what_does_not_exist_violates_although_both_sides_are_equal() -> None:
    """Violating: also when other families are compared; no bug of dual write explains what the log itself holds."""
    log = replace(FULL, extra={"unplaced": [TWICE]})
    for families in (None, ["quotas"]):
        verdict = _compared(log, FULL, families)
        assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
        assert verdict.violations[0].observed == TWICE
        assert verdict.violations[0].evidence == ("image left", "event 0")
        assert verdict.summary.startswith("1 change in the log that cannot be, first: ")
    both = _compared(log, replace(FULL, quotas={}))
    assert (both.count, both.summary[:52]) == (2, "1 difference between left and right and 1 change in ")


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("/brokers/topics/t", "topics"),
        ("/brokers/topics/t/partitions/0/state", "partitions"),
        ("/config/brokers/1", "configs"),
        ("/config/users/alice", "scram"),
        ("/config/users/alice/clients/c", "quotas"),
        ("/config/ips/127.0.0.1", "quotas"),
        ("/kafka-acl-extended/prefixed/Topic/t", "acls"),
        ("/delegation_token/tokens/t", "delegation_tokens"),
        ("/latest_producer_id_block", "producer_ids"),
    ],
)
def test_a_znode_that_could_not_be_understood_leaves_its_family_in_doubt(path: str, family: str) -> None:
    """Inconclusive, and named; another family is not concerned, and a difference is one all the same."""
    zookeeper = replace(FULL, source="zookeeper", extra={"unread": [path]})
    verdict = _compared(FULL, zookeeper)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.HARNESS)
    assert verdict.summary.startswith(f"1 znode could not be understood: {path}; left and right are equal else")
    assert _compared(FULL, zookeeper, [family]).outcome is Outcome.INCONCLUSIVE
    other = "acls" if family != "acls" else "quotas"
    assert _compared(FULL, zookeeper, [other]).outcome is Outcome.CONFORMS
    assert _compared(replace(FULL, topics={}), zookeeper).outcome is Outcome.VIOLATES


@pytest.mark.parametrize("family", ["acls", "scram", "delegation_tokens"])
def test_what_brokers_do_not_tell_and_the_other_side_holds_is_not_equal(family: str) -> None:
    """Inconclusive; where there is none of it, as in a cluster without authorizer, it is named and passes."""
    verdict = _compared(FULL, _without(family))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert verdict.summary.startswith(f"{family}: brokers reported none")
    bare = _compared(replace(FULL, **{family: {}}), _without(family))
    assert bare.outcome is Outcome.CONFORMS
    assert bare.summary.endswith(f"; not compared: {family}")


def test_what_brokers_never_tell_is_left_out_by_name() -> None:
    """Nobody asks them for producer ids, and in ZooKeeper mode they have no features."""
    verdict = _compared(FULL, _without("producer_ids", "features"))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary.endswith("; not compared: producer_ids, features")


def test_a_family_that_a_broker_did_not_answer_about_is_not_equal() -> None:
    """Inconclusive, as an infrastructure's; it does not matter where the other side cannot know the family."""
    silent = replace(FULL, source="admin", extra={"unanswered": {"features": ["broker-1", "broker-2"]}})
    verdict = _compared(FULL, silent)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.INFRA)
    assert verdict.summary.startswith("broker-1, broker-2 did not answer about features")
    assert _compared(FULL, silent, ["topics"]).outcome is Outcome.CONFORMS
    assert _compared(replace(_without("features"), source="zookeeper"), silent).outcome is Outcome.CONFORMS
    assert _compared(replace(FULL, topics={}), silent).outcome is Outcome.VIOLATES


STALE = MetadataImage(
    "admin",
    topics={"new": {"id": {"broker-0": "x", "broker-1": None}}, "old": {"id": {"broker-0": None, "broker-1": "y"}}},
    partitions={
        "all-0": {"replicas": [1]},
        "all-1": {"replicas": {"broker-0": [1], "broker-1": None}},
        "old-0": {"replicas": {"broker-0": None, "broker-1": [1]}},
    },
    quotas={"user=a": {"producer_byte_rate": {"broker-0": 1.0, "broker-1": None}}},  # type: ignore[dict-item]
)


def test_what_was_acknowledged_holds_only_where_every_broker_tells_it() -> None:
    """A stale broker that lacks a topic, keeps a deleted one, or missed new partitions and a quota, shows by name."""
    events = [
        change(1, "create-topic", "new"),
        change(2, "delete-topic", "old"),
        change(3, "add-partitions", "all", wanted={"partitions": 2}),
        change(4, "set-quota", "user=a", wanted={"producer_byte_rate": 1}),
    ]
    verdict = acknowledged_metadata_changes_present.judge(history(events=events, images={"b": STALE}), "b")
    reported = {each.expected.partition(" is ")[0]: each.observed for each in verdict.violations}
    assert reported == {
        "topics new": "{'broker-0': 'x', 'broker-1': None} in b",
        "topics old": "{'broker-0': None, 'broker-1': 'y'} in b",
        "partitions all count": "1 in b",
        "quotas user=a producer_byte_rate": "{'broker-0': 1.0, 'broker-1': None} in b",
    }


def test_a_change_that_a_broker_was_not_heard_about_is_in_doubt() -> None:
    """Inconclusive; of a family in which nothing was changed it does not matter, and what others lost is lost."""
    image = replace(FULL, source="admin", extra={"unanswered": {"quotas": ["broker-1"]}})
    topic = change(1, "create-topic", "orders")
    quota, another = (change(2, "set-quota", "user=a", wanted={"producer_byte_rate": rate}) for rate in (1024, 7))
    verdicts = [
        acknowledged_metadata_changes_present.judge(history(events=events, images={"b": image}), "b")
        for events in ([topic], [topic, quota], [topic, another])
    ]
    outcomes = [verdict.outcome for verdict in verdicts]
    assert outcomes == [Outcome.CONFORMS, Outcome.INCONCLUSIVE, Outcome.VIOLATES]
    assert (verdicts[1].kind, verdicts[1].summary[:38]) == (Kind.INFRA, "broker-1 did not answer about quotas i")
