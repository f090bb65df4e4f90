"""Facts about passwords among dynamic configs: they are never seen, and they are compared as far as they can be."""

import json

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Outcome, Verdict
from pytest_kmigrate.redaction import hashed
from tests.unit.checkers.histories import change, history

KEY = "listener.name.external.ssl.keystore.password"
SECRET = "changeit"


def _holding(value: str | None) -> MetadataImage:
    return MetadataImage("any", configs={"broker:1": {"log.cleaner.threads": "2", **({KEY: value} if value else {})}})


def test_a_password_encrypted_in_zookeeper_equals_any_in_the_log() -> None:
    """Conforming while both have one; violating when one side lacks it."""
    images = {"log": _holding(hashed(SECRET)), "zookeeper": _holding("[hidden]"), "bare": _holding(None)}
    assert metadata_equivalent.judge(history(images=images), "log", "zookeeper").outcome is Outcome.CONFORMS
    assert metadata_equivalent.judge(history(images=images), "bare", "zookeeper").count == 1


def _acknowledged(image: MetadataImage, wanted: str | None) -> Verdict:
    events = [change(1, "alter-config", "broker:1", wanted={KEY: wanted})]
    return acknowledged_metadata_changes_present.judge(history(events=events, images={"log": image}), "log")


@pytest.mark.parametrize("wanted", [SECRET, hashed(SECRET)], ids=["plain", "as we record it"])
def test_an_acknowledged_password_holds_as_a_digest_or_hidden_and_is_told_nowhere(wanted: str) -> None:
    """Another password, or none, is a loss; a history that has it in plain does not bring it into the verdict."""
    assert _acknowledged(_holding(hashed(SECRET)), wanted).outcome is Outcome.CONFORMS
    assert _acknowledged(_holding("[hidden]"), wanted).outcome is Outcome.CONFORMS
    for lost in (_holding(hashed("another")), _holding(None)):
        verdict = _acknowledged(lost, wanted)
        assert verdict.outcome is Outcome.VIOLATES
        assert SECRET not in json.dumps([verdict.summary, verdict.facts, [str(each) for each in verdict.violations]])


def test_a_password_that_was_taken_away_and_is_there_is_a_loss() -> None:
    """What is hidden is set, whatever it is."""
    assert _acknowledged(_holding("[hidden]"), None).outcome is Outcome.VIOLATES
    assert _acknowledged(_holding(None), None).outcome is Outcome.CONFORMS
