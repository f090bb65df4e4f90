"""Every place where the active controller may die and lose something, derived from what it does in order.

These are each state that its migration driver enters, each batch of the copy, and each kind of write to ZooKeeper,
before it and after it (Kafka 3.5 to 3.9). Out of reach is what a controller passes as it starts, when no rule can be
loaded yet: the creation of ``/migration``, and the state in which it waits for the other controllers. Where no rule can
be loaded at all, changes of znodes are the places.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pytest_kmigrate.documents.kip_866.crash_points import COPY_NOT_BEGUN, METADATA_COPIED_NOT_COMMITTED
from pytest_kmigrate.faults.triggers import Trigger, at_crash_point, on_znode_change
from pytest_kmigrate.model.protocols import CrashPoint
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange, topic_created

T = TypeVar("T", Trigger, "Written")

_DRIVER = "org.apache.kafka.metadata.migration.KRaftMigrationDriver"
_COPY = COPY_NOT_BEGUN.java_class
_MANIFEST = "org.apache.kafka.metadata.migration.MigrationManifest$Builder"
"""Counts batches that are committed; since 3.6."""
_WRITER = "kafka.zk.ZkMigrationClient"
_TOPICS, _CONFIGS, _ACLS = (f"kafka.zk.migration.Zk{each}MigrationClient" for each in ("Topic", "Config", "Acl"))
_UNTIL_KILLED_S = 20
"""Longer than a fault takes to be applied, also on a loaded machine."""


def _entering(state: str) -> CrashPoint:
    name = f"entering-{state.lower().replace('_', '-')}"
    return CrashPoint(name, _DRIVER, "transitionTo", condition=f'$1.name().equals("{state}")', held_s=_UNTIL_KILLED_S)


def _around(name: str, java_class: str, method: str, condition: str = "true") -> tuple[CrashPoint, CrashPoint]:
    """The place before a write of this name, and the one after it."""
    before = CrashPoint(f"{name}-not-written", java_class, method, held_s=_UNTIL_KILLED_S, condition=condition)
    return before, replace(before, name=f"{name}-written", location="AT EXIT")


_OWNER = _around("owner", _WRITER, "setMigrationRecoveryState", "!$1.initialZkMigrationComplete()")
_POSITION = _around("position", _WRITER, "setMigrationRecoveryState", "$1.initialZkMigrationComplete()")
"""What ``/migration`` holds: whose it is, once it is claimed, and how far it is, once all is copied."""

COPIED = at_crash_point(_POSITION[0])
"""The copy is complete by the metadata log, and not yet by ``/migration``."""

TAKEOVER = (
    *map(
        at_crash_point,
        (
            _entering("BECOME_CONTROLLER"),
            *_around("claim", _WRITER, "claimControllerLeadership"),
            *_OWNER,
            _entering("ZK_MIGRATION"),
            replace(COPY_NOT_BEGUN, held_s=_UNTIL_KILLED_S),
            CrashPoint("batch-not-sent", _COPY, "acceptBatch", held_s=_UNTIL_KILLED_S),
            CrashPoint("batch-committed", _MANIFEST, "acceptBatch", held_s=_UNTIL_KILLED_S),
            replace(METADATA_COPIED_NOT_COMMITTED, held_s=_UNTIL_KILLED_S),
            _POSITION[1],
            _entering("SYNC_KRAFT_TO_ZK"),
            _entering("KRAFT_CONTROLLER_TO_BROKER_COMM"),
            _entering("DUAL_WRITE"),
        ),
    ),
    on_znode_change("/controller"),
    on_znode_change("/migration"),
)
"""Where a controller may die from PREPARING to dual write, but for COPIED: by its code, then as ZooKeeper sees it."""


@dataclass(frozen=True)
class Written:
    """A change of metadata in dual write, and a place on its way to ZooKeeper."""

    at: Trigger
    change: MetadataChange
    before: tuple[MetadataChange, ...] = ()
    """What has to be there first."""

    def __str__(self) -> str:
        return str(self.at)


_Named = Callable[[str], MetadataChange]
"""A change of something of that name."""


def _topic(name: str) -> MetadataChange:
    return topic_created(name, partitions=2, replication=3)


def _more_partitions(name: str) -> MetadataChange:
    return MetadataChange("add-partitions", name, {"partitions": 4})


def _no_topic(name: str) -> MetadataChange:
    return MetadataChange("delete-topic", name)


def _config(name: str) -> MetadataChange:
    return MetadataChange("alter-config", f"topic:{name}", {"retention.bytes": "700000000"})


def _no_config(name: str) -> MetadataChange:
    return MetadataChange("alter-config", f"topic:{name}", {"retention.bytes": None})


def _quota(name: str) -> MetadataChange:
    return MetadataChange("set-quota", f"user={name}", {"producer_byte_rate": 700_000_000.0})


def _acl(name: str) -> MetadataChange:
    return MetadataChange("set-acl", f"Topic:LITERAL:{name}", {"binding": "User:alice|*|Read|Allow"})


def _no_acl(name: str) -> MetadataChange:
    return MetadataChange("remove-acl", f"Topic:LITERAL:{name}", {"binding": "User:alice|*|Read|Allow"})


def _written(points: tuple[CrashPoint, CrashPoint], change: _Named, *before: _Named) -> list[Written]:
    """A change at each of two places, of a thing of its own that is named after the place."""
    return [_of(at_crash_point(each), f"at-{each.name}", change, *before) for each in points]


def _of(at: Trigger, name: str, change: _Named, *before: _Named) -> Written:
    return Written(at, change(name), tuple(made(name) for made in before))


WRITES = (
    *_written(_around("topic", _TOPICS, "createTopic"), _topic),
    *_written(_around("assignment", _TOPICS, "updateTopic"), _more_partitions, _topic),
    *_written(_around("partitions", _TOPICS, "createTopicPartitions"), _more_partitions, _topic),
    *_written(_around("deletion", _TOPICS, "deleteTopic"), _no_topic, _topic),
    *_written(_around("config", _CONFIGS, "writeConfigs"), _config, _topic),
    *_written(_around("no-config", _CONFIGS, "deleteConfigs"), _no_config, _topic, _config),
    *_written(_around("quota", _CONFIGS, "writeClientQuotas"), _quota),
    *_written(_around("acl", _ACLS, "writeResourceAcls"), _acl),
    *_written(_around("no-acl", _ACLS, "deleteResource"), _no_acl, _acl),
    *_written(_around("offset", _WRITER, "setMigrationRecoveryState"), _topic),
    _of(on_znode_change("/brokers/topics"), "at-topics", _topic),
    _of(on_znode_change("/config/users"), "at-users", _quota),
    _of(on_znode_change("/kafka-acl/Topic"), "at-acls", _acl),
)
"""Where a controller may die in dual write, one kind of write after the other; the last ones as ZooKeeper sees them."""

_OFTEN = frozenset(
    {
        "at(batch-committed)",
        "at(entering-sync-kraft-to-zk)",
        "on-znode(/controller)",
        "at(topic-written)",
        "at(config-not-written)",
        "at(deletion-not-written)",
        "on-znode(/config/users)",
    }
)
"""The places that represent all others, for a run of the suite; of the claim as ZooKeeper sees it, on any provider."""


def often(places: Sequence[T]) -> list[T]:
    """Those that each run of the suite visits."""
    return [each for each in places if str(each) in _OFTEN]


def seldom(places: Sequence[T]) -> list[T]:
    """The others, for the night."""
    return [each for each in places if str(each) not in _OFTEN]
