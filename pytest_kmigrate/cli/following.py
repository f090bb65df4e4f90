"""Prints a growing log piece by piece, without secrets."""

import sys
from pathlib import Path
from typing import Self

from pytest_kmigrate.redaction import redacted


class LogPrinter:
    """One log on its way to standard output; only whole lines are printed, because a secret is found in a whole one."""

    def __init__(self, log: Path) -> None:
        self._file = log.open(encoding="utf-8", errors="replace")
        self._begun = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout.write(redacted(self._begun))
        self._file.close()

    def print_more(self) -> None:
        """Print the lines that came since the last time."""
        lines, newline, self._begun = (self._begun + self._file.read()).rpartition("\n")
        sys.stdout.write(redacted(lines + newline))
        sys.stdout.flush()
