"""The fake provider keeps the contract of providers, so that what is proved on it holds for the others."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.protocols import Cluster, Node
from pytest_kmigrate.providers.bench import Bench
from pytest_kmigrate.providers.contract import ProviderContract, needs
from pytest_kmigrate.providers.fake import FakeCluster, FakeNode, FakeProvider
from pytest_kmigrate.providers.fake.provider import CAPABILITIES


class FakeBench(Bench):
    """Looks into the fakes."""

    def life_of(self, node: Node) -> object:
        """How often it was started."""
        return cast("FakeNode", node).incarnation

    def exists(self, node: Node, life: object) -> bool:
        """Whether the node is up for that time."""
        return node.alive and life == self.life_of(node)

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


def test_what_a_provider_does_not_offer_is_skipped_by_name(tmp_path: Path) -> None:
    """A provider is not blamed for what it never said it could do."""
    bench = FakeBench(FakeProvider(CAPABILITIES - {Capability.PAUSE}), tmp_path)
    needs(bench, Capability.KILL)
    with pytest.raises(pytest.skip.Exception, match=r"fake does not offer change, pause$"):
        needs(bench, Capability.PAUSE, Capability.CHANGE, Capability.KILL)


class TestFakeProvider(ProviderContract):
    """The contract on fakes."""

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        """The fake provider."""
        return FakeBench(FakeProvider(), tmp_path)
