"""What the fixtures are that a test calls: types for annotations, and for editors that complete by them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from pytest_kmigrate.model.verdict import Kind

if TYPE_CHECKING:
    from pytest_kmigrate.faults.effect import Fault
    from pytest_kmigrate.faults.injection import Injection
    from pytest_kmigrate.faults.triggers import Trigger
    from pytest_kmigrate.model.checks import Check


class Inject(Protocol):
    """The fixture ``inject``."""

    def __call__(
        self, fault: "Fault", at: "Trigger | None" = None, until: "Trigger | None" = None
    ) -> "AbstractContextManager[Injection]":
        """A block in which a fault is in force, at once or from its trigger on, to its end or until another trigger."""
        ...


class Expect(Protocol):
    """The fixture ``expect``."""

    def __call__(
        self,
        name: str,
        actual: Callable[[], object],
        equals: object,
        *,
        within_s: float = 60,
        kind: Kind | None = Kind.SAFETY,
        requirements: Sequence[str] = (),
    ) -> bool:
        """Whether the value was reached in time."""
        ...


class Verify(Protocol):
    """The fixtures ``verify`` and ``verify_clients``."""

    def __call__(self, *checks: "Check") -> None:
        """Judge the run; ViolationError if a requirement is violated."""
        ...
