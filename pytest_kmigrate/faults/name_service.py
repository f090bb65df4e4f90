"""Faults of the name service: a node that finds no other one by its name."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_kmigrate.faults.effect import Applied
from pytest_kmigrate.faults.targets import Target
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.events.faults import NOTHING
from pytest_kmigrate.model.links import Disturbance
from pytest_kmigrate.model.protocols import Node, Scene

_UNKNOWN = b"java.net.UnknownHostException"


@dataclass(frozen=True)
class Misname:
    """The name service of a node knows no other node until it is healed, and the node's connections end once.

    Kafka looks a name up for each connection that it makes, so connections that are there would hide the fault: those
    that the node has dialled are closed as it begins. The witness is the node's own word for a name that it did not
    find. A JVM remembers for 10 s that a name was not found, so that healing takes as long.
    """

    target: Target
    needs = frozenset({Capability.NAMES, Capability.LINKS, Capability.LOGS})

    def __str__(self) -> str:
        return f"misname({self.target})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Take the names from every node meant, and end the connections that it has dialled."""
        nodes = [scene.cluster.node(name) for name in self.target.nodes(scene)]
        said = {node.name: node.log.stat().st_size if node.log.exists() else 0 for node in nodes}
        others = [node.name for node in scene.cluster.nodes()]

        def witness() -> str | None:
            found = [node.name for node in nodes if _has_said(node, said[node.name])]
            return f"{', '.join(found)} did not find a name" if len(found) == len(nodes) else None

        try:
            for node in nodes:
                node.find_others(by_name=False)
                links = scene.cluster.links.between([node.name], [each for each in others if each != node.name])
                with scene.cluster.links.disturb(links, Disturbance("refuse")):
                    pass  # it ends every connection that is there, also one that carries nothing at the moment
            names = tuple(node.name for node in nodes)
            yield Applied(names, f"{_UNKNOWN.decode()} in what each of them says", witness, takes=NOTHING)
        finally:
            for node in nodes:
                node.find_others(by_name=True)


def _has_said(node: Node, since: int) -> bool:
    with node.log.open("rb") as log:
        log.seek(since)
        return _UNKNOWN in log.read()
