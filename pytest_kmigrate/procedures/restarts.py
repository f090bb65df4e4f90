"""Starts of nodes: when a former life is over, so that a new one may begin, and who starts what a fault has ended."""

from collections.abc import Callable

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import NodeDiedError
from pytest_kmigrate.model.event import only
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan, FaultHealed
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


def faults_in_force(scene: Scene) -> list[str]:
    """The ids of the faults that have begun and are not healed."""
    events = list(scene.recorder.events)
    healed = {event.what.fault_id for event in only(events, FaultHealed)}
    return [event.what.fault_id for event in only(events, FaultBegan) if event.what.fault_id not in healed]


def has_started(scene: Scene, start: Callable[[], None], *, is_heal: bool = False) -> bool:
    """Start nodes and wait for them; False if a fault ended one meanwhile, which starts it again as it is healed.

    ``is_heal``: a fault itself starts what it has ended, so that another one has to be in force. A node that died by
    itself fails the start, unless a fault lets it die.
    """
    try:
        start()
    except NodeDiedError as error:
        in_force = faults_in_force(scene)
        is_by_another = len(in_force) > (1 if is_heal else 0)
        if not is_by_another or (error.is_recorded and not _may_end(scene, error.node, in_force)):
            raise
        return False
    return True


def _may_end(scene: Scene, node: str, in_force: list[str]) -> bool:
    """Whether one of these faults lets a node die by itself, as one does that takes its disk."""
    applied = [each.what for each in only(list(scene.recorder.events), FaultApplied) if each.what.fault_id in in_force]
    return any(node in each.targets and each.lets_nodes_end for each in applied)
