"""Facts about nodes and threads whose last words name a known bug."""

from typing import Any

import pytest

from pytest_kmigrate.model.event import Event, EventKind
from tests.unit.checkers.histories import event, history
from tests.unit.documents.kip_866.diagnoses.naming import failed_step, named_of_deaths, named_of_steps, started

NO_BOOTSTRAP = (
    "ERROR Encountered fatal fault / java.lang.RuntimeException: Should not have ZK migrations enabled on a cluster "
    "running metadata.version 3.0-IV1"
)
METRIC_LEFT = "java.lang.IllegalArgumentException: A metric named 'x' already exists, can't register another one."


def died(node: str = "controller-3002", said: str = NO_BOOTSTRAP) -> Event:
    """A node that ended by itself."""
    return event(EventKind.NODE_DIED, 2000, node, exit_code=1, said=said)


def thread_died(thread: str = "zk-broker-1-to-controller-alter-partition-channel-manager", **more: Any) -> Event:
    """A thread of a broker that an error ended."""
    return event(EventKind.THREAD_DIED, 2000, "broker-1", **{"thread": thread, "said": METRIC_LEFT, **more})


@pytest.mark.parametrize(
    ("deaths", "bugs"),
    [
        ([died()], ("kmigrate-3",)),
        ([died(said="ERROR out of memory")], ()),
        ([died(), died("controller-3001", "ERROR out of memory")], ()),
        ([thread_died()], ("kmigrate-8",)),
        ([thread_died("zk-broker-1-to-controller-forwarding-channel-manager")], ("kmigrate-8",)),
        ([thread_died("ReplicaFetcherThread-0-1")], ()),
        ([thread_died(said="java.lang.NullPointerException")], ()),
        ([thread_died(), died("broker-2", "ERROR out of memory")], ()),
    ],
)
def test_deaths_are_named_by_their_last_words(deaths: list[Event], bugs: tuple[str, ...]) -> None:
    """If all of them have them: another death beside them is another defect."""
    assert named_of_deaths(history(events=[*started("controller-3001", "broker-1"), *deaths])) == bugs


PHASE_LATE = "phase HYBRID: not within 180 s; last seen: phase PREPARING"
NOT_IN_SYNC = "the replicas of broker-2 back in sync after its restart: not within 180 s; last seen: 3 partitions"


@pytest.mark.parametrize(
    ("events", "reason", "bugs"),
    [
        ([died()], PHASE_LATE, ("kmigrate-3",)),
        ([died()], "controller-3002 died with exit code 1; its last lines:", ("kmigrate-3",)),
        ([], PHASE_LATE, ()),
        ([died(said="ERROR out of memory")], PHASE_LATE, ()),
        ([died()], NOT_IN_SYNC, ()),
        ([thread_died()], NOT_IN_SYNC, ("kmigrate-8",)),
        ([], NOT_IN_SYNC, ()),
        ([thread_died()], PHASE_LATE, ()),
        ([thread_died("zk-broker-1-to-controller-forwarding-channel-manager")], NOT_IN_SYNC, ()),
        ([thread_died(said="java.lang.OutOfMemoryError")], NOT_IN_SYNC, ()),
    ],
)
def test_a_step_that_waited_for_the_dead_is_named(events: list[Event], reason: str, bugs: tuple[str, ...]) -> None:
    """The same wait that failed for no death, for another one, or for something else, is not."""
    run = history(events=[*started("controller-3001", "broker-1"), *events, *failed_step(180_000, reason)])
    assert named_of_steps(run) == bugs
