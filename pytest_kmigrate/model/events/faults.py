"""Events of faults: injected, in force, witnessed, healed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_kmigrate.model.event import EventData, EventKind
from pytest_kmigrate.model.topology import Role

NOTHING = "nothing"
"""What a fault takes of this machine that disturbs processes, links or znodes alone."""

DISK = "disk"
"""What a fault takes by which files of a node are gone, or cannot be written or opened."""


@dataclass(frozen=True)
class TargetDrawn(EventData):
    """A target that is chosen by the run's seed was looked up."""

    event_kind: ClassVar = EventKind.TARGET_DRAWN
    target: str
    """The target as text, for example ``random-broker``."""
    among: Sequence[str]
    """Names of the nodes that it could be, in the order of the topology."""
    role: Role
    """The role of all of them."""
    drawn: str
    """The name of the node that it is."""


@dataclass(frozen=True)
class FaultBegan(EventData):
    """The trigger of a fault fired: the fault is about to be applied."""

    event_kind: ClassVar = EventKind.FAULT_BEGAN
    fault: str
    """The fault as text, for example ``kill(active-controller)``."""
    fault_id: str
    """Identifies the fault in this run, for example ``fault-1``."""
    effect: str
    """Kind of the fault in lower case: ``kill``, ``stop``, ``cut``, ..."""
    trigger: str
    """The trigger as text, for example ``on-event(node-ready broker-1)``."""


@dataclass(frozen=True)
class FaultApplied(EventData):
    """A fault is in force from now on."""

    event_kind: ClassVar = EventKind.FAULT_APPLIED
    fault_id: str
    """``fault_id`` of the fault-began event."""
    targets: Sequence[str]
    """Names of the nodes it acts on."""
    began: int
    """``seq`` of the fault-began event."""
    takes: str | None = None
    """What the nodes lack by it, such as ``disk``, or ``nothing``; missing if the fault does not declare it."""
    may_end: bool = False
    """Whether a node may end by it."""

    @property
    def lets_nodes_end(self) -> bool:
        """Whether a node may end by it, also as one does that lacks a disk."""
        return self.may_end or self.takes == DISK


@dataclass(frozen=True)
class FaultWitnessed(EventData):
    """The effect of a fault was observed: the test did run under this fault."""

    event_kind: ClassVar = EventKind.FAULT_WITNESSED
    fault_id: str
    """``fault_id`` of the fault-began event."""
    witness: str
    """The evidence as a sentence."""
    facts: Mapping[str, object]
    """The evidence as data, for example the links that were cut; empty if the sentence is all."""


@dataclass(frozen=True)
class FaultNotWitnessed(EventData):
    """A fault ended without any sign that it took effect, or its trigger never fired."""

    event_kind: ClassVar = EventKind.FAULT_NOT_WITNESSED
    fault_id: str
    """``fault_id`` of the fault-began event; such an event is missing if the trigger never fired."""
    fault: str
    """The fault as text."""
    witness: str
    """The evidence that was expected and not found, or why there could be none."""


@dataclass(frozen=True)
class FaultHealed(EventData):
    """A fault was undone."""

    event_kind: ClassVar = EventKind.FAULT_HEALED
    fault_id: str
    """``fault_id`` of the fault-began event."""
    fault: str
    """The fault as text."""
