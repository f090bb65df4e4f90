"""Events: everything that happened in a run except client operations, in one order."""

import enum
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeGuard, TypeVar, overload

from pytest_kmigrate.model.fields import fields_of


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


A = TypeVar("A", bound="EventData")
B = TypeVar("B", bound="EventData")
C = TypeVar("C", bound="EventData")


@dataclass(frozen=True)
class EventData:
    """What an event of one kind records: its fields are the keys of ``data``, in the same order."""

    event_kind: ClassVar[EventKind]

    def __init_subclass__(cls) -> None:
        """Note the class by its kind, to read such events back."""
        _CLASSES[cls.event_kind].append(cls)

    @classmethod
    def fits(cls, data: Mapping[str, object]) -> bool:  # noqa: ARG003  # those that share a kind look at it
        """Whether data of this kind is of this class, where several classes share a kind."""
        return True

    def event(self, seq: int, at_ns: int, node: str | None) -> "Recorded[Self]":
        """The event to record; a field whose default is None is left out of ``data`` while it is None."""
        values = ((each.name, getattr(self, each.name), each.is_optional) for each in fields_of(type(self)))
        data = {name: value for name, value, is_optional in values if value is not None or not is_optional}
        return Recorded(seq, at_ns, self.event_kind, node, data)


_CLASSES = defaultdict[EventKind, list[type[EventData]]](list)

What_co = TypeVar("What_co", bound=EventData, covariant=True)


@dataclass(frozen=True)
class Recorded(Generic[What_co]):
    """One event; ``seq`` counts from 0 without a gap, ``at_ns`` is nanoseconds since the run began (monotonic)."""

    seq: int
    at_ns: int
    kind: EventKind
    node: str | None = None
    data: Mapping[str, object] = field(default_factory=dict)
    """The keys as they are written; ``what`` has the same with their types."""
    log_bytes: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """How long the log of each node was, in bytes of this run."""
    log_sha256: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """SHA-256 of what was logged since the digest before, of logs that have grown enough."""

    @cached_property
    def what(self) -> What_co:
        """What it records; a key that the folder lacks has its default, or the empty value of its type."""
        kind = class_of(self.kind, self.data)
        return kind(**{each.name: each.read(self.data) for each in fields_of(kind)})  # type: ignore[return-value]


Event: TypeAlias = Recorded[EventData]
"""An event of any kind."""


def class_of(kind: EventKind, data: Mapping[str, object]) -> type[EventData]:
    """The class of events of this kind, and with these data where several share it."""
    if kind not in _CLASSES:
        package = import_module("pytest_kmigrate.model.events")
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    return next(each for each in _CLASSES[kind] if each.fits(data))


def is_a(event: Event, kind: type[A]) -> TypeGuard[Recorded[A]]:
    """Whether the event is of this class."""
    return event.kind is kind.event_kind and kind.fits(event.data)


@overload
def only(events: Iterable[Event], kind: type[A], /) -> list[Recorded[A]]: ...
@overload
def only(events: Iterable[Event], kind: type[A], or_kind: type[B], /) -> list[Recorded[A | B]]: ...
@overload
def only(events: Iterable[Event], kind: type[A], or_kind: type[B], third: type[C], /) -> list[Recorded[A | B | C]]: ...
def only(events: Iterable[Event], *kinds: type[EventData]) -> list[Any]:
    """The events of these classes, in order."""
    return [event for event in events if any(is_a(event, kind) for kind in kinds)]


class Recorder(Protocol):
    """Where events go as they happen; safe to call from any thread."""

    @property
    def events(self) -> Sequence[Event]:
        """Everything recorded so far."""
        ...

    def record(self, data: A, node: str | None = None) -> Recorded[A]:
        """Append one event; the operating system has it when this returns, so that a crash of ours loses none."""
        ...

    def now_ns(self) -> int:
        """Nanoseconds since the run began."""
        ...
