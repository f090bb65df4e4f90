"""pytest-kmigrate: live ZooKeeper to KRaft migrations of real Kafka clusters, broken on purpose and judged.

The names below are the public ones; everything else may change. They are loaded when first used, because pytest
imports this package at every start, also of test suites that have nothing to do with Kafka.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_kmigrate.documents.kip_866 import crash_points, procedure, sweep
    from pytest_kmigrate.documents.kip_866.driver import MigrationDriver
    from pytest_kmigrate.documents.kip_866.phases import Phase, ZkMigrationState
    from pytest_kmigrate.faults import targets, triggers
    from pytest_kmigrate.faults.disks import FailLogDir
    from pytest_kmigrate.faults.holding import Hold
    from pytest_kmigrate.faults.injection import Injection
    from pytest_kmigrate.faults.links import Cut, Isolate, Partition, Refuse, Reset, Slice, Slow, Throttle
    from pytest_kmigrate.faults.name_service import Misname
    from pytest_kmigrate.faults.processes import Kill, Pause, Stop
    from pytest_kmigrate.faults.resources import Clock, FewFiles, FillDisk, SlowFsync, Starve, TornTail
    from pytest_kmigrate.faults.znodes import ExpireSession, Forbid, Tamper
    from pytest_kmigrate.judging import checks
    from pytest_kmigrate.model.checkpoint import Znode
    from pytest_kmigrate.model.event import EventKind
    from pytest_kmigrate.model.links import Stream
    from pytest_kmigrate.model.protocols import Cluster, Node
    from pytest_kmigrate.model.topology import BrokerMode, Role, Topology
    from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict
    from pytest_kmigrate.plugin.outcomes import ViolationError
    from pytest_kmigrate.procedures import moves
    from pytest_kmigrate.running import Run
    from pytest_kmigrate.running.calls import Expect, Inject, Verify
    from pytest_kmigrate.running.metadata import Metadata
    from pytest_kmigrate.running.traffic import Traffic
    from pytest_kmigrate.wire import admin as raw_admin
    from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange

__all__ = [
    "BrokerMode",
    "Clock",
    "Cluster",
    "Cut",
    "EventKind",
    "Expect",
    "ExpireSession",
    "FailLogDir",
    "FewFiles",
    "FillDisk",
    "Forbid",
    "Hold",
    "Inject",
    "Injection",
    "Isolate",
    "Kill",
    "Kind",
    "Metadata",
    "MetadataChange",
    "MigrationDriver",
    "Misname",
    "Node",
    "Outcome",
    "Partition",
    "Pause",
    "Phase",
    "Refuse",
    "Reset",
    "Role",
    "Run",
    "Slice",
    "Slow",
    "SlowFsync",
    "Starve",
    "Stop",
    "Stream",
    "Tamper",
    "Throttle",
    "Topology",
    "TornTail",
    "Traffic",
    "Verdict",
    "Verify",
    "ViolationError",
    "ZkMigrationState",
    "Znode",
    "checks",
    "crash_points",
    "moves",
    "procedure",
    "raw_admin",
    "sweep",
    "targets",
    "triggers",
]

_ROOMS = {
    "documents.kip_866": ("crash_points", "procedure", "sweep"),
    "documents.kip_866.driver": ("MigrationDriver",),
    "documents.kip_866.phases": ("Phase", "ZkMigrationState"),
    "faults": ("targets", "triggers"),
    "faults.disks": ("FailLogDir",),
    "faults.holding": ("Hold",),
    "faults.injection": ("Injection",),
    "faults.links": ("Cut", "Isolate", "Partition", "Refuse", "Reset", "Slice", "Slow", "Throttle"),
    "faults.name_service": ("Misname",),
    "faults.processes": ("Kill", "Pause", "Stop"),
    "faults.resources": ("Clock", "FewFiles", "FillDisk", "SlowFsync", "Starve", "TornTail"),
    "faults.znodes": ("ExpireSession", "Forbid", "Tamper"),
    "judging": ("checks",),
    "model.checkpoint": ("Znode",),
    "model.event": ("EventKind",),
    "model.links": ("Stream",),
    "model.protocols": ("Cluster", "Node"),
    "model.topology": ("BrokerMode", "Role", "Topology"),
    "model.verdict": ("Kind", "Outcome", "Verdict"),
    "plugin.outcomes": ("ViolationError",),
    "running": ("Run",),
    "running.calls": ("Expect", "Inject", "Verify"),
    "running.metadata": ("Metadata",),
    "running.traffic": ("Traffic",),
    "workloads.metadata.metadata_change": ("MetadataChange",),
}
_RENAMED = {"moves": "procedures.moves", "raw_admin": "wire.admin"}


def __dir__() -> list[str]:
    """List the public names too, which are loaded later: interactive shells complete them by it."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    """Load a public name from its room."""
    if name in _RENAMED:
        return importlib.import_module(f"pytest_kmigrate.{_RENAMED[name]}")
    for room, names in _ROOMS.items():
        if name in names:
            module = importlib.import_module(f"pytest_kmigrate.{room}")
            if hasattr(module, name):
                return getattr(module, name)
            return importlib.import_module(f"pytest_kmigrate.{room}.{name}")
    raise AttributeError(f"module 'pytest_kmigrate' has no attribute {name!r}; it has: {', '.join(__all__)}")
