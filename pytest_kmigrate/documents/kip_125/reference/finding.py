"""What ZooKeeper is asked before a member is constructed: whether it is Kafka's, and which brokers there are."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoAuthError
from kazoo.handlers.threading import KazooTimeoutError

from pytest_kmigrate.documents.kip_125.reference.answers import is_known_here, plain_listeners
from pytest_kmigrate.documents.kip_125.reference.settings import RefusedError, Settings

_BROKERS = "/brokers/ids"
_WITHIN_S = 20.0


def require_kafka(settings: Settings) -> None:
    """RefusedError where no ZooKeeper answers, or none of Kafka's is below that path; waits for the answers.

    Elsewhere a member would make a group of its own, and be a member of Kafka's group all the same: what that assigns
    to it, no member would read.
    """
    with _asked(settings):
        return


def servers_of(settings: Settings) -> str:
    """The registered brokers whose host names are known here, as the old consumer finds them; RefusedError as above."""
    with _asked(settings) as client:
        brokers = [json.loads(client.get(f"{_BROKERS}/{each}")[0]) for each in sorted(client.get_children(_BROKERS))]
    listeners = [each for broker in brokers for each in plain_listeners(broker)]
    found = [f"{host}:{port}" for host, port in listeners if is_known_here(host)]
    if not found:
        raise RefusedError("zookeeper.connect: expected a broker with a plain listener of a known host; there is none")
    return ",".join(found)


@contextmanager
def _asked(settings: Settings) -> Iterator[KazooClient]:
    client = KazooClient(settings.zookeeper)
    try:
        client.start(_WITHIN_S)
        if not _is_kafkas(client):
            raise RefusedError(
                f"zookeeper.connect: expected the path below which brokers are registered; got {settings.zookeeper!r}, "
                f"where {_BROKERS} is missing: check the chroot"
            )
        yield client
    except (KazooException, KazooTimeoutError) as error:
        raise RefusedError(
            f"zookeeper.connect: expected a ZooKeeper that answers within {_WITHIN_S:g} s; got "
            f"{settings.zookeeper!r}: {type(error).__name__}"
        ) from error
    finally:
        client.stop()
        client.close()


def _is_kafkas(client: KazooClient) -> bool:
    try:
        return client.exists(_BROKERS) is not None
    except NoAuthError:  # what may not be looked at is there
        return True
