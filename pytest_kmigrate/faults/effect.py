"""What every fault offers: a frozen value that can be applied to a scene and says whether it bit."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_kmigrate.model.capabilities import Needs
from pytest_kmigrate.model.protocols import Scene


@dataclass(frozen=True)
class Applied:
    """A fault in force: the nodes it hit, and how to see whether it took effect.

    ``witness`` is asked while the fault is in force, as soon as it is and last of all just before healing; it returns a
    sentence once the fault has demonstrably bitten, and None until then. ``looked_for`` says what it looks for.
    """

    targets: tuple[str, ...]
    looked_for: str
    witness: Callable[[], str | None]
    facts: dict[str, object] = field(default_factory=dict)
    takes: str | None = None
    """What the nodes lack by it, such as ``disk``, or NOTHING.

    Where a node then reports that this machine lacks something, the fault is the cause, unless it takes NOTHING. None:
    it may take anything.
    """
    may_end: bool = False
    """Whether a node may end by it, as Kafka ends a broker that cannot write: such an end is no unexpected one."""


LEAST, MOST = "least", "most"
"""Keys of a field's metadata: the numbers that it may have."""


def whole_number(default: int, least: int, most: int) -> Any:
    """The field of a fault with a number from ``least`` to ``most``."""
    return field(default=default, metadata={LEAST: least, MOST: most})


class Fault(Protocol):
    """A frozen value, so that it can be a test parameter; ``str()`` reads like ``kill(active-controller)``."""

    @property
    def needs(self) -> Needs:
        """What the provider must be able to do."""
        ...

    def applied_to(self, scene: Scene) -> AbstractContextManager[Applied]:
        """Resolve the target, apply, and heal when the block is left, also after an error."""
        ...


def effect_name(kind: type[object]) -> str:
    """What the events of a class of faults call its effect."""
    return kind.__name__.lower()
