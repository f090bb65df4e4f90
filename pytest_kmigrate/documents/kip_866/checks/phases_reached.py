"""Checks of how far a migration came."""

from pytest_kmigrate.checkers.run.states import state_not_reached, state_reached
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict


@checker()
def phase_reached(history: History, phase: str) -> Verdict:
    """The migration came to this phase of the operator.

    If it did not, that is a violation only when a step towards it failed, under no fault, and the harness had no
    trouble of its own; a step never begun, or stopped on purpose, proves nothing. Source: K866-TEST-happy-path.
    """
    return state_reached(history, "phase_reached", PHASE, _known(phase))


@checker()
def phase_not_reached(history: History, phase: str) -> Verdict:
    """The migration never came to this phase of the operator: what was undone, was undone before.

    Kafka may go on that far; the run is then about something else, and inconclusive. Source: K866-RB-any-point.
    """
    return state_not_reached(history, "phase_not_reached", PHASE, _known(phase))


def _known(phase: str) -> str:
    if phase not in Phase.__members__:
        raise WrongUseError(f"phase: expected one of {', '.join(Phase.__members__)}, got {phase!r}")
    return phase
