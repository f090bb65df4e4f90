"""Facts about acknowledged metadata changes: which must hold in an image, and which may."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict
from tests.unit.checkers.histories import MS, change, event, history, snapshot
from tests.unit.checkers.images import FULL, PARTITION


def _present(image: MetadataImage, *events: Event, label: str = "log") -> Verdict:
    return acknowledged_metadata_changes_present.judge(history(events=events, images={label: image}), "log")


EVERY_CHANGE = [
    change(1, "create-topic", "orders", wanted={"partitions": 1, "replication": 2}),
    change(3, "add-partitions", "orders", wanted={"partitions": 2}),
    change(5, "alter-config", "topic:orders", wanted={"retention.ms": 1, "cleanup.policy": None}),
    change(7, "set-acl", "Topic:LITERAL:orders", wanted={"binding": "User:a|*|READ|ALLOW"}),
    change(9, "remove-acl", "Topic:LITERAL:orders", wanted={"binding": "User:b|*|READ|ALLOW"}),
    change(11, "set-quota", "user=a", wanted={"producer_byte_rate": 1024, "consumer_byte_rate": None}),
    change(13, "set-scram", "a:SCRAM-SHA-256", wanted={"iterations": 4096}),
    change(15, "remove-scram", "b:SCRAM-SHA-256"),
    change(17, "delete-topic", "old"),
    change(19, "create-token", "t1", wanted={"owner": "User:a", "renewers": ["User:b"], "expires_ms": 1}),
    change(21, "renew-token", "t1", wanted={"owner": "User:a", "renewers": ["User:b"], "expires_ms": 5}),
    change(23, "create-token", "t2", wanted={"owner": "User:a", "renewers": [], "expires_ms": 1}),
    change(25, "remove-token", "t2"),
]
TOKENS = {"t1": {"owner": "User:a", "renewers": ["User:b"], "expires_ms": 5}}
FULL = replace(FULL, delegation_tokens=TOKENS)


def test_all_acknowledged_changes_present_conform() -> None:
    """Conforming: every kind of change holds in the image."""
    verdict = _present(FULL, *EVERY_CHANGE)
    assert verdict.outcome is Outcome.CONFORMS, verdict.violations
    assert verdict.facts["judged"] == 21


@pytest.mark.parametrize(
    ("lost", "expected", "observed"),
    [
        ({"topics": {}}, "topics orders is present", "absent in log"),
        ({"partitions": {"orders-0": PARTITION}}, "partitions orders count is 2", "1 in log"),
        ({"partitions": {f"orders-{n}": {"replicas": [1]} for n in (0, 1)}}, "orders replication is 2", "1 in log"),
        ({"configs": {}}, "configs topic:orders retention.ms is '1'", "absent in log"),
        (
            {"configs": {"topic:orders": {"retention.ms": "1", "cleanup.policy": "compact"}}},
            "configs topic:orders cleanup.policy is absent",
            "'compact' in log",
        ),
        ({"acls": {}}, "Topic:LITERAL:orders User:a|*|READ|ALLOW is present", "absent in log"),
        (
            {"acls": {"Topic:LITERAL:orders": ["User:a|*|READ|ALLOW", "User:b|*|READ|ALLOW"]}},
            "User:b|*|READ|ALLOW is absent",
            "present in log",
        ),
        ({"quotas": {}}, "quotas user=a producer_byte_rate is 1024.0", "absent in log"),
        ({"scram": {}}, "scram a:SCRAM-SHA-256 is 4096", "absent in log"),
        ({"topics": {"orders": {}, "old": {}}}, "topics old is absent", "present in log"),
        ({"delegation_tokens": {**TOKENS, "t2": {}}}, "delegation_tokens t2 is absent", "present in log"),
        (
            {"delegation_tokens": {"t1": {**TOKENS["t1"], "expires_ms": 1}}},
            "delegation_tokens t1 expires_ms is 5",
            "1 in log",
        ),
        (
            {"delegation_tokens": {"t1": {**TOKENS["t1"], "renewers": []}}},
            "delegation_tokens t1 renewers is ['User:b']",
            "[] in log",
        ),
        ({"partitions": {**FULL.partitions, "old-0": PARTITION}}, "partitions old count is absent", "1 in log"),
    ],
)
def test_any_acknowledged_change_that_is_missing_violates(lost: dict[str, Any], expected: str, observed: str) -> None:
    """Violating: each kind of change, lost from the image, is reported with subject, value and event."""
    verdict = _present(replace(FULL, **lost), *EVERY_CHANGE)
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    [violation] = verdict.violations
    assert expected in violation.expected
    assert violation.observed == observed
    assert violation.evidence[1] == "image log"


def test_later_changes_supersede_earlier_ones() -> None:
    """What was created and deleted is absent, with its configs and partitions; created again, it is there."""
    created = change(1, "create-topic", "t", wanted={"partitions": 3})
    config = change(3, "alter-config", "topic:t", wanted={"a": "1"})
    deleted = change(5, "delete-topic", "t")
    empty = MetadataImage("log")
    assert _present(empty, created, config, deleted).outcome is Outcome.CONFORMS
    left_over = replace(empty, configs={"topic:t": {"a": "1"}})
    assert (
        _present(left_over, created, config, deleted).violations[0].expected.startswith("configs topic:t a is absent")
    )
    again = change(7, "create-topic", "t", wanted={"partitions": 1})
    there = replace(empty, topics={"t": {}}, partitions={"t-0": {}})
    assert _present(there, created, config, deleted, again).outcome is Outcome.CONFORMS
    assert _present(empty, created, config, deleted, again).count == 2


def test_an_indefinite_change_may_hold_or_not() -> None:
    """Both values are admissible, also after a later acknowledged change; a third value is not."""
    first = change(1, "alter-config", "broker:1", wanted={"a": "1"})
    unsure = change(3, "alter-config", "broker:1", "indefinite", wanted={"a": "2"})
    last = change(5, "alter-config", "broker:1", wanted={"a": "3"})
    for value, outcome in {"1": Outcome.VIOLATES, "2": Outcome.CONFORMS, "3": Outcome.CONFORMS}.items():
        image = MetadataImage("log", configs={"broker:1": {"a": value}})
        assert _present(image, first, unsure, last).outcome is outcome
        assert _present(image, unsure).outcome is Outcome.INCONCLUSIVE


def test_a_topic_that_was_perhaps_deleted_takes_its_configs_along() -> None:
    """After an indefinite deletion neither the topic nor what was said of it since must be there."""
    created = change(1, "create-topic", "t", wanted={"partitions": 1})
    deleted = change(3, "delete-topic", "t", "indefinite")
    config = change(5, "alter-config", "topic:t", wanted={"a": "1"})
    assert _present(MetadataImage("log"), created, deleted, config).outcome is Outcome.CONFORMS
    there = MetadataImage("log", topics={"t": {}}, partitions={"t-0": {}})
    assert _present(there, created, deleted, config).count == 1


def test_changes_that_overlap_may_hold_in_either_order() -> None:
    """Two acknowledged changes in progress at the same time: the last answer need not be the last word."""
    one = change(10, "alter-config", "broker:1", wanted={"a": "1"}, began_ns=0)
    other = change(11, "alter-config", "broker:1", wanted={"a": "2"}, began_ns=0)
    for value in ("1", "2"):
        assert (
            _present(MetadataImage("log", configs={"broker:1": {"a": value}}), one, other).outcome is Outcome.CONFORMS
        )


def test_failed_changes_change_nothing() -> None:
    """A refused change leaves the value that was acknowledged."""
    events = [
        change(1, "alter-config", "broker:1", wanted={"a": "1"}),
        change(3, "alter-config", "broker:1", "failed", wanted={"a": "2"}),
    ]
    assert _present(MetadataImage("log", configs={"broker:1": {"a": "1"}}), *events).outcome is Outcome.CONFORMS


def test_only_changes_before_the_image_was_taken_must_be_in_it() -> None:
    """Later ones need not be there; those in progress at that time may be."""
    taken = snapshot(10, "log", took_ms=0)
    before = change(5, "alter-config", "broker:1", wanted={"a": "1"})
    during = change(12, "alter-config", "broker:1", wanted={"a": "2"}, began_ns=9 * MS)
    after = change(20, "alter-config", "broker:1", wanted={"a": "3"})
    for value, outcome in {"1": Outcome.CONFORMS, "2": Outcome.CONFORMS, "3": Outcome.VIOLATES}.items():
        image = MetadataImage("log", configs={"broker:1": {"a": value}})
        assert _present(image, before, taken, during, after).outcome is outcome


def test_while_images_settled_changes_count_as_in_progress() -> None:
    """Images taken until they agreed may be older than their event; what was acknowledged meanwhile may be missing."""
    events = [
        change(5, "alter-config", "broker:1", wanted={"a": "1"}),
        change(900, "alter-config", "broker:1", wanted={"a": "2"}),
        snapshot(1000, "log", took_ms=0),
        event(EventKind.SETTLED, 1001, label="x", images=["log"], took_s=0.5),
    ]
    for value, outcome in {"1": Outcome.CONFORMS, "2": Outcome.CONFORMS, "3": Outcome.VIOLATES}.items():
        image = MetadataImage("log", configs={"broker:1": {"a": value}})
        assert _present(image, *events).outcome is outcome


def test_configs_that_a_broker_did_not_tell_are_not_lost() -> None:
    """Inconclusive: it was slow when it was asked; a change of it is neither held nor lost."""
    image = MetadataImage("admin", topics={"t": {}}, extra={"silent_brokers": [1]})
    of_broker = change(2, "alter-config", "broker:1", wanted={"a": "1"})
    verdict = _present(image, change(1, "create-topic", "t"), of_broker)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.INFRA)
    assert verdict.facts["judged"] == 1
    assert _present(image, change(1, "create-topic", "gone"), of_broker).count == 1


def test_nothing_acknowledged_or_visible_is_inconclusive() -> None:
    """Inconclusive: no image, no acknowledged change, or none of a family that the image knows."""
    assert _present(FULL, *EVERY_CHANGE, label="zookeeper").kind is Kind.HARNESS
    assert _present(FULL).kind is Kind.VACUOUS
    verdict = _present(replace(FULL, known=("features",)), *EVERY_CHANGE)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    families = ["acls", "configs", "delegation_tokens", "partitions", "quotas", "scram", "topics"]
    assert verdict.facts["families_not_judged"] == families


def test_an_unknown_change_is_wrong_use() -> None:
    """A change that no rule knows is not passed over."""
    unknown = history(events=[change(1, "rename-topic", "t")], images={"log": FULL})
    with pytest.raises(WrongUseError, match=r"event 0: expected a change out of create-topic.*got 'rename-topic'"):
        acknowledged_metadata_changes_present.judge(unknown, "log")
