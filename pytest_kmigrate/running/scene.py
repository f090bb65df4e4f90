"""The scene of a live cluster: what migration steps and faults act on, and how it is seen."""

from collections.abc import Callable
from typing import NoReturn

from pytest_kmigrate.model.capabilities import Capability, require
from pytest_kmigrate.model.document import Document, Driver
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import PHASE, Recorder
from pytest_kmigrate.model.protocols import Cluster, Scene
from pytest_kmigrate.probes.view import ClusterView
from pytest_kmigrate.probes.zookeeper import ZookeeperClient
from pytest_kmigrate.procedures.driver import ProcedureDriver


def zookeeper_client(cluster: Cluster) -> ZookeeperClient | None:
    """A client of the cluster's ZooKeeper, past the links; None where there is none, or the provider leads to none."""
    if Capability.ZNODES not in cluster.capabilities or not cluster.zookeeper_servers:
        return None
    writes = Capability.ZNODE_WRITES in cluster.capabilities
    servers, superuser = cluster.zookeeper_servers, cluster.zookeeper_superuser
    return ZookeeperClient(servers, superuser, writes=writes, tls=cluster.zookeeper_tls)


def scene_of(
    document: Document,
    cluster: Cluster,
    zookeeper: ZookeeperClient | None,
    recorder: Recorder,
    seed: int = 0,
    *,
    acked: Callable[[], int] = lambda: 0,
    phase: str | None = None,
) -> Scene:
    """The scene of a cluster, seen as a document has it; ``acked`` returns how many writes were acknowledged.

    ``phase`` is where the cluster stood from which this one takes up, if it takes up from any.
    """
    view = ClusterView(document, cluster, zookeeper, acked, {PHASE: phase} if phase else {})
    return Scene(cluster, view, zookeeper or _NoZookeeper(cluster.capabilities, recorder), recorder, seed)


def driver_of(document: Document, scene: Scene) -> Driver:
    """What walks the document's procedure in this scene."""
    return document.driver(scene) if document.driver else ProcedureDriver(scene, document.procedure)


class _NoZookeeper:
    """Stands for ZooKeeper where there is none: in a cluster born in KRaft mode that is a mistake of the test."""

    def __init__(self, offered: frozenset[Capability], recorder: Recorder) -> None:
        self._offered = offered
        self._recorder = recorder

    def _refuse(self, path: str, *_: object) -> NoReturn:
        require(self._offered, frozenset({Capability.ZNODES}), path, self._recorder)
        raise ClusterError(f"expected a cluster with ZooKeeper to reach {path}; this topology has none")

    def sessions(self) -> NoReturn:
        """Refused, too."""
        self._refuse("its sessions")

    def expire_session(self, session: int) -> NoReturn:
        """Refused, too."""
        self._refuse(f"session {session:#x}")

    get = set = delete = children = access = allow = owner = _refuse
