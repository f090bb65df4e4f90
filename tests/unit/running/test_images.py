"""Images of the brokers: what they tell together, and where they do not agree."""

from pytest_kmigrate.checkers.differences import differences
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.running.images import agreed

TOKEN = {"owner": "User:a", "expires_ms": 1}
LOG = MetadataImage("log", delegation_tokens={"t": TOKEN})


def test_what_all_brokers_tell_is_told() -> None:
    """Three brokers that tell the same are one."""
    assert agreed({f"broker-{number}": {"t": TOKEN} for number in range(3)}) == {"t": TOKEN}


def test_a_broker_that_does_not_know_a_token_is_a_difference() -> None:
    """Each field says which broker told what, so that no side equals it."""
    told = agreed({"broker-0": {"t": TOKEN}, "broker-1": {}})
    assert told["t"]["owner"] == "broker-0: User:a; broker-1: None"
    found = differences(LOG, MetadataImage("brokers", delegation_tokens=told))
    assert [each.part for each in found] == ["expires_ms", "owner"]


def test_a_broker_that_missed_a_renewal_is_a_difference() -> None:
    """The fields that all tell alike stay as they are."""
    told = agreed({"broker-0": {"t": TOKEN}, "broker-1": {"t": {**TOKEN, "expires_ms": 2}}})
    assert told == {"t": {"owner": "User:a", "expires_ms": "broker-0: 1; broker-1: 2"}}
