"""General claims that KIP-866 asks for: the requirements each speaks for, and which runs could violate them."""

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
from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.controllers.controllers import (
    controller_epoch_never_falls,
    one_active_controller_per_epoch,
)
from pytest_kmigrate.checkers.controllers.lives import life_starts_ns
from pytest_kmigrate.model.checks import AnyChecker, Checker, speaking
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind

# Other general checks speak for what is claimed by the test that asks for them: metadata_equivalent for
# K866-DW-full-parity and K866-PROC-copy-*, acknowledged_metadata_changes_present for K866-DW-*,
# longest_time_without_acked_write for K866-COMPAT-availability and K866-PROC-no-downtime-broker-phase,
# longest_time_without_consumption for K866-COMPAT-clients, steps_completed and no_unexpected_death for K866-TEST-*.

_KEPT, _CLIENTS = "K866-RB-data-kept", "K866-COMPAT-clients"


def _has_written_across(history: History, at_ns: list[int]) -> bool:
    """Whether records were sent both before and after one of these instants."""
    began = history.operations.of(OperationKind.PRODUCE).began_ns
    return any(bool((began < each).any()) and bool((began > each).any()) for each in at_ns)


def _is_taken_over(history: History) -> bool:
    """Whether clients were at work as KRaft controllers took over."""
    return _has_written_across(history, [each.at_ns for each in kraft_claims(history)])


def _is_reverted(history: History) -> bool:
    """Whether clients were at work as the controllers were taken away again, and their log with them."""
    return _has_written_across(history, life_starts_ns(history))


def _is_elected_again(history: History) -> bool:
    """Whether controllers of one quorum took over from each other."""
    claims = list(kraft_claims(history))
    return any(len({claim.epoch for claim in claims if claim.series == each.series}) > 1 for each in claims)


def _of_records(general: Checker[[]]) -> AnyChecker:
    return speaking(speaking(general, _KEPT, where=_is_reverted), _CLIENTS, where=_is_taken_over)


BINDINGS: tuple[AnyChecker, ...] = (
    speaking(one_active_controller_per_epoch, "K866-ZNODE-controller-every-election", where=_is_elected_again),
    speaking(controller_epoch_never_falls, "K866-ZNODE-controller-epoch-monotonic"),
    *map(
        _of_records,
        (
            no_acked_record_lost,
            no_phantom_record,
            order_kept_per_partition,
            no_duplicate_from_idempotent_producer,
            no_offset_given_twice,
        ),
    ),
    *(
        speaking(each, _CLIENTS, where=_is_taken_over)
        for each in (
            consumer_positions_never_run_backwards,
            committed_offsets_never_run_backwards,
            no_record_passed_over,
            transactions_all_or_nothing,
        )
    ),
)
