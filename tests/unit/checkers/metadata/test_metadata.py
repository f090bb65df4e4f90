"""Facts about the equivalence of two metadata images."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.checkers.metadata.differences import PARTITION_FIELDS
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.image import FAMILIES, MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict
from tests.unit.checkers.histories import MS, change, history, snapshot
from tests.unit.checkers.images import FULL, PARTITION

OTHER: dict[str, Any] = {
    "topics": {"orders": {"id": "x2"}},
    "partitions": {"orders-0": {**PARTITION, "leader_epoch": 5}, "orders-1": PARTITION},
    "configs": {"topic:orders": {"retention.ms": "2"}, "broker:1": {"a": "b"}},
    "acls": {},
    "quotas": {"user=a": {"producer_byte_rate": 512.0}},
    "scram": {"a:SCRAM-SHA-256": {"iterations": 8192, "digest": "d"}},
    "delegation_tokens": {"t1": {"owner": "User:b"}},
    "producer_ids": {"next": 2000},
    "features": {"metadata.version": 19},
}


def _compared(right: MetadataImage, *changes: Event, left: MetadataImage = FULL, **arguments: Any) -> Verdict:
    taken = [snapshot(5, label, took_ms=0) for label in ("log", "zookeeper")]
    return metadata_equivalent.judge(
        history(events=[*taken, *changes], images={"log": left, "zookeeper": right}), "log", "zookeeper", **arguments
    )


def test_equal_images_conform_whatever_their_source() -> None:
    """Conforming: sources differ, values do not; the summary says how much was compared."""
    verdict = _compared(replace(FULL, source="zookeeper"))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary.startswith("log and zookeeper are equal in topics 1, partitions 2, configs 2")
    assert verdict.facts["partition_fields_not_compared"] == ["partition_epoch"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_difference_in_any_family_violates(family: str) -> None:
    """Violating: one value in one family is enough; it is reported as expected and observed."""
    verdict = _compared(replace(FULL, **{family: OTHER[family]}))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    [violation] = verdict.violations
    assert violation.expected.startswith(f"{family} ")
    assert violation.expected.endswith("as in log")
    assert (violation.at_ns, violation.evidence) == (5 * MS, ("image log", "image zookeeper", "event 1"))


def test_differences_are_told_value_by_value() -> None:
    """The message names family, key, field and both values; what one side lacks is absent."""
    verdict = _compared(replace(FULL, configs=OTHER["configs"], topics={}))
    assert [(each.expected, each.observed) for each in verdict.violations] == [
        ("topics orders is {'id': 'x1'}, as in log", "topics orders is absent in zookeeper"),
        (
            "configs topic:orders retention.ms is '1', as in log",
            "configs topic:orders retention.ms is '2' in zookeeper",
        ),
    ]


SILENT = replace(FULL, source="admin", configs={"topic:orders": {"retention.ms": "1"}}, extra={"silent_brokers": [1]})


def test_configs_that_a_broker_did_not_tell_are_no_difference() -> None:
    """Inconclusive: it was slow when it was asked; whatever else differs is a difference all the same."""
    verdict = _compared(SILENT)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.INFRA)
    assert verdict.summary.startswith("broker:1 did not report its configs")
    assert _compared(SILENT, families=["topics"]).outcome is Outcome.CONFORMS
    assert _compared(replace(SILENT, topics={})).count == 1
    ended = replace(SILENT, extra={"silent_brokers": [2]})  # and there is nothing that it could have reported
    assert _compared(replace(ended, configs=FULL.configs)).outcome is Outcome.CONFORMS


def test_the_order_of_the_isr_does_not_matter_but_that_of_the_replicas_does() -> None:
    """The ISR is a set; the first replica is the preferred leader."""
    swapped = {**PARTITION, "isr": [2, 1]}
    assert _compared(replace(FULL, partitions={"orders-0": swapped, "orders-1": PARTITION})).count == 0
    swapped = {**PARTITION, "replicas": [2, 1]}
    assert _compared(replace(FULL, partitions={"orders-0": swapped, "orders-1": PARTITION})).count == 1


def test_the_partition_fields_to_compare_are_the_callers_choice() -> None:
    """Partition epochs are compared when asked for, and leader epochs not when left out; the facts say which."""
    epochs = {name: {**PARTITION, "partition_epoch": 9, "leader_epoch": 9} for name in FULL.partitions}
    right = replace(FULL, partitions=epochs)
    assert _compared(right, partition_fields=[*PARTITION_FIELDS, "partition_epoch"]).count == 4
    without = _compared(right, partition_fields=["replicas", "isr", "leader"])
    assert without.outcome is Outcome.CONFORMS
    assert without.facts["partition_fields_not_compared"] == ["adding", "leader_epoch", "partition_epoch", "removing"]


def test_an_entity_without_values_is_the_same_as_none() -> None:
    """ZooKeeper keeps empty config nodes; an empty topic entry, however, is a topic."""
    assert _compared(replace(FULL, configs={**FULL.configs, "topic:x": {}})).outcome is Outcome.CONFORMS
    assert _compared(replace(FULL, topics={**FULL.topics, "x": {}})).outcome is Outcome.VIOLATES


def test_families_that_one_side_cannot_know_are_named_or_inconclusive() -> None:
    """Left out by itself, such a family is in the facts; asked for by name, it makes the verdict inconclusive."""
    known = tuple(family for family in FAMILIES if family != "features")
    right = replace(FULL, known=known, features={})
    assert _compared(right).facts["families_not_compared"] == ["features"]
    verdict = _compared(right, families=["topics", "features"])
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert _compared(replace(FULL, acls={}), families=["topics"]).outcome is Outcome.CONFORMS
    with pytest.raises(WrongUseError, match="got topicz"):
        _compared(right, families=["topicz"])


NO_ACLS = replace(FULL, acls={})
REFUSED = change(1, "set-acl", "Topic:LITERAL:a", "failed", wanted={"binding": "b"}, error="SECURITY_DISABLED")


def test_of_what_both_sides_hold_nothing_the_verdict_says_so_and_why() -> None:
    """The families are named, with the error that Kafka refused every change of them with."""
    assert "both hold" not in _compared(FULL).summary
    verdict = _compared(replace(NO_ACLS, quotas={}), REFUSED, left=replace(NO_ACLS, quotas={}))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary.endswith("; both hold nothing of acls (refused: SECURITY_DISABLED), quotas")


def test_a_named_family_that_was_never_filled_shows_no_equality() -> None:
    """Every change was refused, or there was none; once one may have been done, nothing on both sides is equality."""
    named = ["topics", "acls"]
    verdict = _compared(NO_ACLS, REFUSED, left=NO_ACLS, families=named)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert verdict.summary == (
        "log and zookeeper both hold nothing of acls (refused: SECURITY_DISABLED), and no change of it was accepted"
    )
    assert _compared(NO_ACLS, left=NO_ACLS, families=named).outcome is Outcome.INCONCLUSIVE
    for outcome in ("ok", "indefinite"):
        done = [change(at_ms, "remove-acl", "a", outcome, wanted={"binding": "b"}) for at_ms in (0, 2)]
        assert _compared(NO_ACLS, done[0], REFUSED, left=NO_ACLS, families=named).outcome is Outcome.CONFORMS
        assert _compared(NO_ACLS, REFUSED, done[1], left=NO_ACLS, families=named).outcome is Outcome.CONFORMS


def test_changes_after_the_images_fill_nothing_in_them() -> None:
    """What is accepted once the images are taken does not make the comparison say more."""
    later = change(9, "set-acl", "Topic:LITERAL:a", wanted={"binding": "b"})
    assert _compared(NO_ACLS, later, left=NO_ACLS, families=["topics", "acls"]).outcome is Outcome.INCONCLUSIVE


def test_missing_or_empty_images_are_inconclusive() -> None:
    """Inconclusive: an image that was not taken, or two that hold nothing."""
    missing = metadata_equivalent.judge(history(images={"log": FULL}), "log", "zookeeper")
    assert (missing.outcome, missing.kind) == (Outcome.INCONCLUSIVE, Kind.HARNESS)
    assert missing.summary == "no image named zookeeper was taken; there are: log"
    empty = MetadataImage("nothing")
    assert _compared(empty, left=empty).kind is Kind.VACUOUS
