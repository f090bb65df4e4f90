"""The fake provider as others know it: its name, what it can do, and clusters in memory."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.provider import NOTHING_LOADED, Artifact, Instruments
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.fake.cluster import FakeCluster
from pytest_kmigrate.providers.fake.node import digest_of

CAPABILITIES = frozenset(Capability) - {
    Capability.ZNODES,
    Capability.ZNODE_WRITES,
    Capability.REQUESTS,
    Capability.IDENTITY,
    Capability.TRAFFIC,
    Capability.CHANGE,
    Capability.EXERCISE,
}
"""What works without an answering node."""


class FakeProvider:
    """Implements ``Provider``; what is beyond its capabilities a test must play itself."""

    name = "fake"
    runs_here = True

    def __init__(self, capabilities: frozenset[Capability] = CAPABILITIES) -> None:
        self.capabilities = capabilities
        self.lacking: Mapping[Capability, str] = {}
        self.facts: Mapping[str, str] = {}

    def artifacts(self, topology: Topology) -> Mapping[str, Artifact]:
        """Every release is what its name says."""
        named = {topology.kafka, *(node.kafka for node in topology.nodes)}
        return {kafka: Artifact(kafka, digest_of(kafka)) for kafka in sorted(named)}

    @contextmanager
    def provision(
        self,
        topology: Topology,
        recorder: Recorder,
        logs: Path,
        *,
        instruments: Instruments = NOTHING_LOADED,
        keep: Callable[[], bool] = lambda: False,
    ) -> Iterator[FakeCluster]:
        """A cluster whose nodes are not started yet; when the block ends all are down and every link is healed."""
        if (planted := instruments.rules or instruments.mutant) is not None:
            raise WrongUseError(f"expected no Byteman rules and no mutant, as fake nodes run no code; got {planted}")
        with TemporaryDirectory(prefix="kmigrate-fake-") as scratch:
            cluster = FakeCluster(topology, recorder, logs, Path(scratch), self.capabilities)
            try:
                yield cluster
            finally:
                if not keep():
                    _end(cluster)


def _end(cluster: FakeCluster) -> None:
    for node in cluster.nodes():
        node.kill()
    for process in cluster.spawned:
        process.kill()
        process.communicate()
