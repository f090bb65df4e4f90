"""General claims that KIP-866 asks for: the requirements each speaks for, and which runs could violate them."""

from pytest_kmigrate.checkers.clients.availability import longest_time_without_acked_write
from pytest_kmigrate.checkers.clients.consumers import (
    committed_offsets_never_run_backwards,
    consumer_positions_never_run_backwards,
)
from pytest_kmigrate.checkers.clients.consumption import longest_time_without_consumption
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
from pytest_kmigrate.checkers.controllers.lives import life_starts_ns, roles
from pytest_kmigrate.checkers.evidence.moments import healed_ns, targets_of
from pytest_kmigrate.model.checks import AnyChecker, Checker, speaking
from pytest_kmigrate.model.events.faults import FaultApplied
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind

# metadata_equivalent and acknowledged_metadata_changes_present speak for what the test claims that asks for them.

_KEPT, _CLIENTS, _SERVED = "K866-RB-data-kept", "K866-COMPAT-clients", "K866-FAIL-zk-down-data-plane"


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


def _is_without_zookeeper(history: History) -> bool:
    """Whether records were sent while a fault took every ZooKeeper server away."""
    ensemble = {node for node, role in roles(history).items() if role == "zookeeper"}
    began = history.operations.of(OperationKind.PRODUCE).began_ns
    healed = healed_ns(history)
    return any(
        bool(ensemble)
        and ensemble == targets_of(each)
        and bool(((began > each.at_ns) & (began < healed.get(each.what.fault_id, history.end_ns))).any())
        for each in history.of(FaultApplied)
    )


def _of_records(general: Checker[[]]) -> AnyChecker:
    return speaking(speaking(general, _KEPT, where=_is_reverted), _CLIENTS, where=_is_taken_over)


BINDINGS: tuple[AnyChecker, ...] = (
    speaking(one_active_controller_per_epoch, "K866-ZNODE-controller-every-election", where=_is_elected_again),
    speaking(controller_epoch_never_falls, "K866-ZNODE-controller-epoch-monotonic"),
    speaking(longest_time_without_acked_write, _SERVED, where=_is_without_zookeeper),
    speaking(longest_time_without_consumption, _SERVED, where=_is_without_zookeeper),
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
