"""Facts about single fields of metadata: those that one side cannot know, and those that both do."""

from pytest_kmigrate.checkers.metadata.differences import differences
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import history


def test_fields_one_side_cannot_know_are_not_compared() -> None:
    """Clients never receive leader epochs or credentials: a broker's image lacks them without being different."""
    log = MetadataImage(
        "log",
        partitions={"t-0": {"replicas": [1], "isr": [1], "leader": 1, "leader_epoch": 4}},
        scram={"u:SCRAM-SHA-256": {"iterations": 4096, "digest": "abc"}},
        configs={"broker:1": {"ssl.keystore.password": "sha256:0123456789ab"}},
        delegation_tokens={"t": {"owner": "User:a", "expires_ms": 1}},
    )
    reported = MetadataImage(
        "brokers",
        partitions={"t-0": {"replicas": [1], "isr": [1], "leader": 1}},
        scram={"u:SCRAM-SHA-256": {"iterations": 4096}},
        configs={"broker:1": {"ssl.keystore.password": "[hidden]"}},
        delegation_tokens={"t": {"owner": "User:a", "expires_ms": 1, "digest": "sha256:0123456789ab"}},
    )
    verdict = metadata_equivalent.judge(history(images={"log": log, "brokers": reported}), "log", "brokers")
    assert verdict.outcome is Outcome.CONFORMS
    assert "leader_epoch" in verdict.facts["partition_fields_not_compared"]


def test_a_field_both_sides_know_is_compared_also_when_one_entry_lacks_it() -> None:
    """A leader that only one of two entries has is a difference, not an unknown field."""
    log = MetadataImage("log", partitions={"t-0": {"leader": 1}, "t-1": {"leader": 2}})
    reported = MetadataImage("brokers", partitions={"t-0": {"leader": 1}, "t-1": {}})
    verdict = metadata_equivalent.judge(history(images={"log": log, "brokers": reported}), "log", "brokers")
    assert verdict.outcome is Outcome.VIOLATES


def test_tokens_are_compared_field_by_field() -> None:
    """Another password, reported by brokers before and after, is a difference; so is a token that one side lacks."""
    token = {"owner": "User:a", "expires_ms": 1, "digest": "sha256:0123456789ab"}
    before = MetadataImage("brokers", delegation_tokens={"t": token})
    after = MetadataImage("brokers", delegation_tokens={"t": {**token, "digest": "sha256:ba9876543210"}})
    log = MetadataImage("log", delegation_tokens={"t": {"owner": "User:b", "expires_ms": 1}})
    found = [differences(before, other) for other in (after, log, MetadataImage("brokers"))]
    subjects = [[each.subject for each in of_pair] for of_pair in found]
    assert subjects == [["delegation_tokens t digest"], ["delegation_tokens t owner"], ["delegation_tokens t"]]
