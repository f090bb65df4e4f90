"""MetadataImage: all metadata of a cluster as one side sees it (metadata log, ZooKeeper, or one broker)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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

NO_BROKER = -1
"""Whose block of producer ids it is where a KRaft controller wrote it to ZooKeeper, or copied such a one."""


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
    extra: Mapping[str, object] = field(default_factory=dict)
    read_from: Sequence[Mapping[str, object]] = field(default=(), compare=False, repr=False)
    """The records or znodes that say so, without secrets; a run folder keeps them beside the image, for who looks."""

    @property
    def silent(self) -> frozenset[str]:
        """Brokers, as keys of ``configs``, that did not report their own ones: it may be anything."""
        reported = self.extra.get("silent_brokers")
        return frozenset(f"broker:{each}" for each in reported) if isinstance(reported, list) else frozenset()

    @property
    def unanswered(self) -> Mapping[str, list[str]]:
        """Per family the brokers that did not answer about it: what they hold of it is unknown."""
        reported = self.extra.get("unanswered")
        return reported if isinstance(reported, Mapping) else {}

    @property
    def unplaced(self) -> list[str]:
        """Changes in a metadata log to what does not exist, and topics in it that existed already, in words."""
        return _texts(self.extra.get("unplaced"))

    @property
    def unread(self) -> list[str]:
        """Znodes whose content is not what it should be, by path."""
        return _texts(self.extra.get("unread"))


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else []
