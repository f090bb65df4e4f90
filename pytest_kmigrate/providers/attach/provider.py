"""The attach provider as others know it: its name, what the cluster of one file offers, and that cluster."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_kmigrate.distributions.steady_clients import have_steady_clients
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.provider import NOTHING_LOADED, Artifact, Instruments
from pytest_kmigrate.model.provider_names import ATTACH
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.attach.asking import Asked, ask
from pytest_kmigrate.providers.attach.cluster import AttachedCluster, Readers
from pytest_kmigrate.providers.attach.file.loading import Site
from pytest_kmigrate.providers.attach.healing import heal_left
from pytest_kmigrate.providers.attach.logs import copied
from pytest_kmigrate.providers.attach.looking import LOOK_EVERY_S
from pytest_kmigrate.providers.attach.metadata import MetadataLogs
from pytest_kmigrate.providers.attach.metrics import reader_of
from pytest_kmigrate.waiting import repeat


class AttachProvider:
    """Implements ``Provider`` for one cluster, which is asked once what can be done with it."""

    name = ATTACH
    runs_here = False

    def __init__(self, site: Site, notify: Callable[[str], None], *, heals: bool = True) -> None:
        """``notify`` gets a line about everything that takes its time, downloads say.

        ``heals``: what runs left that were killed is undone before the cluster is asked anything.
        """
        self.site = site
        self._notify = notify
        self._heals = heals

    @cached_property
    def asked(self) -> Asked:
        """What was found out; ClusterError when the cluster does not let us in, WrongUseError for a wrong file."""
        if self._heals:
            heal_left(self.site, self._notify)
        with self._readers() as readers:
            return ask(self.site, readers)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What was tried and works."""
        return self.asked.capabilities

    @property
    def lacking(self) -> Mapping[Capability, str]:
        """What was found out of the rest."""
        return self.asked.lacking

    @property
    def facts(self) -> Mapping[str, str]:
        """What it says of itself, and what cannot be known of it."""
        return {each.name: each.why for each in self.asked.answers if each.is_offered is None}

    def artifacts(self, topology: Topology) -> Mapping[str, Artifact]:
        """What the file claims and nodes report; no digest of it can be computed from outside."""
        return {self.site.file.kafka: Artifact(self.site.file.kafka, "")}

    @contextmanager
    def provision(
        self,
        topology: Topology,
        recorder: Recorder,
        logs: Path,
        *,
        instruments: Instruments = NOTHING_LOADED,
        keep: Callable[[], bool] = lambda: False,
    ) -> Iterator[AttachedCluster]:
        """The cluster, as it stands; it stands on when the block ends."""
        if (planted := instruments.rules or instruments.mutant) is not None:
            raise WrongUseError(
                f"expected no Byteman rules and no mutant, as the nodes of an attached cluster run; got {planted}"
            )
        have_steady_clients(self._notify)
        heal_left(self.site, self._notify)
        with TemporaryDirectory(prefix="kmigrate-attach-") as scratch, ExitStack() as ending:
            readers = ending.enter_context(self._readers())
            cluster = AttachedCluster(self.site, self.capabilities, recorder, logs, Path(scratch), readers)
            ending.callback(cluster.heal)
            ending.callback(_end_spawned, cluster)
            if Capability.LOGS in self.capabilities:
                ending.enter_context(copied(self.site, {node.name: node.log for node in cluster.nodes()}))
            ending.enter_context(_looking(cluster))
            yield cluster

    @contextmanager
    def _readers(self) -> Iterator[Readers]:
        with closing(reader_of(self.site)) as metrics:
            yield Readers(metrics, MetadataLogs(self.site, self._notify))


@contextmanager
def _looking(cluster: AttachedCluster) -> Iterator[None]:
    """Someone looks at every node all the time, so that a short absence is seen."""
    over = threading.Event()
    threads = [
        threading.Thread(target=repeat, args=(cluster.look_at(node), LOOK_EVERY_S, over), name=f"look at {node.name}")
        for node in cluster.nodes()
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _end_spawned(cluster: AttachedCluster) -> None:
    for process in cluster.spawned:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
