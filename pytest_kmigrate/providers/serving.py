"""When a cluster serves: what every provider that starts Kafka itself waits for."""

from collections.abc import Collection

from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until
from pytest_kmigrate.wire.admin import brokers_at

_ASKED_EVERY_S = 0.01


def await_brokers_known(cluster: Cluster, own: Collection[str] = ()) -> None:
    """Return when every broker that starts at once reports all others and a controller to clients.

    ``own``: the addresses of this cluster, at which they must report each other. One that started from the disks of
    another cluster knows the brokers at that one's addresses until they have registered anew, and these may be in use
    again, by a third cluster.
    """
    brokers = [node for node in cluster.nodes(Role.BROKER) if node.spec.start == "at-once"]
    expected = frozenset(node.spec.node_id for node in brokers)

    def reported() -> bool | NotYet:
        for node in brokers:
            controller, known = brokers_at(cluster.peer(node.name))
            if controller < 0 or known.keys() != expected:
                return NotYet(f"{node.name} knows controller {controller} and brokers {sorted(known)}")
            if own and (foreign := set(known.values()) - set(own)):
                return NotYet(f"{node.name} knows brokers at {', '.join(sorted(foreign))}, none of this cluster's")
        return True

    awaited = "every broker in every broker's metadata"
    until(reported, awaited=awaited, within_s=PATIENCE_S, every_s=_ASKED_EVERY_S)
