"""Facts about a broker in KRaft mode that lacks the replica of a topic that was made again."""

import pytest

from pytest_kmigrate.model.event import Event, EventKind
from tests.unit.checkers.histories import event, history
from tests.unit.documents.kip_866.diagnoses.naming import named_of_expectations, started, timed, unmet

STRAY = (
    "2026-11-30 08:00:11,000 INFO Found stray log dir Log(dir=/disks/0/again-0, topicId=X, topic=again, partition=0): "
    "the topicId X does not exist in the metadata image (kafka.server.metadata.BrokerMetadataPublisher)\n"
)


def again(at_ms: int, mode: str = "kraft") -> list[Event]:
    """The broker is started."""
    return started("broker-2", at_ms=at_ms, mode=mode)


AWAY = [event(EventKind.NODE_STOPPED, 5_000, "broker-2", how="killed"), *again(10_000)]


@pytest.mark.parametrize(
    ("log", "observed", "kafka", "bugs"),
    [
        (STRAY, [[0, 1]], "3.6.1", ("KAFKA-14616",)),
        (STRAY, [[0, 1]], "3.7.0", ()),
        ("", [[0, 1]], "3.6.1", ()),
        (STRAY.replace("again", "other"), [[0, 1]], "3.6.1", ()),
        (STRAY, [[0]], "3.6.1", ()),
    ],
    ids=["found stray", "mended", "nothing was stray", "another topic", "another broker lacks it, too"],
)
def test_a_broker_that_lacks_a_topic_made_again_is_named(
    log: str, observed: list[list[int]], kafka: str, bugs: tuple[str, ...]
) -> None:
    """It found the replica of the former topic when it started."""
    missed = unmet(20_000, "in-sync replicas of again", expected=[[0, 1, 2]], observed=observed)
    assert named_of_expectations(timed(history(events=[*AWAY, missed], logs={"broker-2": log}, kafka=kafka))) == bugs


@pytest.mark.parametrize(
    "more",
    [
        [event(EventKind.NODE_STOPPED, 15_000, "broker-2", how="killed"), *again(17_000)],
        [event(EventKind.NODE_STOPPED, 15_000, "broker-2", how="killed"), *again(17_000, "zookeeper")],
    ],
    ids=["at a start before", "in ZooKeeper mode"],
)
def test_what_was_stray_at_another_start_says_nothing(more: list[Event]) -> None:
    """The replica is made when the broker comes up, if nothing is in its place."""
    missed = unmet(20_000, "in-sync replicas of again", expected=[[0, 1, 2]], observed=[[0, 1]])
    run = history(events=[*AWAY, *more, missed], logs={"broker-2": STRAY}, kafka="3.6.1")
    assert named_of_expectations(timed(run)) == ()


def test_a_broker_that_was_never_down_is_another_defect() -> None:
    """It has no replica to find when it starts again."""
    missed = unmet(20_000, "in-sync replicas of again", expected=[[0, 1, 2]], observed=[[0, 1]])
    run = history(events=[*again(10_000), missed], logs={"broker-2": STRAY}, kafka="3.6.1")
    assert named_of_expectations(timed(run)) == ()
