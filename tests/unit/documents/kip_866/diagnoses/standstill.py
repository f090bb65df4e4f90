"""A run whose migration stands still: every node is ready, and the active controller does nothing."""

import json
from dataclasses import replace

from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample, ZnodeChange
from tests.unit.checkers.histories import MS, event, history, sample, znode

PRE_MIGRATION, MIGRATION = 2, 1
BROKERS = ("broker-0", "broker-1", "broker-2")
CONTROLLERS = ("controller-3000", "controller-3001", "controller-3002")
ACTIVE, STANDBY = CONTROLLERS[:2]
FAILED_MS = 150_000
"""When the step gave up; the last broker was up again at 30 s, and registered at 32 s."""


def started(at_ms: int, node: str, kafka: str = "3.6.0") -> list[Event]:
    """A node that was started, and was ready a second later."""
    role = node.partition("-")[0]
    mode = "zookeeper" if role == "broker" else None
    began = event(EventKind.NODE_STARTED, at_ms, node, role=role, mode=mode, kafka=kafka)
    return [began, event(EventKind.NODE_READY, at_ms + 1000, node)]


def flagged(at_ms: int, node: str, flag: str | None = "true") -> Event:
    """A node that was configured to take part in the migration, or not to."""
    return event(EventKind.NODE_RECONFIGURED, at_ms, node, changed={MIGRATION_FLAG: flag}, mode=None)


def reported(at_ms: int, node: str = ACTIVE, brokers: float | None = 3, **more: float | None) -> Sample:
    """What an active controller reports that waits for nothing any more, by default."""
    values: dict[str, float | None] = {"ActiveControllerCount": 1, "ZkMigrationState": PRE_MIGRATION}
    return sample(at_ms, node, **{**values, "MigratingZkBrokerCount": brokers, **more})


def in_charge(at_ms: int, broker: int = 0, kraft_epoch: int = -1) -> ZnodeChange:
    """Who holds /controller."""
    return znode(at_ms, "/controller", json.dumps({"brokerid": broker, "kraftControllerEpoch": kraft_epoch}))


def registered(at_ms: int, *brokers: int) -> ZnodeChange:
    """The brokers that ZooKeeper has."""
    return replace(znode(at_ms, "/brokers/ids", ""), children=tuple(map(str, brokers)))


def stuck(kafka: str = "3.6.0") -> History:
    """All brokers were rolled into migration mode and are registered with the active controller, which does nothing."""
    events = started(0, "zookeeper-1")
    for node in (*BROKERS, *CONTROLLERS):
        events += [*([flagged(9000, node)] if node in CONTROLLERS else []), *started(10_000, node, kafka)]
    for place, node in enumerate(BROKERS):
        at_ms = 11_500 + 6000 * place
        rolled = [event(EventKind.NODE_STOPPED, at_ms, node, how="controlled"), flagged(at_ms + 1, node)]
        events += [*rolled, *started(at_ms + 5500, node, kafka)]
    step = {"step": "roll-brokers-into-migration"}
    events.append(event(EventKind.STEP_BEGAN, 11_100, **step))
    failed = {**step, "outcome": "failed", "reason": "phase HYBRID: not within 120 s"}
    events.append(event(EventKind.STEP_ENDED, FAILED_MS, **failed))
    active = [reported(at_ms, brokers=min(3, (at_ms - 11_000) // 7000)) for at_ms in range(12_000, FAILED_MS, 500)]
    standby = [reported(each.at_ns // MS, STANDBY, ActiveControllerCount=0) for each in active]
    changes = [registered(1000, 0, 1, 2), in_charge(1000), registered(24_000, 0, 1), registered(29_500, 0, 1, 2)]
    return history(events=events, samples=[*active, *standby], znodes=changes, kafka=kafka)
