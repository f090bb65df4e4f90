"""Registry: every checker by its name, and the judging of a history by several checks."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

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
from pytest_kmigrate.checkers.controllers.controllers import (
    controller_epoch_never_falls,
    one_active_controller_per_epoch,
)
from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.checkers.run.doubts import doubted, doubts
from pytest_kmigrate.checkers.run.mutants import mutant_was_in_force
from pytest_kmigrate.checkers.run.runs import (
    every_fault_was_witnessed,
    no_unexpected_death,
    phase_not_reached,
    phase_reached,
)
from pytest_kmigrate.checkers.run.steps import expectations_met, steps_completed
from pytest_kmigrate.documents.kip_866.checks.acceptance import metadata_changes_stay_accepted
from pytest_kmigrate.documents.kip_866.checks.active_only import only_the_active_controller_reports
from pytest_kmigrate.documents.kip_866.checks.controller_znodes import controller_znodes_tell_who_and_how_far
from pytest_kmigrate.documents.kip_866.checks.copy_visibility import copy_shows_only_when_ended
from pytest_kmigrate.documents.kip_866.checks.metadata_copy import copy_is_one_transaction
from pytest_kmigrate.documents.kip_866.checks.migration_metrics import (
    migration_metrics_agree_with_the_log,
    zookeeper_lag_grows_and_falls_back,
)
from pytest_kmigrate.documents.kip_866.checks.migration_states import migration_state_moves_along_legal_edges
from pytest_kmigrate.documents.kip_866.checks.migration_znode import migration_znode_never_moves_back
from pytest_kmigrate.documents.kip_866.checks.state_numbers import migration_state_has_its_documented_number
from pytest_kmigrate.documents.kip_866.checks.takeover import takeover_waits_for_every_broker
from pytest_kmigrate.model.checks import Check, Checker, judged_by
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, inconclusive

CHECKERS: Mapping[str, Checker] = {
    checker.__name__: checker
    for checker in (
        no_acked_record_lost,
        no_phantom_record,
        order_kept_per_partition,
        no_duplicate_from_idempotent_producer,
        no_offset_given_twice,
        transactions_all_or_nothing,
        consumer_positions_never_run_backwards,
        committed_offsets_never_run_backwards,
        no_record_passed_over,
        longest_time_without_acked_write,
        longest_time_without_consumption,
        one_active_controller_per_epoch,
        controller_epoch_never_falls,
        migration_state_moves_along_legal_edges,
        migration_znode_never_moves_back,
        controller_znodes_tell_who_and_how_far,
        copy_is_one_transaction,
        copy_shows_only_when_ended,
        migration_metrics_agree_with_the_log,
        zookeeper_lag_grows_and_falls_back,
        only_the_active_controller_reports,
        migration_state_has_its_documented_number,
        takeover_waits_for_every_broker,
        phase_reached,
        phase_not_reached,
        every_fault_was_witnessed,
        no_unexpected_death,
        mutant_was_in_force,
        metadata_equivalent,
        acknowledged_metadata_changes_present,
        metadata_changes_stay_accepted,
        steps_completed,
        expectations_met,
    )
}
"""Name -> checker; a check is found here by the name it was recorded with."""

CheckersByName = Mapping[str, Checker]


def checker(name: str, known: CheckersByName = CHECKERS) -> Checker:
    """The checker of that name; WrongUseError with the nearest name if there is none."""
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    advice = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
    raise WrongUseError(f"check: expected the name of a checker, got {name!r}; {advice}")


def judge(history: History, checks: Sequence[Check], known: CheckersByName = CHECKERS) -> list[Verdict]:
    """One verdict per check, in their order, each with the requirements it speaks for.

    A violation stands whatever else happened. A check that holds in a run in which the harness had trouble, a node
    died by itself or a fault was not witnessed proves nothing: it becomes INCONCLUSIVE and says why. A requirement that
    a check left undecided, as it was not applicable, is not kept because others hold.
    """
    checkers = [checker(check.name, known) for check in checks]
    reasons = doubts(history)
    found = [_judged(each, history, check) for each, check in zip(checkers, checks, strict=True)]
    if reasons:
        because = "; ".join(reason.text for reason in reasons)
        found = [doubted(verdict, reasons[0].kind, because) for verdict in found]
    undecided = {requirement for verdict in found for requirement in verdict.listed("undecided")}
    return [_speaking_for(verdict, history.header.requirements, undecided) for verdict in found]


def recorded_checks(history: History) -> list[Check]:
    """The checks the run itself asked for, without repetitions: what judging it again has to judge."""
    checks: list[Check] = []
    for event in history.of(EventKind.CHECKS):
        checks += [check for check in _checks_in(event) if check not in checks]
    return checks


def _judged(each: Checker, history: History, check: Check) -> Verdict:
    try:
        return judged_by(each, history, check)
    # A checker is third-party code as far as a run is concerned: whatever it raises must never pass for a verdict.
    except Exception as error:  # noqa: BLE001
        text = f"the checker itself failed: {type(error).__name__}: {error}"
        return inconclusive(check.name, Kind.HARNESS, text)


def _speaking_for(verdict: Verdict, claimed: Sequence[str], undecided: Collection[str]) -> Verdict:
    left_out = undecided if verdict.outcome is Outcome.CONFORMS else ()
    return replace(verdict, requirements=tuple(each for each in claimed if each not in left_out))


def _checks_in(event: Event) -> list[Check]:
    listed = event.data.get("checks")
    found = []
    for each in listed if isinstance(listed, list | tuple) else ():
        arguments = each.get("arguments") if isinstance(each, Mapping) else None
        if isinstance(each, Mapping):
            found.append(Check(str(each.get("name")), dict(arguments) if isinstance(arguments, Mapping) else {}))
    return found
