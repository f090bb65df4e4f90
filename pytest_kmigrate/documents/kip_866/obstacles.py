"""What keeps a migration from its next phase, as far as nodes, metrics, znodes and the metadata log show it."""

from collections.abc import Callable, Iterator, Sequence

from pytest_kmigrate.documents.kip_866.phases import MIGRATION_STATE, Phase
from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.model.protocols import Node, Scene
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.procedures.joining import joined

_ZOOKEEPER = "zookeeper.connect"
_OF_COPYING = (Phase.PREPARING.name, Phase.COPYING.name, Phase.HYBRID.name)
_LONGEST = 200


def obstacles(scene: Scene, wanted: str) -> list[str]:
    """One sentence for each thing that the phase ``wanted`` still waits for, and for what shows where things are.

    A part of the evidence that cannot be read, because its node or ZooKeeper does not answer, is left out.
    """
    looks: list[Callable[[Scene], Iterator[str]]] = [_down, _of_leader]
    if wanted in _OF_COPYING:
        looks += [_misconfigured, _unregistered, _of_znodes]
    if wanted == Phase.ALL_KRAFT.name:
        looks += [_in_zookeeper_mode]
    if wanted == Phase.FINALIZED.name:
        looks += [_still_migrating]
    return [sentence for look in looks for sentence in _as_far_as_it_answers(look, scene)]


def _as_far_as_it_answers(look: Callable[[Scene], Iterator[str]], scene: Scene) -> list[str]:
    found: list[str] = []
    try:
        for sentence in look(scene):
            found.append(sentence)  # noqa: PERF402 - what came before an error counts
    except KmigrateError:
        pass
    return found


def _down(scene: Scene) -> Iterator[str]:
    for node in (*joined(scene.cluster, Role.BROKER), *scene.cluster.nodes(Role.CONTROLLER)):
        if not node.alive:
            yield f"{node.name} is down"
        elif node.stands_still:
            yield f"{node.name} is paused"


def _of_leader(scene: Scene) -> Iterator[str]:
    leader = scene.view.quorum_leader()
    state = scene.view.state(MIGRATION_STATE)
    if leader is None:
        yield "no controller leads the quorum"
    else:
        yield f"{leader} leads the quorum" + (f", in state {state.value}" if state else "")


def _misconfigured(scene: Scene) -> Iterator[str]:
    brokers = [node for node in joined(scene.cluster, Role.BROKER) if node.mode is BrokerMode.ZOOKEEPER]
    for node in (*scene.cluster.nodes(Role.CONTROLLER), *brokers):
        if node.properties.get(MIGRATION_FLAG) != "true":
            yield f"{node.name} runs without {MIGRATION_FLAG}=true"
        elif _ZOOKEEPER not in node.properties:
            yield f"{node.name} has no {_ZOOKEEPER}"
        elif node.properties[_ZOOKEEPER] != scene.cluster.zookeeper_connect:
            theirs = f"{node.properties[_ZOOKEEPER]}, not {scene.cluster.zookeeper_connect}"
            yield f"{node.name} runs with another {_ZOOKEEPER} than the cluster's: {theirs}"


def _unregistered(scene: Scene) -> Iterator[str]:
    """What the leader's metadata log says; controllers register from Kafka 3.7 on."""
    leader = scene.view.quorum_leader()
    if leader is None or Capability.METADATA_LOG not in scene.cluster.capabilities:
        return
    records = scene.cluster.metadata_log(leader)
    brokers = {each["data"].get("brokerId") for each in records if each["type"] == "REGISTER_BROKER_RECORD"}
    yield from _lacking(joined(scene.cluster, Role.BROKER), brokers)
    ready = {
        each["data"].get("controllerId"): each["data"].get("zkMigrationReady")
        for each in records
        if each["type"] == "REGISTER_CONTROLLER_RECORD"
    }
    if ready:
        controllers = scene.cluster.nodes(Role.CONTROLLER)
        yield from _lacking(controllers, set(ready))
        yield from (
            f"{node.name} registered as not ready to migrate"
            for node in controllers
            if ready.get(node.spec.node_id) is False
        )


def _lacking(nodes: Sequence[Node], registered: set[object]) -> Iterator[str]:
    for node in nodes:
        if node.spec.node_id not in registered:
            yield f"{node.name} is not registered with the quorum"


def _of_znodes(scene: Scene) -> Iterator[str]:
    for path in ("/controller", "/migration"):
        data = scene.znodes.get(path)
        text = data.decode("utf-8", "replace")[:_LONGEST] if data else "no data"
        yield f"{path} does not exist" if data is None else f"{path} holds {text}"


def _in_zookeeper_mode(scene: Scene) -> Iterator[str]:
    for node in joined(scene.cluster, Role.BROKER):
        if node.mode is BrokerMode.ZOOKEEPER:
            yield f"{node.name} runs in ZooKeeper mode"
    leader = scene.view.quorum_leader()
    count = scene.view.metric(leader, "MigratingZkBrokerCount") if leader else None
    if count:
        yield f"{leader} counts {count:g} brokers in ZooKeeper mode"


def _still_migrating(scene: Scene) -> Iterator[str]:
    for node in scene.cluster.nodes(Role.CONTROLLER):
        if node.properties.get(MIGRATION_FLAG) == "true":
            yield f"{node.name} runs with {MIGRATION_FLAG}=true"
