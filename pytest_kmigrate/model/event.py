"""Events: everything that happened in a run except client operations, in one order."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import ClassVar, Protocol


class EventKind(enum.StrEnum):
    """What happened; ``model.events`` has one dataclass for the ``data`` of each kind."""

    RUN_BEGAN = "run-began"
    RUN_ENDED = "run-ended"
    NODE_STARTED = "node-started"
    NODE_READY = "node-ready"
    NODE_STOPPED = "node-stopped"
    NODE_DIED = "node-died"
    THREAD_DIED = "thread-died"
    NODE_PAUSED = "node-paused"
    NODE_RESUMED = "node-resumed"
    NODE_RECONFIGURED = "node-reconfigured"
    NODE_WIPED = "node-wiped"
    NODE_INSTALLED = "node-installed"
    TOOL_RAN = "tool-ran"
    START_CONDITION = "start-condition"
    STEP_BEGAN = "step-began"
    STEP_ENDED = "step-ended"
    STATE = "state"
    TARGET_DRAWN = "target-drawn"
    FAULT_BEGAN = "fault-began"
    FAULT_APPLIED = "fault-applied"
    FAULT_WITNESSED = "fault-witnessed"
    FAULT_NOT_WITNESSED = "fault-not-witnessed"
    FAULT_HEALED = "fault-healed"
    WORKLOAD_BEGAN = "workload-began"
    WORKLOAD_ENDED = "workload-ended"
    METADATA_CHANGE = "metadata-change"
    CONTROL_REQUEST = "control-request"
    REGISTRATION = "registration"
    ACTIVE_CONTROLLER = "active-controller"
    SNAPSHOT = "snapshot"
    RAFT_LOG = "raft-log"
    EXPECTATION = "expectation"
    EXPECTED_END = "expected-end"
    FIGURE = "figure"
    SETTLED = "settled"
    MEMBER_STARTED = "member-started"
    MEMBER_ENDED = "member-ended"
    MEMBER_PAUSED = "member-paused"
    MEMBER_RESUMED = "member-resumed"
    MEMBER_OWNS = "member-owns"
    MEMBER_RELEASED = "member-released"
    MEMBER_ASSIGNED = "member-assigned"
    MEMBER_MODE = "member-mode"
    MEMBER_GAUGES = "member-gauges"
    MEMBER_REPORTED = "member-reported"
    GROUP_DESCRIBED = "group-described"
    ZNODE_WRITTEN = "znode-written"
    NODE_IDENTITY = "node-identity"
    NODE_REQUESTS = "node-requests"
    RULES_TOLD = "rules-told"
    NOT_OFFERED = "not-offered"
    CHECKS = "checks"
    HARNESS_TROUBLE = "harness-trouble"
    MACHINE_PRESSURE = "machine-pressure"


PHASE = "phase"
"""The state that a document's procedure walks along: reports and analysis place faults by it."""

OLDER_STATES: Mapping[str, tuple[str, str]] = {
    "phase": (PHASE, "phase"),
    "migration-state": ("migration_state", "state"),
}
"""Kinds that folders of version 0.1 have instead of STATE: the state's name, and the key that holds its value."""


class Ending(enum.StrEnum):
    """How the test of a run ended."""

    PASSED = "passed"
    KNOWN_BUG = "known-bug"  # of Kafka, and one that is expected of this test
    NOT_APPLICABLE = "not-applicable"
    FAILED = "failed"  # or ended in any other way


class RuleOutcome(enum.StrEnum):
    """What becomes of a Byteman rule in one process, best first; a failure is recorded in Byteman's own words."""

    CARRIED_OUT = "carried out"
    WOVEN = "woven in, never reached"
    NOWHERE = "woven into nothing"


@dataclass(frozen=True)
class Event:
    """One event; ``seq`` counts from 0 without a gap, ``at_ns`` is nanoseconds since the run began (monotonic)."""

    seq: int
    at_ns: int
    kind: EventKind
    node: str | None = None
    data: Mapping[str, object] = field(default_factory=dict)
    log_bytes: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """How long the log of each node was, in bytes of this run."""
    log_sha256: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """SHA-256 of what was logged since the digest before, of logs that have grown enough."""


@dataclass(frozen=True)
class EventData:
    """What an event of one kind records: its fields are the keys of ``data``, in the same order."""

    event_kind: ClassVar[EventKind]

    def event(self, seq: int, at_ns: int, node: str | None) -> Event:
        """The event to record; a field whose default is None is left out of ``data`` while it is None."""
        keys = _keys(type(self))  # type: ignore[arg-type]  # mypy takes the hash of a class for that of its instances
        values = ((name, getattr(self, name), is_optional) for name, is_optional in keys)
        data = {name: value for name, value, is_optional in values if value is not None or not is_optional}
        return Event(seq, at_ns, self.event_kind, node, data)


@cache  # every event asks
def _keys(kind: type[EventData]) -> tuple[tuple[str, bool], ...]:
    """The keys of an event, and whether each is left out while it is None."""
    return tuple((each.name, each.default is None) for each in fields(kind))


class Recorder(Protocol):
    """Where events go as they happen; safe to call from any thread."""

    @property
    def events(self) -> Sequence[Event]:
        """Everything recorded so far."""
        ...

    def record(self, data: EventData, node: str | None = None) -> Event:
        """Append one event; the operating system has it when this returns, so that a crash of ours loses none."""
        ...

    def now_ns(self) -> int:
        """Nanoseconds since the run began."""
        ...
