"""Checks of how far a migration came."""

from pytest_kmigrate.checkers.run.states import state_not_reached, state_reached
from pytest_kmigrate.documents.kip_866.checks.log_images import log_images
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION, has_place
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, inconclusive


@checker()
def phase_reached(history: History, phase: str) -> Verdict:
    """The migration came to this phase of the operator.

    If it did not, that is a violation only when a step towards it failed, under no fault, and the harness had no
    trouble of its own; a step never begun, or stopped on purpose, proves nothing. Phases are read from
    ``ZkMigrationState``, which is itself under test: of a phase after the copy something else must show the copy, which
    is a position in ``/migration`` or a state in the metadata log. Source: K866-TEST-happy-path.
    """
    verdict = state_reached(history, PHASE, _known(phase))
    is_after_copy = Phase[phase] >= Phase.HYBRID
    if verdict.outcome is Outcome.CONFORMS and is_after_copy and history.znodes and not _copy_is_shown(history):
        text = f"{verdict.summary} by ZkMigrationState alone: neither {MIGRATION} nor the metadata log has a copy"
        return inconclusive(Kind.VACUOUS, text)
    return verdict


def _copy_is_shown(history: History) -> bool:
    """Whether ZooKeeper or the log has that a copy was made; the watcher sees a znode of before the run, too."""
    places = (has_place(each) for each in history.znodes if each.path == MIGRATION)
    return any(places) or any(each.copied is not None for each in log_images(history))


@checker()
def phase_not_reached(history: History, phase: str) -> Verdict:
    """The migration never came to this phase of the operator: what was undone, was undone before.

    Kafka may go on that far; the run is then about something else, and inconclusive. Source: K866-RB-any-point.
    """
    return state_not_reached(history, PHASE, _known(phase))


def _known(phase: str) -> str:
    if phase not in Phase.__members__:
        raise WrongUseError(f"phase: expected one of {', '.join(Phase.__members__)}, got {phase!r}")
    return phase
