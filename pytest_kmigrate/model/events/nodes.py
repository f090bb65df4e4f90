"""Events of nodes: starts, stops, crashes and changed configurations. ``node`` names the node concerned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_kmigrate.model.event import EventData, EventKind
from pytest_kmigrate.model.topology import BrokerMode, Role

HowStopped = Literal["controlled", "killed", "hung", "gone"]
"""How a node was stopped: by SIGTERM, by SIGKILL, by SIGKILL after it had ignored SIGTERM, or by somebody else."""


@dataclass(frozen=True)
class NodeStarted(EventData):
    """The process of a node was spawned; it does not serve yet."""

    event_kind: ClassVar = EventKind.NODE_STARTED
    role: Role
    """``zookeeper``, ``broker``, ``combined`` or ``controller``."""
    mode: BrokerMode | None
    """Where a broker keeps its metadata: ``zookeeper`` or ``kraft``; null for other roles."""
    pid: int | None
    """Process id; null if the provider runs no processes of this machine."""
    kafka: str
    """Kafka release of this start, for example ``3.9.1``."""
    incarnation: int
    """Number of this start of the node: 1, 2, ..."""
    digest: str | None = None
    """SHA-256 of the names and contents of the jars of this start; missing if the provider does not have them."""
    inherited: bool | None = None
    """True if the node was so before the run began, on a cluster of an earlier run; missing otherwise."""


@dataclass(frozen=True)
class NodeReady(EventData):
    """A started node serves requests."""

    event_kind: ClassVar = EventKind.NODE_READY
    took_ms: int
    """Milliseconds since its start."""
    inherited: bool | None = None
    """True if the node was so before the run began, on a cluster of an earlier run; missing otherwise."""


@dataclass(frozen=True)
class NodeStopped(EventData):
    """A test or a step stopped the node, and its process has exited."""

    event_kind: ClassVar = EventKind.NODE_STOPPED
    how: HowStopped
    """``controlled`` (SIGTERM), ``killed`` (SIGKILL), ``hung`` (SIGTERM did not end it, SIGKILL did).

    ``gone``: it answers no more; on a cluster that somebody else runs, how it ended is not known.
    """
    exit_code: int | None
    """Exit code of the process; negative for a signal, null if unknown."""
    took_ms: int
    """Milliseconds from the signal to the exit."""
    said: str
    """Last error in the node's log; empty after SIGKILL and after a clean exit."""


@dataclass(frozen=True)
class NodeDied(EventData):
    """The process of a node exited although no test or step had stopped it."""

    event_kind: ClassVar = EventKind.NODE_DIED
    exit_code: int
    """Exit code of the process; negative for a signal."""
    said: str
    """Last error in the node's log; empty if there is none."""
    cause: str | None = None
    """What this machine lacked, for example ``No space left on device``; missing if nothing of that is known."""


@dataclass(frozen=True)
class ThreadDied(EventData):
    """An error ended one thread of a node; recorded when it is found in the log, which is later."""

    event_kind: ClassVar = EventKind.THREAD_DIED
    thread: str
    """Name of the thread."""
    said: str
    """The error that ended it, as logged."""


@dataclass(frozen=True)
class NodePaused(EventData):
    """The process of a node was paused by SIGSTOP."""

    event_kind: ClassVar = EventKind.NODE_PAUSED


@dataclass(frozen=True)
class NodeResumed(EventData):
    """The process of a node was resumed by SIGCONT."""

    event_kind: ClassVar = EventKind.NODE_RESUMED


@dataclass(frozen=True)
class NodeReconfigured(EventData):
    """Properties of a node were changed; they take effect with its next start."""

    event_kind: ClassVar = EventKind.NODE_RECONFIGURED
    changed: Mapping[str, str | None]
    """New value of each changed property; null removes the property. Secrets are redacted."""
    mode: BrokerMode | None
    """Mode of a broker from its next start on: ``zookeeper`` or ``kraft``; null for other roles."""
    inherited: bool | None = None
    """True if the node was so before the run began, on a cluster of an earlier run; missing otherwise."""


@dataclass(frozen=True)
class NodeWiped(EventData):
    """The disks of a stopped node were emptied."""

    event_kind: ClassVar = EventKind.NODE_WIPED


@dataclass(frozen=True)
class NodeInstalled(EventData):
    """Another Kafka was put under a stopped node; its next start runs it."""

    event_kind: ClassVar = EventKind.NODE_INSTALLED
    kafka: str
    """What was asked for: a release, or the path of an unpacked distribution."""
    version: str
    """The release that its files name."""
    digest: str
    """SHA-256 over all of its jars."""


@dataclass(frozen=True)
class ToolRan(EventData):
    """One of Kafka's own tools was run, of the release that the node runs, and has ended."""

    event_kind: ClassVar = EventKind.TOOL_RAN
    tool: str
    """The tool's name, for example ``kafka-features``."""
    arguments: Sequence[str]
    """Its arguments. Secrets are redacted."""
    status: int
    """Exit status of the tool."""
    output: str
    """What it wrote to stdout and stderr. Secrets are redacted."""
    took_ms: int
    """Milliseconds that it ran."""


@dataclass(frozen=True)
class IdentityRead(EventData):
    """What ``meta.properties`` held on a node's disks: before each of its starts, and when the run is completed."""

    event_kind: ClassVar = EventKind.NODE_IDENTITY
    files: Mapping[str, Mapping[str, str]]
    """By name of the log directory, the keys and values of the file in it; a directory without one is missing."""


@dataclass(frozen=True)
class RequestsReported(EventData):
    """What a node answered to ApiVersions as soon as it was ready."""

    event_kind: ClassVar = EventKind.NODE_REQUESTS
    requests: Mapping[str, Sequence[int]]
    """By number of each request that it accepts, the lowest and the highest version."""
    supported: Mapping[str, Sequence[int]]
    """By name of each feature that it supports, the lowest and the highest level."""
    is_ready_to_migrate: bool
    """The field ``ZkMigrationReady``; false also where it is not sent."""
    readiness: Mapping[str, int | None] | None = None
    """By version of ApiVersions from 3 on that the node answers, the byte in that field, null where it is not sent."""


@dataclass(frozen=True)
class RulesReported(EventData):
    """What became of the Byteman rules or the mutant that a node was started with, up to now."""

    event_kind: ClassVar = EventKind.RULES_TOLD
    rules: Mapping[str, str]
    """By name of each rule, or of the mutant (``carried out``: its class was loaded):
    ``carried out``, ``woven in, never reached``, ``woven into nothing``, or an error."""
