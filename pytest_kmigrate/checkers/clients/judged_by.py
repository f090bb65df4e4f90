"""By which check a run itself judges each class of anomaly; no check judges what Kafka allows."""

from collections.abc import Mapping

from pytest_kmigrate.checkers.clients.consumers import (
    committed_offsets_never_run_backwards,
    consumer_positions_never_run_backwards,
)
from pytest_kmigrate.checkers.clients.passing_over import no_record_passed_over
from pytest_kmigrate.checkers.clients.places import (
    no_duplicate_from_idempotent_producer,
    no_offset_given_twice,
    order_kept_per_partition,
)
from pytest_kmigrate.checkers.clients.records import no_acked_record_lost, no_phantom_record
from pytest_kmigrate.checkers.clients.transactions import transactions_all_or_nothing
from pytest_kmigrate.checkers.kernels import AnomalyClass
from pytest_kmigrate.model.checks import AnyChecker

JUDGED_BY: Mapping[AnomalyClass, AnyChecker] = {
    AnomalyClass.LOST_WRITE: no_acked_record_lost,
    AnomalyClass.PHANTOM: no_phantom_record,
    AnomalyClass.REFUSED_BUT_FOUND: no_phantom_record,
    AnomalyClass.DUPLICATE: no_duplicate_from_idempotent_producer,
    AnomalyClass.REORDERING: order_kept_per_partition,
    AnomalyClass.INCONSISTENT_OFFSET: no_offset_given_twice,
    AnomalyClass.MOVED: no_offset_given_twice,
    AnomalyClass.NON_MONOTONIC_POLL: consumer_positions_never_run_backwards,
    AnomalyClass.READ_BELOW_COMMITTED: consumer_positions_never_run_backwards,
    AnomalyClass.POLL_SKIP: no_record_passed_over,
    AnomalyClass.NON_MONOTONIC_COMMIT: committed_offsets_never_run_backwards,
    AnomalyClass.ABORTED_READ: transactions_all_or_nothing,
    AnomalyClass.INTERMEDIATE_READ: transactions_all_or_nothing,
    AnomalyClass.TORN_TRANSACTION: transactions_all_or_nothing,
    AnomalyClass.REORDERED_TRANSACTIONS: transactions_all_or_nothing,
}
