"""Facts about leaders of which brokers in ZooKeeper mode learn when ZooKeeper is back."""

import pytest

from pytest_kmigrate.model.event import Event, EventKind
from tests.unit.checkers.histories import event, history
from tests.unit.documents.kip_866.diagnoses.naming import BROKERS, named_of_expectations, started, timed, unmet

FENCED = (
    "2026-11-30 08:00:24,000 INFO [QuorumController id=3000] Fencing broker 0 because its session has timed out. "
    "(ReplicationControl)\n"
)
FENCED_BEFORE, FENCED_LATER = (FENCED.replace("08:00:24", at) for at in ("08:00:12", "08:00:44"))
ELECTIONS = "K866-FAIL-zk-down-elections"
LED_BY_THE_DEAD = unmet(40_000, "partitions that are led by the dead broker", expected=[], observed=[0, 2])


def gone(node: str, at_ms: int = 15_000) -> Event:
    """A node that was killed."""
    return event(EventKind.NODE_STOPPED, at_ms, node, how="killed")


BOTH = [gone("broker-0"), gone("zookeeper-1")]


@pytest.mark.parametrize(
    ("events", "log", "claimed", "bugs"),
    [
        (BOTH, FENCED, ELECTIONS, ("elections-wait-for-zookeeper",)),
        (BOTH, "", ELECTIONS, ()),
        (BOTH, FENCED_BEFORE, ELECTIONS, ()),
        (BOTH, FENCED_LATER, ELECTIONS, ()),
        ([gone("broker-0")], FENCED, ELECTIONS, ()),
        ([gone("broker-0"), gone("zookeeper-1", 25_000)], FENCED, ELECTIONS, ()),
        ([*BOTH, *started("zookeeper-1", at_ms=30_000)], FENCED, ELECTIONS, ()),
        ([gone("zookeeper-1")], FENCED, ELECTIONS, ()),
        (BOTH, FENCED, "K866-DW-isr-leader", ()),
    ],
    ids=[
        "ZooKeeper is down",
        "no broker was fenced",
        "it was fenced before it went down",
        "it was fenced afterwards",
        "ZooKeeper is up",
        "it went down meanwhile",
        "it came back meanwhile",
        "no broker is down",
        "another requirement",
    ],
)
def test_leaders_that_wait_for_zookeeper_are_named(
    events: list[Event], log: str, claimed: str, bugs: tuple[str, ...]
) -> None:
    """Partitions without a leader while ZooKeeper is up, or that no controller gave one, are another defect."""
    nodes = started("zookeeper-1", *BROKERS, "controller-3000")
    run = history(events=[*nodes, *events, LED_BY_THE_DEAD], requirements=(claimed,), logs={"controller-3000": log})
    assert named_of_expectations(timed(run)) == bugs
