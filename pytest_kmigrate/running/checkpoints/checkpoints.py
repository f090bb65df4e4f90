"""The checkpoints of one provider: found by what they are of, made on demand."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_kmigrate.distributions.cache import cache_dir
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checkpoint import Start
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.recording.sources import harness_digest
from pytest_kmigrate.running.checkpoints.checkpoint import Checkpoint, Content, Key
from pytest_kmigrate.running.checkpoints.making import make
from pytest_kmigrate.running.checkpoints.store import Store
from pytest_kmigrate.workloads.metadata.filling import FAMILIES


class Checkpoints:
    """Kept in the cache of this user; ``notify`` gets one line about whatever takes time or goes wrong."""

    def __init__(self, provider: Provider, document: Document, notify: Callable[[str], None]) -> None:
        self._provider = provider
        self._document = document
        self._tell = notify
        self._store = Store(cache_dir() / "checkpoints", notify)

    @contextmanager
    def held(self, topology: Topology, start: Start) -> Iterator[Checkpoint | None]:
        """A checkpoint to start from, which stays while the block lasts; None when the run has to walk there itself."""
        if (lacking := self._lacking(topology)) is not None:
            self._tell(f"{topology.name} starts from scratch, not from a checkpoint: {lacking}")
            yield None
            return
        with self._store.held(self._key(topology, start), partial(self._make, topology, start)) as checkpoint:
            yield checkpoint

    def _lacking(self, topology: Topology) -> str | None:
        if Capability.CHECKPOINT not in self._provider.capabilities:
            return f"provider {self._provider.name} makes none"
        return "each cluster has passwords of its own" if topology.security.has_passwords else None

    def _key(self, topology: Topology, start: Start) -> Key:
        artifacts = self._provider.artifacts(topology)
        return Key(
            provider=self._provider.name,
            distributions={name: artifact.digest for name, artifact in artifacts.items()},
            topology=topology.digest(),
            document=self._document.id,
            state=start.state,
            families=FAMILIES if start.is_filled else (),
            harness=harness_digest(),
        )

    def _make(self, topology: Topology, start: Start, disks: Path) -> Content:
        filled = ", filled" if start.is_filled else ""
        self._tell(f"making a checkpoint: {topology.name} in {start.state}{filled}; it serves other runs, too")
        base = self._document.starts.get(start.state)
        if base is None:
            return make(self._document, self._provider, topology, start, None, disks)
        with self.held(topology, replace(start, state=base)) as checkpoint:
            if checkpoint is None:
                raise ClusterError(f"there is no checkpoint {base} to make it of")
            return make(self._document, self._provider, topology, start, checkpoint, disks)
