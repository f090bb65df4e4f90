"""MetadataImage: all metadata of a cluster as one side sees it (metadata log, ZooKeeper, or one broker)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

FAMILIES = (
    "topics",
    "partitions",
    "configs",
    "acls",
    "quotas",
    "scram",
    "delegation_tokens",
    "producer_ids",
    "features",
)
"""Every family of metadata that sides of a cluster are compared by."""

REGISTER_BROKER, UNREGISTER_BROKER = "REGISTER_BROKER_RECORD", "UNREGISTER_BROKER_RECORD"
FEATURE_LEVEL = "FEATURE_LEVEL_RECORD"
"""Types of records of the metadata log, as Kafka's own tool names them."""

NO_BROKER = -1
"""Whose block of producer ids it is where a KRaft controller wrote it to ZooKeeper, or copied such a one."""


class RecordedMigrationState(TypedDict, total=False):
    """A ZK_MIGRATION_STATE_RECORD, with how much metadata per type came before it in no transaction."""

    offset: int
    number: int
    outside: Mapping[str, int]


class Transaction(TypedDict, total=False):
    """What a record did to a transaction: ``begin``, ``end`` (with its metadata per type), or ``abort``."""

    offset: int
    event: str
    name: str
    copied: Mapping[str, int]


class HeldBack(TypedDict):
    """Topics in a transaction: the offsets of the first one and of what ended or aborted it."""

    first: int
    until: int
    event: str


class RegisteredBroker(TypedDict):
    """A broker as it is registered in the log, by the record at ``offset``."""

    is_migrating_zk_broker: bool
    fenced: bool
    epoch: int
    offset: int


class OfLog(TypedDict, total=False):
    """What an image of a metadata log has beside the metadata; the keys as the run folder has them."""

    migration_states: Sequence[RecordedMigrationState]
    transactions: Sequence[Transaction]
    topics_held_back: Sequence[HeldBack]
    brokers: Mapping[str, RegisteredBroker]
    """By the id of the broker."""
    announced: Sequence[Mapping[str, Any]]
    """Records {offset, type, version, data} of features, registrations, their changes, and migration states."""
    begins_with_snapshot: bool
    unplaced: Sequence[str]
    """Changes to what does not exist, and topics that exist already, in words; a log that is right has none."""
    record_counts: Mapping[str, int]
    discarded_record_counts: Mapping[str, int]
    """Those in transactions that were aborted or never ended."""
    in_transaction: bool
    last_offset: int


class OfZooKeeper(TypedDict, total=False):
    """What an image of ZooKeeper has beside the metadata."""

    unread: Sequence[str]
    """Znodes whose content is not what it should be, by path."""
    delete_topics: Sequence[str]
    reassign_partitions: Mapping[str, Any] | None
    brokers: Sequence[int]
    config_changes: Sequence[str]
    controller: Mapping[str, Any] | None
    controller_epoch: int | None
    migration: Mapping[str, Any] | None
    cluster_id: str | None
    producer_ids_end: int | None
    """The first id after the last block; None if no block was given."""


class OfBrokers(TypedDict, total=False):
    """What an image of the brokers' answers has beside the metadata."""

    silent_brokers: Sequence[int]
    """The brokers that did not report their own configs."""
    unanswered: Mapping[str, list[str]]
    """Per family the brokers that did not answer about it: what they hold of it is unknown."""


@dataclass(frozen=True)
class MetadataImage:
    """Each family maps a readable key to plain values, the same form whatever the source, so that images compare.

    - ``topics``: name -> {"id"}
    - ``partitions``: "topic-0" -> {"replicas", "isr", "leader", "leader_epoch", "partition_epoch", "adding",
      "removing"}
    - ``configs``: "topic:name" | "broker:1" | "broker:<default>" | "client-metrics:x" -> {key: value}
    - ``acls``: "Topic:LITERAL:name" -> sorted list of "principal|host|operation|permission"
    - ``quotas``: "user=a,client-id=<default>" -> {key: number}
    - ``scram``: "user:SCRAM-SHA-256" -> {"iterations", "digest"}; the digest has a key of its own, never shown
    - ``delegation_tokens``: token id -> {"owner", "requester", "renewers", "issued_ms", "max_ms", "expires_ms",
      "digest"}; the digest is of the HMAC, which is the token's password, and known where brokers are asked
    - ``producer_ids``: "next" -> first id of the next block
    - ``features``: name -> level

    A family that the source cannot know is absent from ``known``. Where brokers disagree on a field, its value is
    what each of them reports: {"broker-0": 1, "broker-1": None}.
    """

    source: str
    known: tuple[str, ...] = FAMILIES
    topics: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    partitions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    acls: Mapping[str, list[str] | Mapping[str, list[str] | None]] = field(default_factory=dict)
    quotas: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    scram: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    delegation_tokens: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    producer_ids: Mapping[str, int] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)
    extra: OfLog | OfZooKeeper | OfBrokers = field(default_factory=OfLog)
    """What only this source reports; read it by ``of_log``, ``of_zookeeper`` or ``of_brokers``."""
    read_from: Sequence[Mapping[str, object]] = field(default=(), compare=False, repr=False)
    """The records or znodes that it was read from, without secrets; a run folder keeps them beside the image."""

    @property
    def of_log(self) -> OfLog:
        """What the metadata log reports beside the metadata; an image of another source has none of the keys."""
        return cast("OfLog", self.extra)

    @property
    def of_zookeeper(self) -> OfZooKeeper:
        """What ZooKeeper reports beside the metadata."""
        return cast("OfZooKeeper", self.extra)

    @property
    def of_brokers(self) -> OfBrokers:
        """What brokers report beside the metadata."""
        return cast("OfBrokers", self.extra)

    @property
    def silent(self) -> frozenset[str]:
        """Brokers, as keys of ``configs``, that did not report their own ones: it may be anything."""
        return frozenset(f"broker:{each}" for each in self.of_brokers.get("silent_brokers", ()))
