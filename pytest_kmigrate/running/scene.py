"""The scene of a cluster of processes: what migration steps and faults act on, and how it is seen."""

from collections.abc import Callable
from typing import NoReturn

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.probes.view import ClusterView
from pytest_kmigrate.probes.zookeeper import ZookeeperClient
from pytest_kmigrate.providers.process.cluster import ProcessCluster
from pytest_kmigrate.providers.process.network.addresses import ZOOKEEPER_PORT
from pytest_kmigrate.running.reading_metrics import read_metrics, zookeeper_mode_of


def zookeeper_client(cluster: ProcessCluster) -> ZookeeperClient | None:
    """A client of the cluster's ZooKeeper, past the links; None for a cluster that has none."""
    servers = cluster.nodes(Role.ZOOKEEPER)
    return ZookeeperClient(",".join(f"{node.address}:{ZOOKEEPER_PORT}" for node in servers)) if servers else None


def scene_of(
    cluster: ProcessCluster,
    zookeeper: ZookeeperClient | None,
    recorder: Recorder,
    seed: int = 0,
    acked: Callable[[], int] = lambda: 0,
) -> Scene:
    """The scene of a live cluster; ``acked`` tells how many writes its clients got acknowledged."""
    view = ClusterView(cluster, zookeeper, read_metrics, zookeeper_mode_of, acked)
    return Scene(cluster, view, zookeeper or _NoZookeeper(), recorder, seed)


class _NoZookeeper:
    """Stands for ZooKeeper in a cluster born in KRaft mode: asking it for anything is a mistake of the test."""

    def _refuse(self, path: str, *_: object) -> NoReturn:
        raise ClusterError(f"expected a cluster with ZooKeeper to reach {path}; this topology has none")

    def sessions(self) -> NoReturn:
        """Refused, too."""
        self._refuse("its sessions")

    def expire_session(self, session: int) -> NoReturn:
        """Refused, too."""
        self._refuse(f"session {session:#x}")

    get = set = delete = children = owner = _refuse
