"""Facts about what the copy brings into the metadata log under another name, or although it was to be deleted."""

import json
from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.documents.kip_866.checks.dual_write.deletions import pending_deletions_leave_zookeeper
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import Transaction, Write, ZnodeChange
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import MS, change, history, phase, znode
from tests.unit.documents.kip_866.diagnoses.naming import (
    BROKERS,
    named,
    named_of_expectations,
    seen_at_last,
    started,
    unmet,
)

CLAIM = znode(20_000, "/controller", json.dumps({"brokerid": 3000, "kraftControllerEpoch": 1}))


def pending(at_ms: int, *topics: str) -> ZnodeChange:
    """The topics that ZooKeeper has still to delete."""
    return replace(znode(at_ms, "/admin/delete_topics", ""), children=topics)


STARTED = started(*BROKERS, "controller-3000")


@pytest.mark.parametrize(
    ("znodes", "kafka", "bugs"),
    [
        ([pending(10_000, "a", "b", "c"), CLAIM, pending(30_000)], "3.6.0", ("KAFKA-15605",)),
        ([pending(10_000, "a", "b", "c"), CLAIM], "3.9.1", ()),
        ([pending(10_000, "a"), CLAIM], "3.6.0", ()),
        ([pending(10_000, "a", "b"), pending(19_000), CLAIM], "3.6.0", ()),
        ([pending(10_000, "a", "b")], "3.6.0", ()),
    ],
    ids=["pending at the take-over", "on a fixed release", "another topic", "deleted before", "no take-over"],
)
def test_topics_that_were_pending_at_the_takeover_are_kafka_15605(
    znodes: list[ZnodeChange], kafka: str, bugs: tuple[str, ...]
) -> None:
    """Topics that live on without a pending deletion are another defect."""
    events = [
        *started(*BROKERS, "controller-3000"),
        unmet(60_000, "topics that live on", expected=[], observed=["a", "b"]),
    ]
    assert named_of_expectations(history(events=events, znodes=znodes, kafka=kafka)) == bugs


@pytest.mark.parametrize(("copied", "bugs"), [(("a", "b"), ("KAFKA-15605",)), (("a",), ())], ids=["all", "one"])
@pytest.mark.parametrize("said", ["Replayed TopicRecord for topic", "Created topic"])
def test_deletions_that_stay_pending_are_kafka_15605(said: str, copied: tuple[str, ...], bugs: tuple[str, ...]) -> None:
    """If controllers have copied all of them as topics."""
    replayed = "".join(f"INFO {said} {each} with topic ID x.\n" for each in copied)
    run = history(
        events=[*started(*BROKERS, "controller-3000"), phase(20_000, "HYBRID"), phase(90_000, "ALL_KRAFT")],
        znodes=[pending(10_000, "a", "b"), CLAIM],
        kafka="3.6.0",
        logs={"controller-3000": replayed},
    )
    assert named(run, pending_deletions_leave_zookeeper.judge(run)) == bugs


QUOTAS = {
    "user=<default>": {"producer_byte_rate": 1.0},
    "user=CN=al ice,O=x,client-id=<default>": {"producer_byte_rate": 2.0},
    "client-id=c": {"producer_byte_rate": 3.0},
}
BY_ZNODE = {
    "user=": {"producer_byte_rate": 1.0},
    "user=CN%3Dal%20ice%2CO%3Dx,client-id=": {"producer_byte_rate": 2.0},
    "client-id=c": {"producer_byte_rate": 3.0},
}
OTHER_VALUE = {**BY_ZNODE, "client-id=c": {"producer_byte_rate": 4.0}}
LACKING = {key: value for key, value in QUOTAS.items() if "<default>" not in key}


@pytest.mark.parametrize(
    ("copied", "kafka", "bugs"),
    [
        (BY_ZNODE, "3.6.0", ("KAFKA-16411",)),
        (BY_ZNODE, "3.9.1", ()),
        (OTHER_VALUE, "3.6.0", ()),
        (LACKING, "3.6.0", ()),
    ],
    ids=["by znodes", "on a fixed release", "another value", "just gone"],
)
def test_quotas_under_the_names_of_znodes_are_kafka_16411(
    copied: dict[str, dict[str, float]], kafka: str, bugs: tuple[str, ...]
) -> None:
    """As an expectation and as a comparison; quotas that are gone, or have another value, are another defect."""
    images = {"log": MetadataImage("metadata-log", quotas=copied), "zk": MetadataImage("zookeeper", quotas=QUOTAS)}
    unlike = unmet(60_000, "client quotas in the metadata log", expected=QUOTAS, observed=copied)
    run = seen_at_last(images, *STARTED, unlike, kafka=kafka, znodes=[CLAIM])
    assert named_of_expectations(run) == bugs
    assert named(run, metadata_equivalent.judge(run, "log", "zk")) == bugs


IN_DUAL_WRITE = change(30_000, "set-quota", "user=<default>", wanted={"producer_byte_rate": 5.0})
NEW = {"user=<default>": {"producer_byte_rate": 5.0}}
STALE = {"user=<default>": {"producer_byte_rate": 1.0}}
WRITTEN = Transaction(31_000 * MS, 40, 1, (Write("set-data", "/config/users/<default>"),))


@pytest.mark.parametrize(
    ("changes", "written", "quotas", "bugs"),
    [
        ([IN_DUAL_WRITE], [], {}, ("KAFKA-16411",)),
        ([IN_DUAL_WRITE], [], STALE, ("KAFKA-16411",)),
        ([IN_DUAL_WRITE], [WRITTEN], STALE, ()),
        ([], [], {}, ()),
    ],
    ids=["lacking", "as it was", "written since", "not changed since the take-over"],
)
def test_default_entities_that_dual_write_leaves_out_are_kafka_16411(
    changes: list[Event], written: list[Transaction], quotas: dict[str, dict[str, float]], bugs: tuple[str, ...]
) -> None:
    """The log has what was changed, and no controller wrote the znode."""
    images = {"log": MetadataImage("metadata-log", quotas=NEW), "zk": MetadataImage("zookeeper", quotas=quotas)}
    run = seen_at_last(images, *STARTED, *changes, kafka="3.6.0", znodes=[CLAIM], transactions=written)
    assert named(run, metadata_equivalent.judge(run, "log", "zk")) == bugs


ODD = {"CN=al ice,O=x:SCRAM-SHA-512": {"iterations": 4096}}
BY_ITS_ZNODE = {"CN%3Dal%20ice%2CO%3Dx:SCRAM-SHA-512": {"iterations": 4096}}


@pytest.mark.parametrize(("copied", "bugs"), [(BY_ITS_ZNODE, ("KAFKA-16411",)), ({}, ())], ids=["by znode", "gone"])
def test_credentials_under_the_names_of_znodes_are_kafka_16411(
    copied: dict[str, dict[str, int]], bugs: tuple[str, ...]
) -> None:
    """Users of such names have credentials, too."""
    images = {"log": MetadataImage("metadata-log", scram=copied), "zk": MetadataImage("zookeeper", scram=ODD)}
    run = seen_at_last(images, *STARTED, kafka="3.6.0", znodes=[CLAIM])
    assert named(run, metadata_equivalent.judge(run, "log", "zk")) == bugs
