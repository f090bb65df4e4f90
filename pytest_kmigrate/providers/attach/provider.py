"""The attach provider as others know it: its name, what the cluster of one file offers, and that cluster."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.provider import Artifact
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.attach.asking import Asked, ask
from pytest_kmigrate.providers.attach.cluster import AttachedCluster
from pytest_kmigrate.providers.attach.loading import Site
from pytest_kmigrate.providers.attach.looking import LOOK_EVERY_S
from pytest_kmigrate.providers.attach.metrics import reader_of
from pytest_kmigrate.waiting import repeat


class AttachProvider:
    """Implements ``Provider`` for one cluster, which is asked once what can be done with it."""

    name = "attach"
    runs_here = False

    def __init__(self, site: Site) -> None:
        self.site = site

    @cached_property
    def asked(self) -> Asked:
        """What was found out; ClusterError when the cluster does not let us in, WrongUseError for a wrong file."""
        metrics = reader_of(self.site)
        try:
            return ask(self.site, metrics)
        finally:
            metrics.close()

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What was tried and works."""
        return self.asked.capabilities

    @property
    def lacking(self) -> Mapping[Capability, str]:
        """What was found out of the rest."""
        return self.asked.lacking

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
        rules: Path | None = None,
        keep: Callable[[], bool] = lambda: False,
    ) -> Iterator[AttachedCluster]:
        """The cluster, as it stands; it stands on when the block ends."""
        if rules is not None:
            raise WrongUseError(f"expected no Byteman rules, as the nodes of an attached cluster run; got {rules}")
        with TemporaryDirectory(prefix="kmigrate-attach-") as scratch, ExitStack() as ending:
            metrics = reader_of(self.site)
            ending.callback(metrics.close)
            cluster = AttachedCluster(self.site, self.capabilities, recorder, logs, Path(scratch), metrics)
            ending.callback(_end_spawned, cluster)
            ending.enter_context(_looking(cluster))
            yield cluster


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
        process.communicate()
