"""Facts about ACLs of a resource that vanish from ZooKeeper as another one is taken away."""

from collections.abc import Sequence

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import change
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.diagnoses.naming import CLAIM, named, seen_at_last

BINDINGS = tuple(f"User:{name}|*|Read|Allow" for name in ("ann", "bob", "cleo"))
TOPIC, OTHER = "Topic:LITERAL:a", "Topic:LITERAL:b"
MADE = [change(21_000 + at, "set-acl", TOPIC, wanted={"binding": each}) for at, each in enumerate(BINDINGS)]
TAKEN = change(22_000, "remove-acl", TOPIC, wanted={"binding": BINDINGS[0]})
MADE_AGAIN = change(23_000, "set-acl", TOPIC, wanted={"binding": BINDINGS[0]})
BUG = ("apache/kafka#15327",)


@pytest.mark.parametrize(
    ("events", "left", "beside", "kafka", "is_named"),
    [
        ([*MADE, TAKEN], BINDINGS[1:2], (), "3.6.1", True),
        ([*MADE, TAKEN], BINDINGS[1:2], (), "3.6.2", False),
        ([*MADE, TAKEN], (), (), "3.6.1", False),
        ([*MADE, TAKEN], BINDINGS[1:2], BINDINGS, "3.6.1", False),
        (MADE, BINDINGS[1:2], (), "3.6.1", False),
        ([*MADE, TAKEN, MADE_AGAIN], BINDINGS[1:2], (), "3.6.1", False),
        ([*MADE, TAKEN], BINDINGS[:1], (), "3.6.1", False),
        ([*MADE[:2], TAKEN], BINDINGS[:1], (), "3.6.1", False),
    ],
    ids=[
        "one is left",
        "mended",
        "none is left",
        "those of another resource, too",
        "none was taken",
        "made again since",
        "the one that was taken is left",
        "the one that was taken is left of two",
    ],
)
def test_one_acl_that_is_left_of_several_is_named(
    events: Sequence[Event], left: Sequence[str], beside: Sequence[str], kafka: str, *, is_named: bool
) -> None:
    """What ZooKeeper lacks is of the resource of which one was taken away last, and one it still has."""
    now = BINDINGS if events[-1] is MADE_AGAIN or events[-1] is MADE[-1] else BINDINGS[1:]
    now = now[:1] if len(events) < len(MADE) + 1 and events[-1] is TAKEN else now
    in_log = {TOPIC: list(now), **({OTHER: list(beside)} if beside else {})}
    images = {
        "log": MetadataImage("metadata-log", known=FULL.known, acls=in_log),
        "after": MetadataImage("zookeeper", known=FULL.known, acls={TOPIC: list(left)} if left else {}),
    }
    run = seen_at_last(images, *events, kafka=kafka, znodes=[CLAIM])
    bugs = BUG if is_named else ()
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == bugs
    if not beside:
        assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs
