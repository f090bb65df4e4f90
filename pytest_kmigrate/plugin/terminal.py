"""The terminal beside pytest's own lines: what pytest writes is never overwritten, and progress never stands in it.

On a terminal the present state is a few rows that are painted anew; elsewhere it is a line now and then.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import pytest

TERMINAL = "kmigrate-terminal"
"""The name it is registered under with pytest."""

_NARROWEST = 20
_MID_LINE = -2
"""What pytest's reporter keeps as ``currentfspath`` where its cursor stands behind something it wrote."""


class Showing(Protocol):
    """Where the progress of one test is shown at a time."""

    @property
    def is_tty(self) -> bool:
        """Whether the present state is painted anew, instead of a line for each."""
        ...

    def line(self, text: str) -> None:
        """Show a line that stays."""
        ...

    def status(self, text: str) -> None:
        """Show the present state."""
        ...

    def ended(self) -> None:
        """Nothing is under way any more."""
        ...


class Terminal:
    """Where progress goes, past pytest's capturing: standard output as it was before the capturing began.

    Safe to call from any thread; what comes while pytest writes is shown afterwards.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.is_silent = False
        self.is_plain = not os.isatty(descriptor) or os.environ.get("TERM") == "dumb"
        """Nothing can be painted there, or tests write there as well."""
        self._lock = threading.RLock()
        self._rows: Sequence[str] = ()
        self._painted = 0
        self._has_begun = False
        self._in_the_way = 0
        self._waiting: list[str] = []

    @property
    def is_tty(self) -> bool:
        """Whether the present state is painted."""
        return not self.is_plain

    def line(self, text: str) -> None:
        """Write a line that stays."""
        with self._lock:
            if self._in_the_way:
                self._waiting.append(text)
                return
            if not self.is_tty:
                self._write(f"  {text}\n")
                return
            self._write(f"{self._erased()}{_clipped(text, self._width())}{_newline(self._painted)}")
            self._paint(self._rows if self._painted else ())

    def rows(self, rows: Sequence[str]) -> None:
        """Show these rows as the present state, instead of the last ones; a line each where nothing can be painted."""
        with self._lock:
            self._rows = rows
            if not self.is_tty:
                for row in rows:
                    self.line(row)
            elif not self._in_the_way and (rows or self._painted):
                self._write(self._erased())
                self._paint(rows)

    def status(self, text: str) -> None:
        """Show the present state of the only test that is under way."""
        self.rows([text])

    @contextmanager
    def given_way(self, reporter: pytest.TerminalReporter | None, nodeid: str) -> Iterator[None]:
        """Let pytest write about a test while the block runs, on a line of its own if progress has broken its line."""
        with self._lock:
            was_broken = self._leave()
            self._in_the_way += 1
        try:
            if was_broken and reporter is not None and not self.is_silent:
                _begin_line(reporter, nodeid)
            yield
        finally:
            self._come_back()

    def interrupted(self) -> None:
        """Stop painting where the cursor is: a debugger prompts below. ``resumed`` ends it."""
        with self._lock:
            self._in_the_way += 1
            self._painted, self._has_begun = 0, False

    def resumed(self) -> None:
        """Go on after ``interrupted``, with the name of the test before its result."""
        self._has_begun = True
        self._come_back()

    def ended(self) -> None:
        """Take the rows away; nothing is under way any more."""
        with self._lock:
            self._rows = ()
            if self._painted:
                self._write(self._erased() + "\x1b[1A")
                self._painted = 0

    def _come_back(self) -> None:
        with self._lock:
            self._in_the_way -= 1
            if not self._in_the_way:
                waiting, self._waiting = self._waiting, []
                for text in waiting:
                    self.line(text)

    def _leave(self) -> bool:
        """Take the rows away, so that pytest's next line begins where they were; whether there was anything of ours."""
        had_begun, self._has_begun = self._has_begun, False
        if self._painted:
            self._write(self._erased() + "\x1b[1A")
            self._painted, self._has_begun = 0, False
        return had_begun

    def _erased(self) -> str:
        """What to write to stand at the beginning of an empty line, with the painted rows gone."""
        if not self._painted:
            return "\n"
        up = f"\x1b[{self._painted - 1}A" if self._painted > 1 else ""
        return f"{up}\r\x1b[J"

    def _paint(self, rows: Sequence[str]) -> None:
        self._painted = len(rows)
        self._write("\n".join(_clipped(row, self._width()) for row in rows))

    def _width(self) -> int:
        try:
            return max(_NARROWEST, os.get_terminal_size(self._descriptor).columns)
        except OSError:
            return 80

    def _write(self, text: str) -> None:
        if self.is_silent or not text:
            return
        if not self.is_tty and not self._has_begun:
            text = f"\n{text}"
        self._has_begun = True
        os.write(self._descriptor, text.encode())


def _newline(painted: int) -> str:
    """Rows that were below a line are below it again."""
    return "\n" if painted else ""


def _clipped(text: str, width: int) -> str:
    """As much as fits into one row; a row that wraps would be two, of which only one is taken away."""
    return text if len(text) < width else f"{text[: width - 2]}\N{HORIZONTAL ELLIPSIS}"


def _begin_line(reporter: pytest.TerminalReporter, nodeid: str) -> None:
    """Let pytest's reporter begin a line of its own, with the name of the test or its file as always."""
    if reporter.showlongtestinfo or not reporter.showfspath:
        reporter.currentfspath = _MID_LINE
        if not reporter.showlongtestinfo:  # dots of pytest-xdist, which have no name before them
            reporter.ensure_newline()
        return
    reporter.currentfspath = None
    reporter.write_fspath_result(nodeid, "")
