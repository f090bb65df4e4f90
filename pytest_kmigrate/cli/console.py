"""The terminal of the console command: results on standard output, progress and errors on standard error."""

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

_WIDTH_OF_NO_TERMINAL = 160
COLOURS = {"CONFORMS": "green", "VIOLATES": "red", "INCONCLUSIVE": "yellow", "NOT_APPLICABLE": "dim"}


def say(text: str = "") -> None:
    """A line of the result, never broken: a path in it can be copied."""
    _console().print(_shown(text), soft_wrap=True)


def notify(text: str) -> None:
    """A line of progress, or a warning."""
    _console(to_stderr=True).print(_shown(text), soft_wrap=True)


def plain(text: str) -> str:
    """A text of others as one line: what would begin another, move the cursor or turn the writing is spelled out."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def plain_lines(text: str) -> str:
    """The same where lines are ours."""
    return "\n".join(map(plain, text.split("\n")))


def _shown(text: str, style: str = "") -> Text:
    return Text(plain_lines(text), style=style)


_LONGEST_NAME = 50
"""Characters of a first column that is never folded."""


def show(
    columns: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None, *, to_stderr: bool = False
) -> None:
    """A table; a cell that is the name of an outcome gets its colour."""
    listed = [list(row) for row in rows]
    heading = _shown(title, "italic") if title else None
    table = Table(*(Column(name, overflow="fold") for name in columns), title=heading, title_justify="left")
    # What names a row stays in one piece, so that it can be copied and searched for.
    longest = max((len(row[0]) for row in listed), default=0)
    table.columns[0].min_width = min(longest, _LONGEST_NAME)
    for row in listed:
        table.add_row(*(_shown(cell, COLOURS.get(cell, "")) for cell in row))
    _console(to_stderr=to_stderr).print(table)


class _Terminal(Console):
    """A console that lets the command decide what happens when its output is closed."""

    def on_broken_pipe(self) -> None:
        """Called by rich while it handles the error; its own way is to end with 1, which is a violation here."""
        raise  # noqa: PLE0704 - as said


def _console(*, to_stderr: bool = False) -> Console:
    stream = sys.stderr if to_stderr else sys.stdout
    return _Terminal(file=stream, width=None if stream.isatty() else _WIDTH_OF_NO_TERMINAL)
