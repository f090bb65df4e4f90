"""Events of a procedure: its steps, and the states of the cluster that they lead to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_kmigrate.model.event import EventData, EventKind


@dataclass(frozen=True)
class StepBegan(EventData):
    """A step of the procedure began, or was resumed after its first moves."""

    event_kind: ClassVar = EventKind.STEP_BEGAN
    step: str
    """Name of the step."""
    first_move: int
    """Moves of this step that were made earlier; the first one made now has this index (from 0)."""
    last_move: int
    """Moves of this step that will have been made when it ends; below ``of_moves`` if the test stops it halfway."""
    of_moves: int
    """Moves of the whole step."""


StepOutcome = Literal["done", "stopped", "failed"]


@dataclass(frozen=True)
class StepEnded(EventData):
    """A step of the procedure ended."""

    event_kind: ClassVar = EventKind.STEP_ENDED
    step: str
    """Name of the step."""
    outcome: StepOutcome
    """``done``, ``stopped`` (halfway, as the test wanted, or by trouble that is not Kafka's), or ``failed``."""
    reason: str
    """The error that ended the step; otherwise empty."""
    requirements: Sequence[str] | None = None
    """The requirements that the failure violates, while no fault is in force; missing if the step has none."""


@dataclass(frozen=True)
class StateChanged(EventData):
    """A state that the document defines changed, or was observed for the first time.

    ``node`` is the node that reported it, if one did.
    """

    event_kind: ClassVar = EventKind.STATE
    of: str
    """Name of the state, for example ``phase``."""
    state: str
    """Its value from now on, for example ``HYBRID``."""
    previous: str | None
    """Its value before; null for the first one observed."""


@dataclass(frozen=True)
class ActiveControllerChanged(EventData):
    """Another node is the active controller, or none is. ``node`` is the controller."""

    event_kind: ClassVar = EventKind.ACTIVE_CONTROLLER
    controller: str | None
    """Name of the active controller; null if there is none. Its epoch is in the znodes."""
    previous: str | None
    """Name of the active controller before; null if there was none, or if it was not observed before."""
