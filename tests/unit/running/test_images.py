"""Images of the brokers: what they tell together, and where they do not agree; when several sides have settled."""

from collections.abc import Callable
from itertools import chain, repeat

import pytest

from pytest_kmigrate.checkers.differences import differences
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.running.images import Taken, agreed, settled

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


def _takes(*outcomes: Taken | ClusterError) -> Callable[[], Taken]:
    """Looks at all sides that come out like this, the last one again and again."""
    coming = chain(outcomes, repeat(outcomes[-1]))

    def take() -> Taken:
        outcome = next(coming)
        if isinstance(outcome, ClusterError):
            raise outcome
        return outcome

    return take


BEFORE: Taken = {"log": (MetadataImage("log"), 1)}
AFTER: Taken = {"log": (MetadataImage("log"), 2)}
NOBODY = ClusterError("no quorum leader")


def test_a_side_that_cannot_be_seen_for_a_moment_is_looked_at_again() -> None:
    """An election hides the metadata log; what is seen after it counts, whether the sides agree then or not."""
    assert settled(_takes(NOBODY, AFTER), lambda _: 0, within_s=30)[0] == AFTER
    assert settled(_takes(BEFORE, NOBODY, AFTER), lambda taken: taken == BEFORE, within_s=30)[0] == AFTER
    assert settled(_takes(AFTER), lambda _: 3, within_s=0)[0] == AFTER


def test_a_broker_that_did_not_tell_its_configs_is_asked_again() -> None:
    """What it has may be whatever the other sides have; if it stays silent, the check says so."""
    silent: Taken = {"brokers": (MetadataImage("admin", extra={"silent_brokers": [1]}), 1)}
    assert settled(_takes(silent, AFTER), lambda _: 0, within_s=30)[0] == AFTER
    assert settled(_takes(silent), lambda _: 0, within_s=0)[0] == silent


def test_a_side_that_is_never_seen_any_more_is_no_difference() -> None:
    """What it held before would be blamed for what the others hold now."""
    with pytest.raises(AwaitTimeoutError, match=r"equal metadata on every side: .*no quorum leader"):
        settled(_takes(BEFORE, NOBODY), lambda _: 3, within_s=0.3)
