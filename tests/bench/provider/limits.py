"""A figure beside what is wanted of it, and the table that shows many."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table


@dataclass(frozen=True)
class Limit:
    """One figure; without ``at_most`` and ``at_least`` it only explains another."""

    figure: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def has_target(self) -> bool:
        """Whether anything is wanted of it."""
        return self.at_most is not None or self.at_least is not None

    @property
    def is_met(self) -> bool:
        """Whether it is what is wanted; one of which nothing is wanted always is."""
        low = -float("inf") if self.at_least is None else self.at_least
        high = float("inf") if self.at_most is None else self.at_most
        return low <= self.value <= high

    @property
    def target(self) -> str:
        """What is wanted, for people."""
        if self.at_least is not None and self.at_most is not None:
            return f"{self.at_least:g} to {self.at_most:g}"
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return "" if self.at_least is None else f">= {self.at_least:g}"


def limits_table(limits: Sequence[Limit], title: str) -> Table:
    """For the terminal."""
    table = Table(title=title)
    for heading in ("", "measured", "target", ""):
        table.add_column(heading, justify="left" if heading == "" else "right")
    for limit in limits:
        verdict = "" if not limit.has_target else "met" if limit.is_met else "[bold]missed[/bold]"
        table.add_row(limit.figure, f"{limit.value:,.4g} {limit.unit}".strip(), limit.target, verdict)
    return table
