"""Facts about nodes that run and should have been refused."""

from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.run.ends import expected_ends_came
from pytest_kmigrate.model.event import Event, EventKind
from tests.unit.checkers.histories import MS, event, history
from tests.unit.documents.kip_866.diagnoses.naming import named, started

TWO_DISKS = "\tlog.dirs = /disks/0,/disks/1\n"
ENABLED = "\tzookeeper.metadata.migration.enable = true\n"
SERVES = "INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
UNPROTECTED = (
    "WARN [QuorumController id=3000] Starting ZK Migration without metadata transactions enabled. This is not\n"
)
COPIES = "INFO [KRaftMigrationDriver id=3000] Starting ZK migration (org.apache.kafka.metadata.migration)\n"


DISKS, LEVEL = "multiple log directories", "metadata.version"


def runs(node: str, *more: Event, naming: str = DISKS) -> list[Event]:
    """A test expected a node to end for that reason, which it did not."""
    expected = event(EventKind.EXPECTED_END, 30_000, nodes=[node], began_ns=1_000 * MS, within_s=29, naming=naming)
    return [*started(node), *more, expected]


@pytest.mark.parametrize(
    ("log", "kafka", "bugs"),
    [
        (TWO_DISKS + ENABLED + SERVES, "3.5.1", ("KAFKA-15450",)),
        (TWO_DISKS + ENABLED + SERVES, "3.5.2", ()),
        ("\tlog.dirs = /disks/0\n" + ENABLED + SERVES, "3.5.1", ()),
        (TWO_DISKS + ENABLED.replace("true", "false") + SERVES, "3.5.1", ()),
        (TWO_DISKS + SERVES + "\tlog.dirs = /disks/0\n" + ENABLED + SERVES, "3.5.1", ()),
        (TWO_DISKS + ENABLED, "3.5.1", ()),
    ],
    ids=["met", "mended", "one disk", "no migration", "not at once", "does not serve"],
)
def test_a_broker_with_several_disks_that_migrates_is_kafka_15450(log: str, kafka: str, bugs: tuple[str, ...]) -> None:
    """By what it logs of its properties, and that it serves."""
    run = history(events=runs("broker-1"), logs={"broker-1": log}, kafka=kafka)
    assert named(run, expected_ends_came.judge(run)) == bugs


@pytest.mark.parametrize(
    ("log", "kafka", "bugs"),
    [
        (COPIES + UNPROTECTED, "3.8.0", ("KAFKA-17457",)),
        (COPIES + UNPROTECTED, "3.8.1", ()),
        (COPIES, "3.8.0", ()),
        ("", "3.8.0", ()),
    ],
    ids=["met", "mended", "with transactions", "does not copy"],
)
def test_a_copy_without_metadata_transactions_is_kafka_17457(log: str, kafka: str, bugs: tuple[str, ...]) -> None:
    """By what the controller logs as it begins."""
    run = history(events=runs("controller-3000", naming=LEVEL), logs={"controller-3000": log}, kafka=kafka)
    assert named(run, expected_ends_came.judge(run)) == bugs


def test_a_node_that_was_to_end_for_another_reason_is_another_defect() -> None:
    """Though it runs with what its release should refuse, too."""
    logs = {"broker-1": TWO_DISKS + ENABLED + SERVES, "controller-3000": COPIES + UNPROTECTED}
    for node, kafka in (("broker-1", "3.5.1"), ("controller-3000", "3.8.0")):
        other = runs(node, naming="controller.quorum.voters")
        run = history(events=other, logs=logs, kafka=kafka)
        assert named(run, expected_ends_came.judge(run)) == ()
        later = [replace(each, at_ns=each.at_ns + 60_000 * MS) for each in other[1:]]
        both = history(events=[*runs(node, naming=f"{DISKS} {LEVEL}"), *later], logs=logs, kafka=kafka)
        assert named(both, expected_ends_came.judge(both)) == ()


def test_an_end_without_an_error_beside_it_is_another_defect() -> None:
    """It ended, with exit code 0."""
    died = event(EventKind.NODE_DIED, 2_000, "broker-2", exit_code=0, said="")
    events = [*runs("broker-1"), *runs("broker-2", died)]
    run = history(events=events, logs={"broker-1": TWO_DISKS + ENABLED + SERVES}, kafka="3.5.1")
    assert named(run, expected_ends_came.judge(run)) == ()
