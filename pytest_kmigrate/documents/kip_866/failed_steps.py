"""Steps of the procedure that failed, as the checks of a run judge them; diagnoses ask what these waited for."""

from pytest_kmigrate.checkers.evidence.moments import failed_steps
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.steps import StepEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_BY_THEMSELVES = ("steps_completed", "phase_reached")
_OF_ALL_STEPS = "documented_steps_end_finalized"
_FAILED = "it failed: "


def blamed_steps(history: History, verdict: Verdict) -> list[Recorded[StepEnded]]:
    """The failed steps that a verdict is about; none if it is about something else, or about more than these."""
    steps = failed_steps(history)[0]
    if verdict.check == _OF_ALL_STEPS and all(each.observed.startswith(_FAILED) for each in verdict.violations):
        return steps if verdict.count <= len(steps) else []
    return steps if verdict.check in _BY_THEMSELVES else []
