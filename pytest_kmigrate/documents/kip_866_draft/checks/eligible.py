"""Which brokers and controllers are eligible for the migration at an instant, by how they were started."""

from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.event import EventKind, is_a
from pytest_kmigrate.model.events.nodes import NodeReconfigured, NodeStarted
from pytest_kmigrate.model.history import History

_AWAY = (EventKind.NODE_STOPPED, EventKind.NODE_DIED)


def ineligible_brokers(history: History, at_ns: int) -> int:
    """How many brokers in ZooKeeper mode have no flag, or do not run."""
    brokers = [each for each in brokers_at(history, at_ns) if each.mode == "zookeeper"]
    return sum(not each.is_migrating or each.ready_ns is None or each.away_ns is not None for each in brokers)


def ineligible_controllers(history: History, at_ns: int) -> int:
    """How many controllers have no flag, or do not run."""
    controllers = {node for node, role in roles(history).items() if role == "controller"}
    eligible: dict[str, bool] = {}
    flags: dict[str, bool] = {}
    for event in history.events:
        node = str(event.node)
        if event.at_ns > at_ns or node not in controllers:
            continue
        if is_a(event, NodeReconfigured) and MIGRATION_FLAG in event.what.changed:
            flags[node] = event.what.changed[MIGRATION_FLAG] == "true"
        elif is_a(event, NodeStarted):
            eligible[node] = flags.get(node, False)
        elif event.kind in _AWAY:
            eligible[node] = False
    return sum(not each for each in eligible.values())
