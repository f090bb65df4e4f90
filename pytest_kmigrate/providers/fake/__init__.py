"""A fake provider, for unit tests only: clusters in memory that start at once, obey every order and judge nothing.

What a run on it shows says nothing about Kafka, so it cannot be chosen on the command line. Nobody listens at its
addresses: it serves no clients and has no ZooKeeper to ask.
"""

from pytest_kmigrate.providers.fake.cluster import FakeCluster
from pytest_kmigrate.providers.fake.node import FakeNode
from pytest_kmigrate.providers.fake.provider import FakeProvider

__all__ = ["FakeCluster", "FakeNode", "FakeProvider"]
