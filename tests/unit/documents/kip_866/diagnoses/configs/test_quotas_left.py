"""Facts about a quota that ZooKeeper keeps (kmigrate-9): the next controller's full sync takes it away."""

from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.model.history import Transaction
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import change, history, phase, snapshot
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.checks.transactions.logged import SECOND, begun, claim, logged, place
from tests.unit.documents.kip_866.diagnoses.naming import CONTROLLERS, named, started, timed

THROWN = (
    "2026-11-30 08:00:{},000 ERROR Encountered zk migration fault: Unhandled error in MetadataChangeEvent\n"
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
    events = [
        *started(*CONTROLLERS),
        change(2_000, "set-quota", OF, wanted={RATE: 7.0}),
        phase(11_000, "HYBRID"),
        change(19_000, "set-quota", OF, wanted={RATE: None}),
        snapshot(60_000, "after", took_ms=0),
    ]
    left = MetadataImage("zookeeper", known=FULL.known, quotas={OF: {RATE: 7.0}})
    logs = {"controller-3000": THROWN.format(thrown_s)}
    run = timed(history(events=events, images={"after": left}, logs=logs, transactions=[*begun(), *transactions]))
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs
