"""KAFKA-16563, KAFKA-15369 and KAFKA-20247: a migration does not begin, with nothing left to wait for.

To metrics and znodes the three look the same; what the migration driver of the active controller logged last differs.
"""

import re
from collections.abc import Callable, Collection, Mapping

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER
from pytest_kmigrate.checkers.controllers.lives import active_at, roles
from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.logs import ZONES_NS, line_to, log_of, was_logged_between
from pytest_kmigrate.checkers.evidence.moments import failed_steps
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.clients.brokers_only import clients_are_told_of_brokers_only
from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import clients_are_told_the_same
from pytest_kmigrate.documents.kip_866.checks.copying.beginning import migration_begins_when_every_node_is_ready
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import LACKED_BY
from pytest_kmigrate.documents.kip_866.diagnoses.unsent import is_uninformed
from pytest_kmigrate.documents.kip_866.driver_log import ABORTED_COPY, registered_for_migration
from pytest_kmigrate.documents.kip_866.expectations import CONTROLLER_HELD, SUCCESSOR_KNOWN
from pytest_kmigrate.documents.kip_866.failed_steps import blamed_steps
from pytest_kmigrate.documents.kip_866.phases import ZkMigrationState, zk_migration_state
from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import EventKind, Recorded, is_a
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.nodes import NodeDied, NodeReconfigured, NodeStarted, NodeStopped
from pytest_kmigrate.model.events.steps import StepEnded
from pytest_kmigrate.model.history import History, Sample, ZnodeChange
from pytest_kmigrate.model.verdict import Verdict

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


_COUNT = "MigratingZkBrokerCount"
_DRIVER = re.compile(r"\[KRaftMigrationDriver id=\d+\] ([^\n]*)")
_OF_CLIENTS = (clients_are_told_the_same, clients_are_told_of_brokers_only)
"""What brokers in ZooKeeper mode report, which hear of no controller then."""
_LOST_POLL, _RECOVERED = "Had an exception in PollEvent", "Recovered migration state"
_WAITS = "Still waiting for all controller nodes ready to begin the migration"


@diagnosis("KAFKA-16563")
def driver_polls_no_more(history: History, verdict: Verdict) -> bool:
    """The driver of the active controller logged an error of ZooKeeper last, and nothing since.

    One of 3.4 that never came to know the state of the migration also claims nothing when it takes over.
    """
    return _explains(history, verdict, lambda last: "Encountered ZooKeeper error during event" in last) or all_unmet(
        history, verdict, lambda event: _claims_nothing(history, event)
    )


@diagnosis("KAFKA-15369")
def driver_waits_for_the_version_of_a_controller(history: History, verdict: Verdict) -> bool:
    """The driver waits for a controller to which the active one had no reason to connect."""
    return _explains(history, verdict, lambda last: _WAITS in last and "Missing apiVersion from nodes" in last)


@diagnosis("KAFKA-20247")
def driver_waits_for_the_registration_of_a_controller(history: History, verdict: Verdict) -> bool:
    """The driver waits for the registration of a controller, which is up and has given up to register."""
    return _explains(history, verdict, lambda last: _WAITS in last and "No registration found for controller" in last)


def _explains(history: History, verdict: Verdict, is_last: Callable[[str], bool]) -> bool:
    """Whether the migration stood still when what a verdict is about was missed, and the driver logged this last."""
    moments = _moments(history, verdict)
    last = [_last_logged(history, standing_still_at(history, at_ns), at_ns) for at_ns in moments]
    return bool(moments) and all(each and is_last(each) for each in last)


def _last_logged(history: History, node: str | None, at_ns: int) -> str:
    """What the driver of a node had logged last; what it logs later, as nodes are stopped, is no cause of it."""
    log, until_ns = log_of(history, node or ""), min(history.end_ns + _UNSEEN_NS, at_ns + ZONES_NS - 1)
    lines = list(_DRIVER.finditer(log))
    while lines and was_logged_between(history, line_to(log, lines[-1].end()), at_ns + 1, until_ns, node or ""):
        lines.pop()
    return lines[-1][1] if lines else ""


def _claims_nothing(history: History, event: Recorded[ExpectationEnded]) -> bool:
    log = log_of(history, active_at(history, event.at_ns))
    is_about = any(each.is_of(event.what) for each in (CONTROLLER_HELD, SUCCESSOR_KNOWN))
    return is_about and _LOST_POLL in log and _RECOVERED not in log.rpartition(_LOST_POLL)[2]


def _moments(history: History, verdict: Verdict) -> list[int]:
    """When what a verdict is about was missed: a step failed, or nothing began although every node was ready."""
    steps = failed_steps(history)[0]
    if verdict.is_of(*_OF_CLIENTS):
        return [step.at_ns for step in steps] if _is_after_a_claim_in_vain(history, verdict) else []
    if verdict.is_of(migration_begins_when_every_node_is_ready) and not verdict.listed("not_ready"):
        missed = steps or verdict.violations
        return [each.at_ns or 0 for each in missed] if verdict.count <= len(missed) else []
    steps = blamed_steps(history, verdict)
    return [step.at_ns for step in steps] if all(map(_waits_for_a_phase, steps)) else []


def _waits_for_a_phase(step: Recorded[StepEnded]) -> bool:
    return step.what.reason.startswith("phase ")


def _is_after_a_claim_in_vain(history: History, verdict: Verdict) -> bool:
    """Brokers in ZooKeeper mode hear of no controller any more, once one that has ended holds ``/controller``."""
    claim = _last_of(history, history.end_ns).get(CONTROLLER)
    if claim is None or not _is_claimed_in_vain(history, claim, history.end_ns):
        return False
    return all((each.at_ns or 0) >= claim.at_ns and is_uninformed(each.observed) for each in verdict.violations)


def standing_still_at(history: History, at_ns: int) -> str | None:
    """The active controller that had long stood in PRE_MIGRATION up to ``at_ns`` for no reason; None if it had not.

    A reason is a broker that is not registered, a node that is down, a controller without the flag, another controller
    in charge. The time counts from the last event of a node or a fault and the last change of ``/controller`` and
    ``/brokers/ids``. Once KRaft holds ``/controller`` the migration has begun, unless its holder has ended.
    """
    by_role = roles(history)
    brokers, controllers = ([n for n, role in by_role.items() if role == each] for each in ("broker", "controller"))
    znodes, ended = _last_of(history, at_ns), _gave_up(history, at_ns)
    if not _is_complete(history, at_ns, controllers, ended):
        return None
    if set(znodes) != {CONTROLLER, _BROKERS} or len(znodes[_BROKERS].children) != len(brokers):
        return None
    if not _is_left(history, at_ns, znodes[CONTROLLER], ended):
        return None
    disturbing = [event.at_ns for event in history.of(*_OF_NODES, *_OF_FAULTS) if event.at_ns <= at_ns]
    quiet_ns = max([*disturbing, *(change.at_ns for change in znodes.values())])
    samples = [each for each in history.samples if each.node in controllers and quiet_ns <= each.at_ns <= at_ns]
    node, lasted_ns = _stood(history, samples, len(brokers))
    return node if lasted_ns >= _LONG_NS else None


def _gave_up(history: History, at_ns: int) -> set[str]:
    """The controllers that ended as they are meant to when they cannot copy, so that another one begins again."""
    last = {event.node: event for event in history.of(*_OF_NODES) if event.at_ns <= at_ns}
    deaths = [event for event in last.values() if is_a(event, NodeDied)]
    return {str(event.node) for event in deaths if ABORTED_COPY in event.what.said}


def _is_complete(history: History, at_ns: int, controllers: list[str], ended: Collection[str]) -> bool:
    """Every node but those is up, and every controller runs the release under test with the flag of the migration."""
    seen = [event for event in history.of(*_OF_NODES) if event.at_ns <= at_ns and event.node not in ended]
    last = {event.node: event.kind for event in seen}
    releases = {event.node: event.what.kafka for event in seen if is_a(event, NodeStarted)}
    changes = [(event.node, event.what.changed) for event in seen if is_a(event, NodeReconfigured)]
    flags = {node: changed[MIGRATION_FLAG] for node, changed in changes if MIGRATION_FLAG in changed}
    left = [each for each in controllers if each not in ended]
    is_set = all(flags.get(each) == "true" and releases.get(each) == history.header.release for each in left)
    return is_set and all(kind in _UP for kind in last.values())


def _last_of(history: History, at_ns: int) -> dict[str, ZnodeChange]:
    """What ``/controller`` and ``/brokers/ids`` last held."""
    seen = (change for change in history.znodes if change.at_ns <= at_ns)
    return {change.path: change for change in seen if change.path in (CONTROLLER, _BROKERS)}


def _is_left(history: History, at_ns: int, claim: ZnodeChange, ended: Collection[str]) -> bool:
    """A broker is the controller, or a KRaft controller that has ended."""
    held = held_in(claim)
    is_of_zookeeper = "brokerid" in held and held.get("kraftControllerEpoch", -1) == -1
    gave_up = f"controller-{held.get('brokerid')}" in ended
    return is_of_zookeeper or gave_up or _is_claimed_in_vain(history, claim, at_ns)


def _is_claimed_in_vain(history: History, claim: ZnodeChange, at_ns: int) -> bool:
    """A KRaft controller holds ``/controller`` that was killed or ended after it had claimed it."""
    held = held_in(claim)
    name = f"controller-{held.get('brokerid')}" if held.get("kraftControllerEpoch", -1) >= 0 else None
    ends = history.of(NodeStopped, NodeDied)
    return any(event.node == name and claim.at_ns <= event.at_ns <= at_ns for event in ends)


def _stood(history: History, samples: list[Sample], brokers: int) -> tuple[str, int]:
    """Who stood in PRE_MIGRATION with all brokers up to the last of these samples, and how long (ns)."""
    logged = _logged(history, {each.node for each in samples})
    node, since_ns, last_ns = "", 0, 0
    for sample in sorted(samples, key=lambda each: each.at_ns):
        active = sample.values.get("ActiveControllerCount")
        if active is None or (active != 1 and sample.node != node):
            continue  # no answer, or a standby
        waits = active == 1 and _waits(history, sample, logged, brokers)
        if not (waits and sample.node == node and sample.at_ns - last_ns <= _UNSEEN_NS):
            node, since_ns = sample.node if waits else "", sample.at_ns
        last_ns = sample.at_ns
    return node, last_ns - since_ns


def _waits(history: History, sample: Sample, logged: Mapping[str, int], brokers: int) -> bool:
    number = sample.values.get("ZkMigrationState")
    state = None if number is None else zk_migration_state(int(number), history.header.kafka)
    return state is ZkMigrationState.PRE_MIGRATION and logged.get(sample.node, sample.values.get(_COUNT)) == brokers


def _logged(history: History, nodes: Collection[str]) -> Mapping[str, int]:
    """How many brokers in migration mode registered with each by its log; none since 3.6, which has a metric of it."""
    if not history.header.kafka.startswith(LACKED_BY[_COUNT]):
        return {}
    return {node: len(registered_for_migration(log_of(history, node))) for node in nodes}
