"""Checks: what a test may ask of its run, a constructor per checker; the checker's docstring says what it means."""

from collections.abc import Sequence

from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.checks import Check


def no_acked_record_lost() -> Check:
    """Every acknowledged record is read back at the end."""
    return Check("no_acked_record_lost")


def no_phantom_record() -> Check:
    """Every record read was sent by a producer of ours."""
    return Check("no_phantom_record")


def order_kept_per_partition() -> Check:
    """Records of one idempotent producer lie in each partition in the order of their sends."""
    return Check("order_kept_per_partition")


def no_duplicate_from_idempotent_producer() -> Check:
    """No record of an idempotent producer is in its partition twice."""
    return Check("no_duplicate_from_idempotent_producer")


def no_offset_given_twice() -> Check:
    """No offset was given to two records, and no record moved."""
    return Check("no_offset_given_twice")


def transactions_all_or_nothing() -> Check:
    """Every transaction is read whole or not at all, and no aborted one is read."""
    return Check("transactions_all_or_nothing")


def consumer_positions_never_run_backwards() -> Check:
    """Consumers read on; assigned anew, they start no lower than their group had committed."""
    return Check("consumer_positions_never_run_backwards")


def committed_offsets_never_run_backwards() -> Check:
    """A group's committed offsets only rise."""
    return Check("committed_offsets_never_run_backwards")


def no_record_passed_over() -> Check:
    """No consumer reads on above an acknowledged record that its group never reads."""
    return Check("no_record_passed_over")


def longest_time_without_acked_write(at_most_s: float | None = None) -> Check:
    """Measures the longest time in which no write, or none to some partition, was acknowledged; or limits it."""
    return Check("longest_time_without_acked_write", {} if at_most_s is None else {"at_most_s": at_most_s})


def longest_time_without_consumption(at_most_s: float | None = None) -> Check:
    """Measures the longest time that an acknowledged record waited for a consumer group; or limits it."""
    return Check("longest_time_without_consumption", {} if at_most_s is None else {"at_most_s": at_most_s})


def one_active_controller_per_epoch() -> Check:
    """No epoch has two active controllers."""
    return Check("one_active_controller_per_epoch")


def controller_epoch_never_falls() -> Check:
    """The controller epoch never goes down."""
    return Check("controller_epoch_never_falls")


def migration_state_moves_along_legal_edges() -> Check:
    """ZkMigrationState moves forward and skips nothing."""
    return Check("migration_state_moves_along_legal_edges")


def migration_znode_never_moves_back() -> Check:
    """The position in the metadata log that /migration holds only rises."""
    return Check("migration_znode_never_moves_back")


def controller_znodes_tell_who_and_how_far() -> Check:
    """/controller and /migration have their schema, and tell who is in office and a place after the copy."""
    return Check("controller_znodes_tell_who_and_how_far")


def copy_is_one_transaction() -> Check:
    """The copy is one transaction of the metadata log, with the record that ends it."""
    return Check("copy_is_one_transaction")


def copy_shows_only_when_ended() -> Check:
    """No controller shows a topic of the copy before the copy has ended, nor one of a copy that was aborted."""
    return Check("copy_shows_only_when_ended")


def migration_metrics_agree_with_the_log() -> Check:
    """The active controller reports the migration state and the migrating brokers that its log holds."""
    return Check("migration_metrics_agree_with_the_log")


def zookeeper_lag_grows_and_falls_back() -> Check:
    """ZkWriteBehindLag shows what ZooKeeper lacks while it cannot be written, and that it has caught up afterwards."""
    return Check("zookeeper_lag_grows_and_falls_back")


def only_the_active_controller_reports(metric: str) -> Check:
    """A controller that is not active does not report ZkMigrationState, MigratingZkBrokerCount or ZkWriteBehindLag."""
    return Check("only_the_active_controller_reports", {"metric": metric})


def migration_state_has_its_documented_number() -> Check:
    """An active controller reports each state of the migration by the number that KIP-866 gives it."""
    return Check("migration_state_has_its_documented_number")


def takeover_waits_for_every_broker() -> Check:
    """The controllers do not take over from ZooKeeper while a broker is down."""
    return Check("takeover_waits_for_every_broker")


def phase_reached(phase: Phase | str) -> Check:
    """The migration came to this phase."""
    return Check("phase_reached", {"phase": _name(phase)})


def phase_not_reached(phase: Phase | str) -> Check:
    """The migration was undone before it came to this phase; otherwise the test was about something else."""
    return Check("phase_not_reached", {"phase": _name(phase)})


def _name(phase: Phase | str) -> str:
    return phase.name if isinstance(phase, Phase) else phase


def every_fault_was_witnessed() -> Check:
    """Every fault was seen to bite."""
    return Check("every_fault_was_witnessed")


def no_unexpected_death() -> Check:
    """No node died unasked."""
    return Check("no_unexpected_death")


def metadata_equivalent(
    left: str, right: str, families: Sequence[str] | None = None, partition_fields: Sequence[str] | None = None
) -> Check:
    """Two images, by label, are equal value by value."""
    arguments: dict[str, object] = {"left": left, "right": right}
    if families is not None:
        arguments["families"] = list(families)
    if partition_fields is not None:
        arguments["partition_fields"] = list(partition_fields)
    return Check("metadata_equivalent", arguments)


def acknowledged_metadata_changes_present(label: str) -> Check:
    """Every acknowledged metadata change is in the image of this label."""
    return Check("acknowledged_metadata_changes_present", {"label": label})
