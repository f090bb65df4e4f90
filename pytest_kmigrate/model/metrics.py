"""Which MBean holds which metric, per role; names as seen on Kafka 3.6.0 and 3.9.1.

A catalogue is a superset: what a mode or release does not expose reads as None. Differences worth knowing:

- A broker in ZooKeeper mode has the ``KafkaController`` metrics too, because it may be the ZooKeeper controller; in
  KRaft mode they are gone. Its ``ZkMigrationState`` (from 3.6) is 4 and says nothing of the migration.
- ``MigratingZkBrokerCount``, ``ZkWrite...`` and the ``LastAppliedRecord...`` ones are those of KRaft controllers only.
- Raft metrics exist on controllers, and on brokers in migration or KRaft mode.
- ``BrokerMetadataType``, ``ControllerMetadataType`` and ``ControllerFeatures`` (how many MBeans there are) are those of
  KIP-866, ``MigrationIneligible...``, ``ZooKeeperWriteBehindLag`` and ``ZooKeeperBlockingKRaftMillis`` of its draft; no
  release is known to have them.
- ``ZkWriteSnapshotTimeMs`` was negative (-378) on 3.9.1 for the one snapshot written: judge its Count, not its times.
"""

from collections.abc import Mapping

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.spelling import did_you_mean

MBean = tuple[str, str]
"""Object name, in which ``*`` stands for any further properties, and attribute."""


def _gauges(domain_and_type: str, *names: str) -> dict[str, MBean]:
    return {name: (f"{domain_and_type},name={name}", "Value") for name in names}


def _histograms(domain_and_type: str, *names: str) -> dict[str, MBean]:
    statistics = ("Count", "Max", "Min", "Mean")
    return {f"{name}.{what}": (f"{domain_and_type},name={name}", what) for name in names for what in statistics}


def _meters(domain_and_type: str, *names: str) -> dict[str, MBean]:
    return {f"{name}.Count": (f"{domain_and_type},name={name}", "Count") for name in names}


_RAFT: Mapping[str, MBean] = {
    name: ("kafka.server:type=raft-metrics", attribute)
    for name, attribute in (
        ("RaftCurrentLeader", "current-leader"),
        ("RaftCurrentEpoch", "current-epoch"),
        ("RaftCurrentState", "current-state"),
        ("RaftHighWatermark", "high-watermark"),
        ("RaftLogEndOffset", "log-end-offset"),
    )
}
_ZOOKEEPER_SESSION: Mapping[str, MBean] = {
    "ZooKeeperSessionState": ("kafka.server:type=SessionExpireListener,name=SessionState", "Value"),
    **_meters("kafka.server:type=SessionExpireListener", "ZooKeeperExpiresPerSec", "ZooKeeperDisconnectsPerSec"),
}
_EITHER: Mapping[str, MBean] = {
    **_gauges(
        "kafka.controller:type=KafkaController",
        "ZkMigrationState",
        "ActiveControllerCount",
        "ActiveBrokerCount",
        "FencedBrokerCount",
        "GlobalTopicCount",
        "GlobalPartitionCount",
        "OfflinePartitionsCount",
        "PreferredReplicaImbalanceCount",
    ),
    "ControllerMetadataType": ("kafka.controller:type=KafkaController,name=MetadataType", "Value"),
    "ControllerFeatures": ("kafka.controller:type=KafkaController,name=Features,*", "Value"),
    **_gauges(
        "kafka.server:type=MetadataLoader", "CurrentMetadataVersion", "CurrentControllerId", "HandleLoadSnapshotCount"
    ),
    "RequestHandlerAvgIdlePercent": (
        "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent",
        "OneMinuteRate",
    ),
    "MetadataLogBytes": ("kafka.log:type=Log,name=Size,topic=__cluster_metadata,partition=0", "Value"),
    **_RAFT,
    **_ZOOKEEPER_SESSION,
}

