"""A migration by the draft, whole: what nodes, requests, metrics, znodes and the log show if all of it is followed."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample, ZnodeChange
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import event, fault, history, phase, sample, snapshot, znode
from tests.unit.documents.kip_866.checks.nodes import broker, controller

Record = dict[str, Any]
VERSIONS = {"LeaderAndIsr": 7, "StopReplica": 4, "UpdateMetadata": 8}
PREPARING_S, COPYING_S, HYBRID_S, FAILOVER_S, KRAFT_S, FINALIZED_S, END_S = 10, 40, 60, 90, 120, 150, 180
TAKEN_S, TAMPERED_S = 45, 140
"""When the first controller took ``/controller``, and when a test took a field from it."""
FIRST, SECOND = "controller-3000", "controller-3001"


def configured(at_s: int, node: str, **changed: str) -> Event:
    """The properties of a node change."""
    return event(EventKind.NODE_RECONFIGURED, at_s * 1000, node, changed=changed, mode=None)


def flagged(at_s: int, node: str, value: str = "true") -> Event:
    """A node is given ZooKeeper's address, and the flag of the migration."""
    return configured(at_s, node, **{MIGRATION_FLAG: value, "zookeeper.connect": "zookeeper-1:2181"})


def answered(at_s: int, node: str, v4: int | None, v3: int | None = None, **more: Any) -> Event:
    """A node answers to ApiVersions."""
    data = {"requests": {}, "is_ready_to_migrate": bool(v3), "readiness": {"3": v3, "4": v4}}
    return event(EventKind.NODE_REQUESTS, at_s * 1000, node, **{**data, **more})


def registering(at_s: int, readiness: int | None = 1, levels: tuple[int, int] = (20, 20), **more: Any) -> Event:
    """A stub controller received a registration."""
    data = {"broker": 0, "readiness": readiness, "levels": {"metadata.version": levels}, "is_migrating": None, **more}
    return event(EventKind.REGISTRATION, at_s * 1000, "stub-controller-3009", **data)


def led(at_s: int, node: str) -> Event:
    """A node is the active controller from then on."""
    return event(EventKind.ACTIVE_CONTROLLER, at_s * 1000, controller=node, previous=None)


def received(at_s: int, request: str, named: int | None = 3000, controller_id: int = -1, **more: Any) -> Event:
    """A stub received a control request."""
    data = {"request": request, "version": VERSIONS[request], "controller_id": controller_id, "controller_epoch": 2}
    data |= {"kraft_controller_id": named, "is_kraft": None, "unread_bytes": 0}
    return event(EventKind.CONTROL_REQUEST, at_s * 1000, "stub-9", **{**data, **more})


def nodes() -> list[Event]:
    """Three brokers and three controllers, the second of which has the flag 10 s later than the others."""
    brokers = [each for number in range(3) for each in broker(0, number)]
    joined = [
        each
        for number, at_s in enumerate((20, 25, 35))
        for each in (flagged(at_s, f"broker-{number}"), *broker(at_s * 1000, number))
    ]
    controllers = [each for n in (0, 2) for each in (flagged(9, f"controller-300{n}"), controller(9_000, 3000 + n))]
    late = [flagged(9, SECOND, "false"), controller(9_000, 3001), answered(10, SECOND, 0)]
    late += [flagged(30, SECOND), controller(30_000, 3001), answered(31, SECOND, 1)]
    zookeeper = event(EventKind.NODE_STARTED, 0, "zookeeper-1", role="zookeeper", mode=None, kafka="3.9.1")
    first = [zookeeper, configured(9, "controller-3002"), answered(10, FIRST, 1), answered(21, "broker-0", None)]
    return [*brokers, *joined, *controllers, *late, *first]


def requests() -> list[Event]:
    """Of a controller in ZooKeeper mode, and of both that led the quorum."""
    by_zookeeper = received(30, "UpdateMetadata", named=-1, controller_id=0)
    by_first = [received(70, request) for request in VERSIONS]
    return [by_zookeeper, registering(35), *by_first, received(110, "UpdateMetadata", named=3001)]


def phases() -> list[Event]:
    """The way of the cluster, with a failover in dual write, and a test that takes isKRaft from ``/controller``."""
    edges = [(0, "ZOOKEEPER"), (PREPARING_S, "PREPARING"), (COPYING_S, "COPYING"), (HYBRID_S, "HYBRID")]
    edges += [(KRAFT_S, "ALL_KRAFT"), (FINALIZED_S, "FINALIZED")]
    active = [led(0, "broker-0"), led(COPYING_S, FIRST), led(FAILOVER_S, SECOND)]
    return [*(phase(at_s * 1000, name) for at_s, name in edges), *active]


def claimed(at_s: int, number: int, epoch: int, **more: object) -> ZnodeChange:
    """A controller takes ``/controller``."""
    held = {"version": 2, "brokerid": number, "timestamp": "1", "isKRaft": True, **more}
    return znode(at_s * 1000, "/controller", json.dumps(held), version=epoch)


