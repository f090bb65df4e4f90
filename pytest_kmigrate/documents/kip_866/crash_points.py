"""Crash points: places in Kafka's code (3.5 to 3.9) that matter to a migration, by Byteman's class and method names."""

from dataclasses import replace

from pytest_kmigrate.model.protocols import CrashPoint
from pytest_kmigrate.model.topology import Role

METADATA_COPIED_NOT_COMMITTED = CrashPoint(
    "metadata-copied-not-committed",
    "org.apache.kafka.controller.QuorumController$MigrationRecordConsumer",
    "completeMigration",
)
"""Every record of ZooKeeper is in the metadata log, the record that ends the migration is not."""

LONG_COPY = replace(METADATA_COPIED_NOT_COMMITTED, name="long-copy", held_s=12)
"""The same place, held for longer: as if there were much to copy, and other things went on meanwhile."""

ISR_CHANGE_ASKED = CrashPoint(
    "isr-change-asked", "org.apache.kafka.common.requests.AlterPartitionRequest$Builder", "build", held_s=25
)
"""A leader has chosen the controller that it will ask to change an ISR; the request is not sent yet."""

ACL_NOT_WRITTEN = CrashPoint("acl-not-written", "kafka.zk.KafkaZkClient", "createAclsForResourceIfNotExists", held_s=20)
"""The broker that is the controller is about to write an ACL; held until KRaft has claimed and copies."""

ABOUT_TO_CLAIM = CrashPoint(
    "about-to-claim",
    "org.apache.kafka.metadata.migration.KRaftMigrationDriver$BecomeZkControllerEvent",
    "run",
    held_s=5,
)
"""Everything that the migration waits for is there; ``/controller`` is not claimed yet."""

STATES_NOT_WRITTEN = CrashPoint(
    "states-not-written", "kafka.controller.KafkaController", "onNewPartitionCreation", held_s=40
)
"""A ZooKeeper controller has seen new partitions in ``/brokers/topics``; they have no leader and no state yet."""

COPY_NOT_BEGUN = CrashPoint(
    "copy-not-begun", "org.apache.kafka.controller.QuorumController$MigrationRecordConsumer", "beginMigration", held_s=5
)
"""``/controller`` is claimed; the transaction of the copy is not begun yet."""

LONG_BEFORE_THE_CLAIM = replace(ABOUT_TO_CLAIM, name="long-before-the-claim", held_s=15)
"""The same, for longer than a write is held: what the former controller writes last comes in between."""

CLAIM_AWAITED = replace(ABOUT_TO_CLAIM, name="claim-awaited", held_s=40)
"""The same, for longer than it takes to have a broker held, too, on a slow machine."""

TOPIC_NOT_WRITTEN = CrashPoint(
    "topic-not-written", "kafka.zk.migration.ZkTopicMigrationClient", "createTopic", held_s=15
)
"""A new topic is in the metadata log, and about to be written to ZooKeeper; held for longer than elections take."""

LATE_CONFIG = CrashPoint("late-config", "kafka.zk.migration.ZkConfigMigrationClient", "writeConfigs", held_s=15)
"""Changed configs of a topic or broker are in the metadata log, and about to be written to ZooKeeper."""

LATE_DELETION = CrashPoint("late-deletion", "kafka.zk.migration.ZkTopicMigrationClient", "deleteTopic", held_s=15)
"""A topic is deleted by the metadata log, and about to be deleted in ZooKeeper."""

CRASH_POINTS = {
    **dict.fromkeys(
        (
            METADATA_COPIED_NOT_COMMITTED,
            LONG_COPY,
            ABOUT_TO_CLAIM,
            COPY_NOT_BEGUN,
            LONG_BEFORE_THE_CLAIM,
            TOPIC_NOT_WRITTEN,
            LATE_CONFIG,
            LATE_DELETION,
        ),
        Role.CONTROLLER,
    ),
    ISR_CHANGE_ASKED: Role.BROKER,
    ACL_NOT_WRITTEN: Role.BROKER,
}
"""Those that schedules may name, and which nodes come there."""
