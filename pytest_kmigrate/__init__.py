"""pytest-kmigrate: live ZooKeeper to KRaft migrations of real Kafka clusters, broken on purpose and judged."""

from pytest_kmigrate.checkers import checks
from pytest_kmigrate.faults import (
    Cut,
    ExpireSession,
    Isolate,
    Kill,
    Partition,
    Pause,
    Refuse,
    Reset,
    Slice,
    Slow,
    Stop,
    Tamper,
    Throttle,
)
from pytest_kmigrate.faults import crash_points, targets, triggers
from pytest_kmigrate.model.phase import Phase, ZkMigrationState
from pytest_kmigrate.model.topology import BrokerMode, Role, Topology
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict

__all__ = [
    "BrokerMode",
    "Cut",
    "ExpireSession",
    "Isolate",
    "Kill",
    "Kind",
    "Outcome",
    "Partition",
    "Pause",
    "Phase",
    "Refuse",
    "Reset",
    "Role",
    "Slice",
    "Slow",
    "Stop",
    "Tamper",
    "Throttle",
    "Topology",
    "Verdict",
    "ZkMigrationState",
    "checks",
    "crash_points",
    "targets",
    "triggers",
]
