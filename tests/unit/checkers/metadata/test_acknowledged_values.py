"""What is counted of acknowledged metadata changes: the values that must hold, of which one change may be several."""

from dataclasses import replace

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import change, history
from tests.unit.checkers.images import FULL, PARTITION

CREATED = change(1, "create-topic", "orders", wanted={"partitions": 1, "replication": 2})
ALLOWED = change(3, "set-acl", "Topic:LITERAL:orders", wanted={"binding": "User:a|*|READ|ALLOW"})


def _told(image: MetadataImage, *events: Event) -> str:
    return acknowledged_metadata_changes_present.judge(history(events=events, images={"log": image}), "log").summary


def test_a_new_topic_is_three_values() -> None:
    """That it is there, how many partitions it has, and how many copies of each."""
    one = replace(FULL, partitions={"orders-0": PARTITION})
    assert _told(one, CREATED) == "3 acknowledged values of metadata hold in log"
    assert _told(replace(one, partitions={"orders-0": {"replicas": [1]}}), CREATED).startswith(
        "1 of 3 acknowledged values of metadata not in log: partitions orders replication "
    )


def test_an_acl_that_not_all_brokers_have_is_told_by_broker() -> None:
    """Added it is lost, taken away it stayed; what all of them have of the same resource is there."""
    binding, other = "User:a|*|READ|ALLOW", "User:b|*|READ|ALLOW"
    held = {"broker-0": [binding, other], "broker-2": [binding]}
    removed, added = (
        change(at, kind, "Topic:LITERAL:orders", wanted={"binding": other})
        for at, kind in ((3, "remove-acl"), (4, "set-acl"))
    )
    gone = {"Topic:LITERAL:orders": {"broker-0": [other], "broker-2": None}}
    image = replace(FULL, acls={"Topic:LITERAL:orders": held})
    assert _told(image, ALLOWED) == "1 acknowledged value of metadata holds in log"
    for one, each in ((image, added), (image, removed), (replace(FULL, acls=gone), removed)):
        assert _told(one, each).startswith(
            "1 of 1 acknowledged value of metadata not in log: acls Topic:LITERAL:orders"
        )


def test_one_value_is_told_as_one() -> None:
    """An ACL is there or not."""
    assert _told(FULL, ALLOWED) == "1 acknowledged value of metadata holds in log"
