"""Facts about a broker in KRaft mode that lacks the replica of a topic that was made again."""

import pytest

from pytest_kmigrate.model.event import EventKind
from tests.unit.checkers.histories import event, history
from tests.unit.documents.kip_866.diagnoses.naming import named_of_expectations, started, unmet

STRAY = (
    "INFO Found stray log dir Log(dir=/disks/0/again-0, topicId=X, topic=again, partition=0): the topicId X does not "
    "exist in the metadata image (kafka.server.metadata.BrokerMetadataPublisher)\n"
)


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
    away = [event(EventKind.NODE_STOPPED, 5_000, "broker-2", how="killed"), *started("broker-2", at_ms=10_000)]
    assert named_of_expectations(history(events=[*away, missed], logs={"broker-2": log}, kafka=kafka)) == bugs


def test_a_broker_that_was_never_down_is_another_defect() -> None:
    """It has no replica to find when it starts again."""
    missed = unmet(20_000, "in-sync replicas of again", expected=[[0, 1, 2]], observed=[[0, 1]])
    run = history(events=[*started("broker-2"), missed], logs={"broker-2": STRAY}, kafka="3.6.1")
    assert named_of_expectations(run) == ()
