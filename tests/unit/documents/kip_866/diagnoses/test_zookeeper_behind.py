"""What known bugs look like in an image of ZooKeeper that lacks something."""

from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import change, event, fault, history, snapshot, znode
from tests.unit.checkers.images import FULL

ZOOKEEPER_CAME_BACK = [
    event(EventKind.FAULT_APPLIED, 100, fault_id="fault-1", targets=["zookeeper-1"]),
    event(EventKind.FAULT_HEALED, 200, fault_id="fault-1"),
    change(300, "alter-config", "broker:1", wanted={"a": "2"}),
    snapshot(40_000, "after", took_ms=0),
]


@pytest.mark.parametrize(("source", "signatures"), [("zookeeper", ["answer-of-zookeeper-lost"]), ("metadata-log", [])])
def test_a_controller_that_gave_zookeeper_up_explains_what_zookeeper_lacks(source: str, signatures: list[str]) -> None:
    """And nothing else: what the metadata log lost no write to ZooKeeper could have brought there."""
    image = MetadataImage(source, known=FULL.known)
    seen = history(events=ZOOKEEPER_CAME_BACK, znodes=[znode(50, "/migration", "{}")], images={"after": image})
    verdict = acknowledged_metadata_changes_present.judge(seen, "after")
    assert (verdict.outcome, verdict.facts["signatures"]) == (Outcome.VIOLATES, signatures)


EXPIRED = fault(1_000, "expire-session(active-controller)")
OF_A_CONTROLLER = event(
    EventKind.FAULT_APPLIED, 1_000, fault_id="expire-session(active-controller)", targets=["controller-3000"]
)
OF_A_BROKER = replace(OF_A_CONTROLLER, data={**OF_A_CONTROLLER.data, "targets": ["broker-2"]})
MEANWHILE = change(3_000, "alter-config", "broker:1", wanted={"a": "2"})
MUCH_LATER = change(30_000, "alter-config", "broker:1", wanted={"a": "2"})


@pytest.mark.parametrize(
    ("events", "source", "is_named"),
    [
        ([*EXPIRED, OF_A_CONTROLLER, MEANWHILE], "zookeeper", True),
        ([*EXPIRED, OF_A_CONTROLLER, MUCH_LATER], "zookeeper", False),
        ([*EXPIRED, OF_A_BROKER, MEANWHILE], "zookeeper", False),
        ([*EXPIRED, OF_A_CONTROLLER, MEANWHILE], "metadata-log", False),
        ([MEANWHILE], "zookeeper", False),
    ],
    ids=["meanwhile", "much later", "a broker's session", "in the log", "no session"],
)
def test_what_is_lost_with_a_session_is_told_by_its_signature(events: list[Event], source: str, is_named: bool) -> None:
    """All that ZooKeeper lacks was acknowledged about when a KRaft controller's session was expired."""
    taken = [snapshot(40_000, label, took_ms=0) for label in ("after", "log")]
    images = {"after": MetadataImage(source, known=FULL.known), "log": _with_the_config("metadata-log")}
    seen = history(events=[*events, *taken], images=images)
    signatures = ["change-lost-with-the-session"] if is_named else []
    assert acknowledged_metadata_changes_present.judge(seen, "after").facts["signatures"] == signatures
    assert metadata_equivalent.judge(seen, "log", "after").facts["signatures"] == signatures


def _with_the_config(source: str) -> MetadataImage:
    return MetadataImage(source, known=FULL.known, configs={"broker:1": {"a": "2"}})
