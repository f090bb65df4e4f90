"""Facts about a quota that ZooKeeper keeps (kmigrate-9): the next controller's full sync takes it away."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Transaction
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import change, event, history, phase, snapshot
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.checks.transactions.logged import SECOND, begun, claim, logged, place
from tests.unit.documents.kip_866.diagnoses.naming import CONTROLLERS, named, started, timed

THROWN = (
    "2026-11-30 08:{},000 ERROR Encountered zk migration fault: Unhandled error in MetadataChangeEvent\n"
    "java.lang.NullPointerException: null\n"
    "\tat org.apache.kafka.metadata.migration.KRaftMigrationZkWriter.lambda$handleClientQuotasDelta$44(X.java:533)\n"
)
OF, RATE = "client-id=<default>", "producer_byte_rate"
TAKEN_OVER = [claim(30_000, SECOND, 3001, epoch=2), logged(30_100, SECOND, place(100, 3001))]
SYNCED = [*TAKEN_OVER, logged(31_000, SECOND, place(180, 3001))]


@pytest.mark.parametrize(
    ("thrown_s", "transactions", "bugs"),
    [
        ("20", [], ("kmigrate-9",)),
        ("20", TAKEN_OVER, ("kmigrate-9",)),
        ("20", SYNCED, ()),
        ("35", SYNCED, ("kmigrate-9",)),
        ("20", [replace(each, at_ns=each.at_ns + 60_000_000_000) for each in SYNCED], ("kmigrate-9",)),
    ],
    ids=["no take-over", "its sync has not ended", "synced since", "thrown after the sync", "synced after the image"],
)
def test_what_a_full_sync_leaves_is_another_defect(
    thrown_s: str, transactions: list[Transaction], bugs: tuple[str, ...]
) -> None:
    """It compares all quotas with ZooKeeper, so that only what was thrown since its begin is left."""
    run = left_in_zookeeper(THROWN.format(f"00:{thrown_s}"), transactions=[*begun(), *transactions])
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs


SET_BACK = "clock(active-controller, -600 s)"


@pytest.mark.parametrize(
    ("clock", "node", "from_ms", "to_ms", "bugs"),
    [
        (SET_BACK, "controller-3000", 10_000, 25_000, ("kmigrate-9",)),
        (SET_BACK, "controller-3000", 10_000, None, ("kmigrate-9",)),
        (SET_BACK, "controller-3001", 10_000, 25_000, ()),
        (SET_BACK, "controller-3000", 10_000, 17_000, ()),
        (SET_BACK, "controller-3000", 52_000, 58_000, ()),
        (SET_BACK.replace("-600", "+600"), "controller-3000", 10_000, 25_000, ()),
        ("pause(active-controller)", "controller-3000", 10_000, 25_000, ()),
    ],
    ids=["in force", "to the end", "another node's", "healed before", "later", "set forward", "another fault"],
)
def test_a_controller_whose_clock_was_set_logs_the_time_of_that_clock(
    clock: str, node: str, from_ms: int, to_ms: int | None, bugs: tuple[str, ...]
) -> None:
    """While the fault lasts, and of the nodes that it hit."""
    set_at = event(EventKind.FAULT_BEGAN, from_ms, fault=clock, fault_id="f", effect="clock", trigger="now")
    faults = [set_at, event(EventKind.FAULT_APPLIED, from_ms + 10, fault_id="f", targets=[node])]
    faults += [event(EventKind.FAULT_HEALED, to_ms, fault_id="f", fault=clock)] if to_ms is not None else []
    run = left_in_zookeeper(THROWN.format("50:20").replace("08:", "07:"), *faults)
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs


def left_in_zookeeper(log: str, *more: Event, **also: Any) -> History:
    """ZooKeeper keeps a quota that was taken away at 19 s."""
    events = [
        *started(*CONTROLLERS),
        change(2_000, "set-quota", OF, wanted={RATE: 7.0}),
        phase(11_000, "HYBRID"),
        change(19_000, "set-quota", OF, wanted={RATE: None}),
        snapshot(60_000, "after", took_ms=0),
    ]
    left = MetadataImage("zookeeper", known=FULL.known, quotas={OF: {RATE: 7.0}})
    in_order = sorted([*events, *more], key=lambda each: each.at_ns)
    return timed(history(events=in_order, images={"after": left}, logs={"controller-3000": log}, **also))
