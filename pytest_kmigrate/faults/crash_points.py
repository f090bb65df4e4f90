"""Crash points: places in Kafka's code (3.5 to 3.9) that matter to a migration, by Byteman's class and method names."""

from dataclasses import replace

from pytest_kmigrate.model.protocols import CrashPoint

_DRIVER = "org.apache.kafka.metadata.migration.KRaftMigrationDriver"

METADATA_COPIED_NOT_COMMITTED = CrashPoint(
    "metadata-copied-not-committed",
    "org.apache.kafka.controller.QuorumController$MigrationRecordConsumer",
    "completeMigration",
)
"""Every record of ZooKeeper is in the metadata log, the record that ends the migration is not."""

LONG_COPY = replace(METADATA_COPIED_NOT_COMMITTED, name="long-copy", held_s=12)
"""The same place, held for longer: as if there were much to copy, and other things went on meanwhile."""

COPY_BEGINS = CrashPoint("copy-begins", f"{_DRIVER}$MigrateMetadataEvent", "run")
"""The active controller is about to copy; nothing is in the log yet."""

COPY_ENDED = CrashPoint("copy-ended", f"{_DRIVER}$MigrateMetadataEvent", "run", "AT EXIT")
"""The copy is committed; the driver has not yet gone on to its next state."""

CONTROLLER_CLAIMED = CrashPoint("controller-claimed", f"{_DRIVER}$BecomeZkControllerEvent", "run", "AT EXIT")
"""The KRaft controller has taken ``/controller``; nothing was copied yet."""

ISR_CHANGE_ASKED = CrashPoint(
    "isr-change-asked", "org.apache.kafka.common.requests.AlterPartitionRequest$Builder", "build", held_s=25
)
"""A leader has chosen the controller that it will ask to change an ISR; the request is not sent yet."""
