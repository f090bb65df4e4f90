"""KIP-866 as the rest of the product uses it."""

from pytest_kmigrate.checkers.registry import checkers_in, diagnoses_in
from pytest_kmigrate.documents.kip_866.bindings import BINDINGS
from pytest_kmigrate.documents.kip_866.crash_points import CRASH_POINTS
from pytest_kmigrate.documents.kip_866.driver import MigrationDriver, check_topology, not_copied
from pytest_kmigrate.documents.kip_866.driver_log import ABORTED_COPY
from pytest_kmigrate.documents.kip_866.observing import WATCHING
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.documents.kip_866.procedure import STEPS, WALKING_NEEDS
from pytest_kmigrate.documents.kip_866.view import STATES, in_charge, is_written
from pytest_kmigrate.model.document import Document

DOCUMENT = Document(
    id="kip-866",
    title="KIP-866: ZooKeeper to KRaft migration",
    checks=(*checkers_in("pytest_kmigrate.documents.kip_866.checks"), *BINDINGS),
    diagnoses=diagnoses_in("pytest_kmigrate.documents.kip_866.diagnoses"),
    states=STATES,
    in_charge=in_charge,
    watched_znodes=(
        *("/controller", "/controller_epoch", "/migration", "/cluster/id", "/latest_producer_id_block"),
        *("/admin/reassign_partitions", "/brokers/ids/*", "/brokers/topics/*"),
        *("/admin/delete_topics/*", "/config/changes/*"),
    ),
    metrics=(
        *("ZkMigrationState", "MigratingZkBrokerCount", "ZkWriteBehindLag", "ActiveControllerCount"),
        *("BrokerMetadataType", "ControllerMetadataType", "ControllerFeatures", "LastCommittedRecordOffset"),
        *(f"ZkWrite{what}TimeMs.{value}" for what in ("Snapshot", "Delta") for value in ("Count", "Min", "Max")),
        *("GlobalTopicCount", "RaftHighWatermark", "RaftCurrentEpoch", "RaftCurrentState"),
        *("ActiveBrokerCount", "FencedBrokerCount"),
    ),
    procedure=STEPS,
    driver=MigrationDriver,
    begins_in=Phase.ZOOKEEPER.name,
    revert=MigrationDriver.revert,
    starts={"HYBRID": None, "ALL_KRAFT": "HYBRID"},
    dies_by_design=(ABORTED_COPY,),
    crash_points=CRASH_POINTS,
    is_settled=is_written,
    check_topology=check_topology,
    unfilled=not_copied,
    watching=WATCHING,
    walked_by=("migration",),
    walking_needs=WALKING_NEEDS,
)
