"""Facts about batches that a controller could not write as its session had expired, by the records of the log."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History, Transaction
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.probes.metadata_replay import image_from_records
from tests.unit.checkers.histories import MS, change, event
from tests.unit.documents.kip_866.diagnoses.naming import CLAIM, explained_by, named, seen_at_last, started
from tests.unit.documents.kip_866.diagnoses.test_leaderless import KRAFT, position
from tests.unit.documents.kip_866.diagnoses.test_lost_batches import Record, log_of, made, record

EXPIRED = "kafka.zookeeper.ZooKeeperClientExpiredException: Session expired either before or while waiting\n"
OTHER = "kafka.zookeeper.ZooKeeperClientTimeoutException: Timed out waiting for connection\n"
BUG = ("kmigrate-14",)


def refused(offset: int, cause: str = EXPIRED, *, is_unhandled: bool = True) -> str:
    """What a driver logs of a batch up to this offset that it cannot write."""
    event = (
        f"MetadataChangeEvent{{provenance=MetadataProvenance(lastContainedOffset={offset}, lastContainedEpoch=7, "
        "lastContainedLogTimeMs=1), isSnapshot=false}"
    )
    unhandled = f"ERROR Encountered zk migration fault: Unhandled error in {event} (LoggingFaultHandler)\n"
    handled = f"INFO [KRaftMigrationDriver id=3000] Encountered ZooKeeper error during event {event}. Will retry.\n"
    return f"2026-11-30 08:00:45,933 {unhandled if is_unhandled else handled}{cause}"


def grown(offset: int, topic: str) -> Record:
    """A topic is given a second partition."""
    state = {"replicas": [1, 2], "isr": [1, 2], "leader": 1, "leaderEpoch": 0, "partitionEpoch": 0}
    return record(offset, "PARTITION", partitionId=1, topicId=f"id-{topic}", **state)


BEFORE = made(60, "orders", 4)
CREATED = [*BEFORE, *made(104, "late", 0), record(110, "NO_OP")]
GROWN = [*CREATED, grown(115, "late")]
ACKNOWLEDGED = [change(30_050, "create-topic", "late", wanted={"partitions": 1, "replication": 2})]
MORE = [*ACKNOWLEDGED, change(31_000, "add-partitions", "late", wanted={"partitions": 2})]


def run_with(log: str, records: Sequence[Record] = CREATED, held: Sequence[Record] = BEFORE, *ends: int) -> History:
    """ZooKeeper has what these records left; ``/migration`` came to each of the ends beside 100 and 120."""
    zookeeper: MetadataImage = replace(image_from_records(held), source="zookeeper", extra={})
    images = {"log": log_of(records), "after": zookeeper}
    written = [
        Transaction((40_000 + end) * MS, 200 + end, KRAFT, (position(end),)) for end in sorted((100, *ends, 120))
    ]
    changes = MORE if records is GROWN else ACKNOWLEDGED
    events = [*started("controller-3000"), *changes]
    run = seen_at_last(images, *events, znodes=[CLAIM], transactions=written, logs={"controller-3000": log})
    together = event(EventKind.SETTLED, 61_000, label="after", images=list(images), took_s=1.0)
    return replace(run, events=[*run.events, together])


@pytest.mark.parametrize(
    ("run", "bugs"),
    [
        (run_with(refused(105)), BUG),
        (run_with(refused(105, is_unhandled=False)), BUG),
        (run_with(refused(105, OTHER)), ()),
        (run_with(refused(103)), ()),
        (run_with(refused(110), CREATED, BEFORE, 105), ()),
        (run_with(refused(105) + refused(115, OTHER, is_unhandled=False), GROWN), BUG),
        (run_with(refused(105), GROWN), ()),
        (run_with(refused(105, OTHER) + refused(115, OTHER, is_unhandled=False), GROWN), ()),
        (run_with(""), ()),
    ],
    ids=[
        "unhandled",
        "to be retried",
        "no session expired",
        "a batch before",
        "a batch after",
        "more partitions of it are refused",
        "more partitions of it are lost",
        "the topic by another cause",
        "nothing was refused",
    ],
)
def test_what_is_of_a_refused_batch_is_lost_with_the_session(run: History, bugs: tuple[str, ...]) -> None:
    """By the offsets of its records, however the session had ended."""
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == bugs
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs


def test_without_records_nothing_shows_what_a_batch_had() -> None:
    """Times are no evidence: a session that no fault has ended may have expired at any."""
    run = run_with(refused(105))
    bare = replace(run, images={label: replace(each, read_from=()) for label, each in run.images.items()})
    assert explained_by(bare, metadata_equivalent.judge(bare, "log", "after")) == ()
