"""What one part of the benchmarks reports: figures with targets, tables of what was measured, and what was not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.table import Table

from tests.bench.provider.limits import Limit, limits_table

Row = Mapping[str, str | float | int | bool | None]


@dataclass(frozen=True)
class Chapter:
    """One part; the rows of a table have the same keys, which are its headings."""

    title: str
    limits: Sequence[Limit] = ()
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    not_measured: Sequence[str] = ()
    """What this machine lacks for the rest, in sentences."""

    def show(self, console: Console) -> None:
        """Print it, as Markdown, so that it can be published as it is."""
        if self.limits:
            table = limits_table(self.limits, self.title)
            table.box = box.MARKDOWN
            console.print(table)
        for title, rows in self.tables.items():
            console.print(_table(title, rows))
        for sentence in self.not_measured:
            console.print(f"{self.title}: not measured: {sentence}", markup=False)


def _table(title: str, rows: Sequence[Row]) -> Table:
    table = Table(title=title, box=box.MARKDOWN)
    for heading in rows[0] if rows else ():
        table.add_column(heading, justify="right" if isinstance(rows[0][heading], int | float) else "left")
    for row in rows:
        table.add_row(*[_shown(value) for value in row.values()])
    return table


def _shown(value: str | float | bool | None) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"
