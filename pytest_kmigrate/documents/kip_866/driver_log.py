"""What the migration driver and the controller beside it log, as diagnoses read it."""

import re

ABORTED_COPY = "Aborting the ZK migration"
"""A controller that cannot end its copy ends itself, so that the next one aborts it (QuorumController.java)."""
COPY_BEGUN, COPY_ENDED = "Starting ZK migration", "Completed migration of metadata from"
CHANGE_FAILED = "Encountered ZooKeeper error during event MetadataChangeEvent"
"""A change that was not written; what it had in a batch is not written either, nor sent to brokers."""
CHANGE_WRITTEN = "Made the following ZK writes when handling KRaft delta"
TO_DUAL_WRITE = "to DUAL_WRITE state"
NO_STATE = re.compile(r"Could not find partition state in ZK for (\S+)\. Initializing this partition")
"""What reads ZooKeeper takes such a partition, by its name, for one with its first replica as leader."""

_REGISTERED = re.compile(r"Registered new broker: RegisterBrokerRecord\(brokerId=(\d+), isMigratingZkBroker=true")


def registered_for_migration(log: str) -> set[str]:
    """The ids of the brokers in ZooKeeper mode that a controller logged to register for the migration.

    Releases before 3.6 count them nowhere else (``MigratingZkBrokerCount``).
    """
    return set(_REGISTERED.findall(log))
