"""Events of workloads: clients and changes of metadata. What single clients did is in ``operations/``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_kmigrate.model.event import EventData, EventKind

METADATA = "metadata"
"""Name of the workload that changes metadata; all others are of clients."""


@dataclass(frozen=True)
class ClientsBegan(EventData):
    """Producers and consumers are ready and have begun."""

    event_kind: ClassVar = EventKind.WORKLOAD_BEGAN
    workload: str
    """Name of the workload."""
    topics: Sequence[str]
    """Topics that its clients write to and read from."""
    per_s: float
    """Records sent per second, by all producers together."""
    group: str | None = None
    """Consumer group; empty if there are no consumers, missing in older folders."""
    least_in_sync: int | None = None
    """``min.insync.replicas`` of the brokers of the topology, the highest; missing in older folders."""
    seed: int | None = None
    """What draws the order of the records' keys; missing in older folders."""

    @classmethod
    def fits(cls, data: Mapping[str, object]) -> bool:
        """Whether it is of clients, by the name of the workload."""
        return data.get("workload") != METADATA


@dataclass(frozen=True)
class ClientsEnded(EventData):
    """Producers and consumers have ended; the counts are those of the whole workload."""

    event_kind: ClassVar = EventKind.WORKLOAD_ENDED
    workload: str
    """Name of the workload."""
    final_read: int | None
    """Records that a fresh client read back at the end; null if it did not read, or not to the end."""
    withheld: Sequence[str]
    """Partitions whose leader reports records that it does not serve, as ``orders-0 at 7 of 8`` (next offset, end)."""
    acked: int
    """Sends that were acknowledged."""
    failed: int
    """Sends that certainly failed."""
    indefinite: int
    """Sends whose outcome is unknown."""
    skipped: int
    """Sends that were not tried because too many were unanswered."""
    consumed: int
    """Records read by consumers."""
    committed: int
    """Offset commits that were acknowledged."""
    outstanding: int
    """Sends without an answer; 0 at the end."""
    partitions: Mapping[str, Sequence[int]] | None = None
    """By topic, how many partitions it had, and then had when it grew; missing in older folders."""

    @classmethod
    def fits(cls, data: Mapping[str, object]) -> bool:
        """Whether it is of clients, by the name of the workload."""
        return data.get("workload") != METADATA


@dataclass(frozen=True)
class MetadataWorkloadBegan(EventData):
    """A stream of metadata changes began."""

    event_kind: ClassVar = EventKind.WORKLOAD_BEGAN
    workload: str
    """Name of the workload: ``metadata``."""
    per_s: float
    """Changes per second, after a first round of one of each family."""
    scope: Mapping[str, object]
    """What it may change: ``prefix`` of names, ``broker_ids``, ``replication`` of new topics, ``families``."""
    seed: int | str
    """Seed of the stream."""
    request_timeout_s: float
    """Seconds after which the outcome of a change counts as indefinite."""

    @classmethod
    def fits(cls, data: Mapping[str, object]) -> bool:
        """Whether it is of metadata, by the name of the workload."""
        return data.get("workload") == METADATA


@dataclass(frozen=True)
class MetadataWorkloadEnded(EventData):
    """A stream of metadata changes ended."""

    event_kind: ClassVar = EventKind.WORKLOAD_ENDED
    workload: str
    """Name of the workload: ``metadata``."""
    counts: Mapping[str, int]
    """Changes by outcome: ``ok``, ``failed``, ``indefinite``; an outcome that did not occur is missing."""

    @classmethod
    def fits(cls, data: Mapping[str, object]) -> bool:
        """Whether it is of metadata, by the name of the workload."""
        return data.get("workload") == METADATA


@dataclass(frozen=True)
class MetadataChanged(EventData):
    """One change of metadata was requested and has ended, whatever its outcome."""

    event_kind: ClassVar = EventKind.METADATA_CHANGE
    change: str
    """Kind of the change, for example ``create-topic``."""
    subject: str
    """What was changed, for example the topic."""
    wanted: Mapping[str, object]
    """The wanted properties; passwords as digests, null for a property to be removed."""
    outcome: str
    """``ok``, ``failed`` or ``indefinite`` (it may or may not have been made)."""
    error: str
    """Kafka's name of the error; empty if the outcome is ``ok``."""
    began_ns: int
    """When it was requested, in nanoseconds since the run began; ``at_ns`` is when it ended."""
    inherited: bool | None = None
    """True if it was made before the run began, on the cluster it took up; missing otherwise."""


@dataclass(frozen=True)
class ControlRequestReceived(EventData):
    """A controller sent a stub broker (``node``) a request by which it controls brokers in ZooKeeper mode."""

    event_kind: ClassVar = EventKind.CONTROL_REQUEST
    request: str
    """``LeaderAndIsr``, ``StopReplica`` or ``UpdateMetadata``."""
    version: int
    """Version of the request."""
    controller_id: int
    """Id of the controller, as the request has it."""
    controller_epoch: int
    """Epoch of the controller, as the request has it."""
    broker_epoch: int
    """Epoch of the broker, as the request has it."""
    is_kraft: bool | None
    """Whether it says that it comes from a KRaft controller; null in versions that do not say."""
    is_full: bool | None
    """Whether it says that it holds everything there is, or only what changed; null if it does not say."""
    topics: Mapping[str, int]
    """The number of partitions that it has, by topic."""
    deleted: Sequence[str]
    """Topics of which replicas are to be deleted."""
    live_brokers: Sequence[int]
    """Ids of the brokers that live, as the request has them."""
    tags: Sequence[int]
    """Numbers of its own tagged fields; the documented versions have none."""
    unread_bytes: int
    """Bytes of the request that its documented layout does not account for."""
    kraft_controller_id: int | None = None
    """Id of a KRaft controller in the place of the flag, as an early draft of KIP-866 has it; missing otherwise."""
    replicas: Sequence[int] | None = None
    """Ids of the brokers that have a replica of a partition that is not being deleted, in an UpdateMetadata."""
    offline: Sequence[int] | None = None
    """Ids of those of them whose replica is given as offline, in an UpdateMetadata."""
    deleted_epochs: Sequence[int] | None = None
    """Leader epochs of the replicas to be deleted, in a StopReplica; -2 stands for a deleted topic (KIP-570)."""


@dataclass(frozen=True)
class RegistrationReceived(EventData):
    """A broker registered with a stub controller (``node``), in version 1 of the request."""

    event_kind: ClassVar = EventKind.REGISTRATION
    broker: int
    """Id of the broker."""
    levels: Mapping[str, Sequence[int]]
    """By name of each feature that it supports, the lowest and the highest level."""
    is_migrating: bool | None
    """The boolean that says that it is a broker in ZooKeeper mode; null if the request has none."""
    readiness: int | None
    """The number in the tagged field 1, as an early draft of KIP-866 has it; null if the request has none."""
    unread_bytes: int
    """Bytes of the request that neither layout accounts for."""
