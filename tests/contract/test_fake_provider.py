"""The fake provider keeps the contract of providers, so that what is proved on it holds for the others."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

import pytest

from pytest_kmigrate.model.protocols import Cluster, Node
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.fake import FakeCluster, FakeNode, FakeProvider
from tests.contract.provider_contract import Bench, ProviderContract


class FakeBench(Bench):
    """Looks into the fakes."""

    def provision(self, shape: Topology, logs: Path) -> AbstractContextManager[Cluster]:
        """A cluster in memory."""
        return FakeProvider().provision(shape, self.recorder, logs)

    def exists(self, node: Node, pid: int) -> bool:
        """Whether the node is up under this number."""
        return node.pid == pid

    def stands_still(self, node: Node) -> bool:
        """As the fake remembers."""
        return node.stands_still

    def leave_a_mark(self, node: Node) -> None:
        """A word on the disk."""
        cast("FakeNode", node).disk.add("mark")

    def is_marked(self, node: Node) -> bool:
        """Whether the word is there."""
        return "mark" in cast("FakeNode", node).disk

    def left_by(self, cluster: Cluster) -> Sequence[str]:
        """Nodes that are up, links that are disturbed."""
        links = map(str, cast("FakeCluster", cluster).links.disturbed())
        return [*(node.name for node in cluster.nodes() if node.alive), *links]

    def disturbed(self, cluster: Cluster) -> int:
        """As the fake remembers."""
        return len(cast("FakeCluster", cluster).links.disturbed())


class TestFakeProvider(ProviderContract):
    """The contract on fakes."""

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        """The fake provider."""
        return FakeBench(tmp_path)
