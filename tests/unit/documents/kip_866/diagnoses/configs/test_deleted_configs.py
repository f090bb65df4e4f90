"""Facts about configs of deleted topics that a KRaft controller writes to ZooKeeper again (kmigrate-34)."""

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import Transaction, Write
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import change, history, snapshot
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.checks.transactions.logged import BROKER, FIRST, claim, logged, place
from tests.unit.documents.kip_866.diagnoses.naming import CONTROLLERS, named, seen_at_last, started

CONFIG = {"retention.ms": "1"}
SET = change(1_000, "alter-config", "topic:gone", wanted=CONFIG)
DELETED = change(2_000, "delete-topic", "gone")
REFUSED = change(2_000, "delete-topic", "gone", outcome="failed")
MADE_AGAIN = change(3_000, "create-topic", "gone", wanted={"partitions": 1})


def written(at_ms: int = 5_000, operation: str = "create", session: int = FIRST, topic: str = "gone") -> Transaction:
    """A full sync writes the config of a topic."""
    return logged(at_ms, session, Write(operation, f"/config/topics/{topic}", '{"config":{"retention.ms":"1"}}', 0))


@pytest.mark.parametrize(
    ("events", "transaction", "topics", "kafka", "started_ms", "claimed_ms", "is_named"),
    [
        ([SET, DELETED], written(), (), "3.9.1", 3_000, 4_000, True),
        ([SET], written(), (), "3.9.1", 3_000, 4_000, False),
        ([SET, REFUSED], written(), (), "3.9.1", 3_000, 4_000, False),
        ([SET, DELETED, MADE_AGAIN], written(), (), "3.9.1", 3_000, 4_000, False),
        ([SET, DELETED], written(at_ms=1_500), (), "3.9.1", 3_000, 4_000, False),
        ([SET, DELETED], written(operation="set-data"), (), "3.9.1", 3_000, 4_000, False),
        ([SET, DELETED], written(session=BROKER), (), "3.9.1", 3_000, 4_000, False),
        ([SET, DELETED], written(topic="other"), (), "3.9.1", 3_000, 4_000, False),
        ([SET, DELETED], written(), ("gone",), "3.9.1", 3_000, 4_000, False),
        ([SET, DELETED], written(), (), "3.7.2", 3_000, 4_000, False),
        ([SET, DELETED], written(), (), "3.9.1", 1_500, 4_000, False),
        ([SET, DELETED], written(), (), "3.9.1", 1_500, 1_900, False),
        ([SET, DELETED], written(at_ms=65_000), (), "3.9.1", 3_000, 4_000, False),
    ],
    ids=[
        "deleted",
        "not deleted",
        "deletion refused",
        "made again",
        "written before",
        "changed only",
        "by a broker",
        "of another topic",
        "a topic that is there",
        "on an earlier release",
        "loaded before the deletion",
        "in charge before the deletion",
        "written long after the take-over",
    ],
)
def test_a_config_that_comes_back_is_kmigrate_34(
    events: list[Event],
    transaction: Transaction,
    topics: tuple[str, ...],
    kafka: str,
    started_ms: int,
    claimed_ms: int,
    *,
    is_named: bool,
) -> None:
    """A controller created its znode after the topic was deleted."""
    there = {each: {"id": each} for each in topics}
    images = {
        "log": MetadataImage("metadata-log", known=FULL.known, topics=there),
        "tree": MetadataImage("zookeeper", known=FULL.known, topics=there, configs={"topic:gone": CONFIG}),
    }
    written = [claim(claimed_ms), transaction]
    loaded = started(*CONTROLLERS, at_ms=started_ms)
    run = seen_at_last(images, *loaded, *events, transactions=written, kafka=kafka)
    bugs = ("kmigrate-34",) if is_named else ()
    assert named(run, metadata_equivalent.judge(run, "log", "tree")) == bugs
    if events == [SET, DELETED]:
        assert named(run, acknowledged_metadata_changes_present.judge(run, "tree")) == bugs


@pytest.mark.parametrize(("offset", "is_named"), [(7, True), (8, False)])
def test_what_is_written_after_the_sync_is_another_defect(offset: int, *, is_named: bool) -> None:
    """The sync leaves the offset as the former controller left it, and raises it when it is through."""
    images = {
        "log": MetadataImage("metadata-log", known=FULL.known),
        "tree": MetadataImage("zookeeper", known=FULL.known, configs={"topic:gone": CONFIG}),
    }
    positions = [logged(4_100, FIRST, place(7)), logged(4_200, FIRST, place(offset))]
    transactions = [claim(4_000), *positions, written()]
    run = seen_at_last(images, *started(*CONTROLLERS, at_ms=3_000), SET, DELETED, transactions=transactions)
    assert bool(named(run, metadata_equivalent.judge(run, "log", "tree"))) is is_named


@pytest.mark.parametrize(("seen_ms", "bugs"), [(60_000, ("kmigrate-34",)), (4_500, ())], ids=["after", "before"])
def test_a_config_that_was_there_before_the_sync_had_another_cause(seen_ms: int, bugs: tuple[str, ...]) -> None:
    """ZooKeeper never lost it, as a deletion that was not mirrored leaves it."""
    image = MetadataImage("zookeeper", known=FULL.known, configs={"topic:gone": CONFIG})
    events = [*started(*CONTROLLERS, at_ms=3_000), SET, DELETED, snapshot(seen_ms, "tree", 0)]
    in_order = sorted(events, key=lambda each: each.at_ns)
    run = history(events=in_order, images={"tree": image}, transactions=[claim(4_000), written()])
    assert named(run, acknowledged_metadata_changes_present.judge(run, "tree")) == bugs
