"""kmigrate-3 and kmigrate-8: a node or a thread ends, and the last line that it logs names the reason."""

from collections.abc import Sequence

from pytest_kmigrate.checkers.evidence.moments import failed_steps
from pytest_kmigrate.checkers.run.deaths import failed_stops, unexpected_deaths
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict
from pytest_kmigrate.procedures.moves import BACK_IN_SYNC

_NO_BOOTSTRAP = "Should not have ZK migrations enabled on a cluster running metadata.version 3.0-IV1"
_METRIC_LEFT = "already exists, can't register another one"
_CHANNEL = "to-controller-"
_STEPS = ("steps_completed", "phase_reached")


@diagnosis("kmigrate-3")
def bootstrap_was_lost(history: History, verdict: Verdict) -> bool:
    """A controller ended because it found no metadata.version in a log that it took for one with records.

    The migration waits for the registration of every controller, so that no step reaches its phase any more.
    """
    deaths = _deaths(history)
    if not deaths or not all(_is_bootstrap_lost(event) for event in deaths):
        return False
    return verdict.check == "no_unexpected_death" or (
        verdict.check in _STEPS and all(_waits_for(step, deaths) for step in failed_steps(history)[0])
    )


@diagnosis("kmigrate-8")
def channel_to_the_controller_ended(history: History, verdict: Verdict) -> bool:
    """A broker's channel to the controller ended because a metric of its former connection was still registered."""
    ended = [event for event in _deaths(history) if _is_channel(event)]
    if verdict.check == "no_unexpected_death":
        return bool(ended) and len(ended) == len(_deaths(history))
    blamed = failed_steps(history)[0] if verdict.check in _STEPS else []
    changes_no_isr = any(f"{_CHANNEL}alter-partition" in str(event.data.get("thread")) for event in ended)
    return bool(blamed) and changes_no_isr and all(BACK_IN_SYNC in str(step.data.get("reason")) for step in blamed)


def _deaths(history: History) -> list[Event]:
    return [*unexpected_deaths(history), *history.of(EventKind.THREAD_DIED), *failed_stops(history)]


def _is_bootstrap_lost(event: Event) -> bool:
    return event.kind is EventKind.NODE_DIED and _NO_BOOTSTRAP in str(event.data.get("said"))


def _is_channel(event: Event) -> bool:
    is_thread = event.kind is EventKind.THREAD_DIED and _CHANNEL in str(event.data.get("thread"))
    return is_thread and _METRIC_LEFT in str(event.data.get("said"))


def _waits_for(step: Event, deaths: Sequence[Event]) -> bool:
    """Whether a step waited for a phase that came no more, or for the controller itself to start."""
    reason = str(step.data.get("reason"))
    before = [event for event in deaths if event.at_ns <= step.at_ns]
    return any(reason.startswith(("phase ", f"{event.node} died")) for event in before)
