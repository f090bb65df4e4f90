"""Clients of old Kafka releases, which run beside a cluster of today: only the jars that they need."""

from importlib import resources
from pathlib import Path

from pytest_kmigrate.distributions.cache import Progress
from pytest_kmigrate.distributions.jars import cached_jars
from pytest_kmigrate.distributions.manifest import parsed

LAST_OF_ZOOKEEPER = "1.1.1"
"""The last release that has the consumer which ZooKeeper coordinates; Kafka 2.0 removed it."""


def old_client_jars(version: str, progress: Progress) -> list[Path]:
    """The jars of an old client, downloaded where the cache does not hold them."""
    file = resources.files(__package__).joinpath("locks", "clients", f"{version}.json")
    lock = parsed(file.read_text(encoding="utf-8"), str(file))
    libs = cached_jars(lock, progress)
    return [libs / jar.name for jar in lock.jars]
