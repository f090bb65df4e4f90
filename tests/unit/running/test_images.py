"""Images of several sides: when they have settled."""

from collections.abc import Callable
from itertools import chain, repeat

import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.probes.zookeeper import ZookeeperClient
from pytest_kmigrate.running.images import ImageSource, Taken, settled
from tests.unit.fakes import Stage


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


@pytest.mark.parametrize("extra", [{"silent_brokers": [1]}, {"unanswered": {"quotas": ["broker-1"]}}])
def test_a_broker_that_did_not_tell_something_is_asked_again(extra: dict[str, object]) -> None:
    """What it has may be whatever the other sides have; if it stays silent, the check says so."""
    log = MetadataImage("log", configs={"broker:1": {"a": "1"}})
    silent: Taken = {"log": (log, 1), "brokers": (MetadataImage("admin", extra=extra), 1)}
    assert settled(_takes(silent, AFTER), lambda _: 0, within_s=30)[0] == AFTER
    assert settled(_takes(silent), lambda _: 0, within_s=0)[0] == silent


def test_a_side_that_is_never_seen_any_more_is_no_difference() -> None:
    """What it held before would be blamed for what the others hold now."""
    with pytest.raises(AwaitTimeoutError, match=r"equal metadata on every side: .*no quorum leader"):
        settled(_takes(BEFORE, NOBODY), lambda _: 3, within_s=0.3)


class _Tree(ZookeeperClient):
    """ZooKeeper with a credential in it, without a connection."""

    def __init__(self) -> None:
        pass

    def snapshot(self) -> dict[str, bytes | None]:
        """Two znodes."""
        credential = b"salt=c2FsdA==,stored_key=a2V5,server_key=a2V5,iterations=4096"
        return {"/brokers": None, "/config/users/a": b'{"version":1,"config":{"SCRAM-SHA-512":"%s"}}' % credential}


def test_an_image_of_zookeeper_brings_its_znodes_without_secrets(stage: Stage) -> None:
    """Each with what it holds, or that it holds nothing; a credential is there by its digest."""
    image = ImageSource(stage.cluster, stage.view, _Tree()).of_zookeeper()  # type: ignore[arg-type]  # not asked
    (empty, user) = image.read_from
    assert empty == {"path": "/brokers", "data": None}
    assert user["path"] == "/config/users/a"
    assert "iterations=4096" in str(user["data"])
    assert not any(secret in str(user["data"]) for secret in ("c2FsdA==", "a2V5"))