CONTROLLER: Mapping[str, MBean] = {
    **_EITHER,
    **_gauges(
        "kafka.controller:type=KafkaController",
        "MigratingZkBrokerCount",
        "MigrationIneligibleBrokerCount",
        "MigrationIneligibleControllerCount",
        "ZooKeeperWriteBehindLag",
        "ZooKeeperBlockingKRaftMillis",
        "ZkWriteBehindLag",
        "LastAppliedRecordOffset",
        "LastCommittedRecordOffset",
        "LastAppliedRecordLagMs",
        "LastAppliedRecordTimestamp",
        "MetadataErrorCount",
        "NewActiveControllersCount",
        "TimedOutBrokerHeartbeatCount",
        "EventQueueOperationsTimedOutCount",
    ),
    **_histograms("kafka.controller:type=KafkaController", "ZkWriteSnapshotTimeMs", "ZkWriteDeltaTimeMs"),
}

BROKER: Mapping[str, MBean] = {
    **_EITHER,
    **_gauges("kafka.server:type=KafkaServer", "BrokerState"),
    "BrokerMetadataType": ("kafka.server:type=KafkaServer,name=MetadataType", "Value"),
    **_gauges(
        "kafka.server:type=ReplicaManager",
        "UnderReplicatedPartitions",
        "UnderMinIsrPartitionCount",
        "OfflineReplicaCount",
        "LeaderCount",
        "PartitionCount",
        "ReassigningPartitions",
    ),
    **_gauges(
        "kafka.controller:type=KafkaController",
        "TopicsToDeleteCount",
        "TopicsIneligibleToDeleteCount",
        "ControllerState",
    ),
    **_gauges("kafka.log:type=LogManager", "OfflineLogDirectoryCount"),
    "ControllerQueueSize": ("kafka.controller:type=ControllerChannelManager,name=TotalQueueSize", "Value"),
    **_meters("kafka.server:type=ReplicaManager", "IsrShrinksPerSec", "IsrExpandsPerSec", "FailedIsrUpdatesPerSec"),
    **_meters("kafka.server:type=BrokerTopicMetrics", "MessagesInPerSec", "BytesInPerSec"),
    "BrokerLastAppliedRecordOffset": ("kafka.server:type=broker-metadata-metrics", "last-applied-record-offset"),
    "BrokerMetadataApplyErrorCount": ("kafka.server:type=broker-metadata-metrics", "metadata-apply-error-count"),
}

CATALOGUES: Mapping[str, Mapping[str, MBean]] = {
    "broker": BROKER,
    "combined": {**BROKER, **CONTROLLER},
    "controller": CONTROLLER,
}
"""The catalogue of a node by its role; ZooKeeper's own JMX is not read."""


def check_metric(name: str) -> None:
    """WrongUseError when no catalogue has this name: a metric that no release exposes would read as None for ever."""
    known = {**CONTROLLER, **BROKER}
    if name not in known:
        advice = did_you_mean(name, known, "; take one of these")
        raise WrongUseError(f"expected one of {', '.join(sorted(known))}; got {name!r}{advice}")


RAFT_STATES: Mapping[str, float] = {
    "unattached": 0,
    "observer": 1,
    "follower": 2,
    "voted": 3,
    "unattached-voted": 3,
    "candidate": 4,
    "prospective": 5,
    "prospective-voted": 5,
    "leader": 6,
    "resigned": 7,
}
"""The number that stands for ``RaftCurrentState``: a state that has cast a vote counts as the one it is in."""

ZOOKEEPER_SESSION_STATES: Mapping[str, float] = {
    "CLOSED": 0,
    "NOT_CONNECTED": 1,
    "CONNECTING": 2,
    "ASSOCIATING": 3,
    "CONNECTED": 4,
    "CONNECTEDREADONLY": 5,
    "AUTH_FAILED": 6,
}
"""The number that stands for ``ZooKeeperSessionState``."""
