"""What the known bugs look like that keep a migration from beginning: PRE_MIGRATION, with nothing left to wait for."""

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER
from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.phases import ZkMigrationState, zk_migration_state
from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample, ZnodeChange

_BROKERS = "/brokers/ids"
_LONG_NS = 100_000_000_000
"""Longer than a driver may wait between two looks (60 s and 2 %), with a session of ZooKeeper (18 s) that it loses."""
_UNSEEN_NS = 10_000_000_000  # who is not sampled for so long may have stood elsewhere meanwhile

_UP = (EventKind.NODE_READY, EventKind.NODE_RESUMED)
_OF_NODES = (
    *_UP,
    EventKind.NODE_STARTED,
    EventKind.NODE_STOPPED,
    EventKind.NODE_DIED,
    EventKind.NODE_PAUSED,
    EventKind.NODE_RECONFIGURED,
    EventKind.NODE_WIPED,
)
_OF_FAULTS = (EventKind.FAULT_BEGAN, EventKind.FAULT_APPLIED, EventKind.FAULT_HEALED)


@dataclass(frozen=True)
class Standstill:
    """An active controller that did not begin the migration for ``lasted_ns``, though it knew all brokers."""

    node: str
    lasted_ns: int
    brokers: int
    controllers: int

    def __str__(self) -> str:
        of = f"{self.brokers} of {counted(self.brokers, 'broker')}"
        return f"{self.node} stood in PRE_MIGRATION for {span(self.lasted_ns)} though it had {of} in migration mode"

    @property
    def signatures(self) -> list[str]:
        """The known bugs that it looks like: nothing but logs tells a driver that is dead from one that waits in vain.

        KAFKA-15369, and KAFKA-20247 from 3.7 on, wait for a controller of which the active one never learned, so they
        take a second one.
        """
        of_others = ["quorum-never-ready", "controller-never-registered"] if self.controllers > 1 else []
        return ["driver-stuck-after-session-trouble", *of_others]


def standstill_at(history: History, at_ns: int) -> Standstill | None:
    """How long the active controller had stood in PRE_MIGRATION up to ``at_ns`` for no reason; None if it had not.

    A reason is a broker that is not registered (``MigratingZkBrokerCount``; releases before 3.6 lack it, so nothing is
    said of them), a node that is down, a controller without the flag, another controller in charge. The time counts
    from the last event of a node or a fault and the last change of ``/controller`` and ``/brokers/ids``. Once KRaft
    holds ``/controller`` the migration has begun.
    """
    by_role = roles(history)
    brokers, controllers = ([n for n, role in by_role.items() if role == each] for each in ("broker", "controller"))
    znodes = _last_of(history, at_ns)
    if not _is_complete(history, at_ns, controllers) or not _is_left_to_zookeeper(znodes, len(brokers)):
        return None
    disturbing = [event.at_ns for event in history.of(*_OF_NODES, *_OF_FAULTS) if event.at_ns <= at_ns]
    quiet_ns = max([*disturbing, *(change.at_ns for change in znodes.values())])
    samples = [each for each in history.samples if each.node in controllers and quiet_ns <= each.at_ns <= at_ns]
    node, lasted_ns = _stood(history, samples, len(brokers))
    return Standstill(node, lasted_ns, len(brokers), len(controllers)) if lasted_ns >= _LONG_NS else None


def _is_complete(history: History, at_ns: int, controllers: list[str]) -> bool:
    """Every node is up, and every controller runs the release under test with the flag of the migration."""
    seen = [event for event in history.of(*_OF_NODES) if event.at_ns <= at_ns]
    last = {event.node: event.kind for event in seen}
    releases = {event.node: event.data.get("kafka") for event in seen if event.kind is EventKind.NODE_STARTED}
    flags = {event.node: changed[MIGRATION_FLAG] for event in seen if MIGRATION_FLAG in (changed := _changed(event))}
    is_set = all(flags.get(each) == "true" and releases.get(each) == history.header.kafka for each in controllers)
    return is_set and all(kind in _UP for kind in last.values())


def _changed(event: Event) -> Mapping[str, object]:
    changed = event.data.get("changed")
    return changed if isinstance(changed, Mapping) else {}


def _last_of(history: History, at_ns: int) -> dict[str, ZnodeChange]:
    """What ``/controller`` and ``/brokers/ids`` last held."""
    seen = (change for change in history.znodes if change.at_ns <= at_ns)
    return {change.path: change for change in seen if change.path in (CONTROLLER, _BROKERS)}


def _is_left_to_zookeeper(znodes: dict[str, ZnodeChange], brokers: int) -> bool:
    """A broker is the controller, and all of them are registered in ZooKeeper, which works for them."""
    if set(znodes) != {CONTROLLER, _BROKERS}:
        return False
    held = held_in(znodes[CONTROLLER])
    is_of_zookeeper = "brokerid" in held and held.get("kraftControllerEpoch", -1) == -1
    return is_of_zookeeper and len(znodes[_BROKERS].children) == brokers


def _stood(history: History, samples: list[Sample], brokers: int) -> tuple[str, int]:
    """Who stood in PRE_MIGRATION with all brokers up to the last of these samples, and how long (ns)."""
    node, since_ns, last_ns = "", 0, 0
    for sample in sorted(samples, key=lambda each: each.at_ns):
        active = sample.values.get("ActiveControllerCount")
        if active is None or (active != 1 and sample.node != node):
            continue  # no answer, or a standby
        waits = active == 1 and _waits(history, sample, brokers)
        if not (waits and sample.node == node and sample.at_ns - last_ns <= _UNSEEN_NS):
            node, since_ns = sample.node if waits else "", sample.at_ns
        last_ns = sample.at_ns
    return node, last_ns - since_ns


def _waits(history: History, sample: Sample, brokers: int) -> bool:
    number = sample.values.get("ZkMigrationState")
    state = None if number is None else zk_migration_state(int(number), history.header.kafka)
    return state is ZkMigrationState.PRE_MIGRATION and sample.values.get("MigratingZkBrokerCount") == brokers
