"""A Check: the name of a checker and its arguments, as plain data that a run folder can hold and judge again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

Checker = Callable[..., Verdict]
"""``checker(history, **arguments)``: pure; no cluster, no clock, no files."""


@dataclass(frozen=True)
class Check:
    """What ``verify`` is given; ``arguments`` must survive JSON."""

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={value}' for key, value in self.arguments.items())})"


def judged_by(checker: Checker, history: History, check: Check) -> Verdict:
    """Run one checker over one history."""
    return checker(history, **check.arguments)