def written(at_s: int, offset: int, number: int = 3000) -> ZnodeChange:
    """``/migration`` gets another offset."""
    return znode(
        at_s * 1000, "/migration", json.dumps({"kraft_metadata_offset": offset, "kraft_controller_id": number})
    )


def znodes() -> list[ZnodeChange]:
    """Of both controllers."""
    return [
        claimed(TAKEN_S, 3000, 2),
        written(62, 100),
        claimed(92, 3001, 3),
        written(95, 200, 3001),
        written(125, 200, 3001),
    ]


def state_at(at_s: float) -> int:
    """The number of the state."""
    return 1 + sum(at_s >= each for each in (COPYING_S, HYBRID_S, FINALIZED_S))


def metrics_of_controller(at_s: float, node: str) -> dict[str, float | None]:
    """Of the active one, whose peers report only that they are not."""
    leader = FIRST if at_s < FAILOVER_S else SECOND
    if node != leader:
        return {"ActiveControllerCount": 0, "MigrationIneligibleBrokerCount": None}
    offset = 100 if at_s < 95 else 200
    brokers = sum(at_s < each for each in (20, 25, 35))
    return {
        "ActiveControllerCount": 1,
        "ZkMigrationState": state_at(at_s),
        "LastCommittedRecordOffset": offset + 5,
        "ZooKeeperWriteBehindLag": 5,
        "MigrationIneligibleBrokerCount": brokers if at_s < COPYING_S else 0,
        "MigrationIneligibleControllerCount": 1 if at_s < 30 else 0,
        "ZooKeeperBlockingKRaftMillis": 0 if at_s < 104 else 500,
    }


def samples() -> list[Sample]:
    """Every second, of brokers in ZooKeeper mode and of controllers."""
    found = []
    for at_s in range(1, END_S):
        for number in range(3):
            is_active = number == 0 and at_s < TAKEN_S
            values = {"ActiveControllerCount": float(is_active), "ZkMigrationState": 1.0 if is_active else None}
            found += [sample(at_s * 1000, f"broker-{number}", **values)] if at_s < KRAFT_S else []
        found += [
            sample(at_s * 1000, node, **metrics_of_controller(at_s, node)) for node in (FIRST, SECOND) if at_s > 9
        ]
    return found


def state_record(offset: int, number: object, kind: str = "ZK_MIGRATION_RECORD", version: int = 0) -> Record:
    """A record of the migration."""
    return {"offset": offset, "type": kind, "version": version, "data": {"zkMigrationState": number}}


def registered(offset: int, label: str = "isZkBroker") -> Record:
    """A broker registers."""
    data = {"brokerId": 0, label: True, "features": []}
    return {"offset": offset, "type": "REGISTER_BROKER_RECORD", "version": 2, "data": data}


STARTED, FINISHED = state_record(20, 0), state_record(300, 1)


def image(*records: Record) -> MetadataImage:
    """An image of a log with these records, whole."""
    return MetadataImage("metadata-log", extra={"announced": list(records)})


def migration(
    *,
    events: Iterable[Event] = (),
    without: Callable[[Event], bool] = lambda _: False,
    requested: list[Event] | None = None,
    changed: Callable[[Sample], Sample] = lambda each: each,
    places: list[ZnodeChange] | None = None,
    hybrid: list[Record] | None = None,
    finalized: list[Record] | None = None,
) -> History:
    """The migration by the draft, with what is given in the place of what conforms."""
    there = [*nodes(), *phases(), *(requests() if requested is None else requested)]
    there += fault(103_000, "cut(controllers->zookeeper)")
    there += [event(EventKind.FAULT_HEALED, 105_000, fault_id="cut(controllers->zookeeper)", fault="cut")]
    images = {
        "hybrid-log": image(registered(5), STARTED) if hybrid is None else image(*hybrid),
        "finalized-log": image(registered(5), STARTED, FINISHED) if finalized is None else image(*finalized),
    }
    taken = [snapshot(80_000, "hybrid-log"), snapshot(170_000, "finalized-log")]
    return history(
        events=[*(each for each in there if not without(each)), *taken, *events],
        samples=[changed(each) for each in samples()],
        znodes=sorted(znodes() if places is None else places, key=lambda each: each.at_ns),
        images=images,
    )


def reporting(node: str, metric: str, value: float | None, since_s: int = 0, until_s: int = END_S) -> Any:
    """A function that gives a node another value of a metric between two seconds, where it reports any."""

    def changed(each: Sample) -> Sample:
        is_there = each.node == node and metric in each.values and since_s * 10**9 <= each.at_ns < until_s * 10**9
        return Sample(each.at_ns, each.node, {**each.values, metric: value}) if is_there else each

    return changed
