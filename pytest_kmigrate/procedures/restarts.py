"""Sessions of brokers in ZooKeeper mode: when a former life is over, so that a new one may begin."""

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.protocols import Node, Scene
from pytest_kmigrate.model.topology import BrokerMode
from pytest_kmigrate.waiting import PATIENCE_S, until


def await_session_over(scene: Scene, node: Node) -> None:
    """Return when ZooKeeper no longer holds the registration of a stopped node; at once for nodes that have none.

    A broker in ZooKeeper mode refuses to start while its former registration stands; operators wait too. Where the
    provider does not offer ZNODES this cannot be seen: there the start itself has to bring the wait.
    """
    if node.mode is not BrokerMode.ZOOKEEPER or Capability.ZNODES not in scene.cluster.capabilities:
        return
    path = f"/brokers/ids/{node.spec.node_id}"
    until(lambda: scene.znodes.get(path) is None, awaited=f"{path} gone with its session", within_s=PATIENCE_S)
