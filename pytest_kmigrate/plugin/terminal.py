"""The terminal as it was before pytest began to capture."""

import os

TERMINAL = "kmigrate-terminal"
"""The name it is registered under with pytest."""


class Terminal:
    """Where progress goes, past pytest's capturing: standard output as it was before the capturing began."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.is_tty = os.isatty(descriptor)
        self.is_silent = False

    def line(self, text: str) -> None:
        """Write a line of its own."""
        self._write(f"\r\x1b[2K{text}\n" if self.is_tty else f"  {text}\n")

    def status(self, text: str) -> None:
        """Overwrite the present line on a terminal; write a line elsewhere."""
        if self.is_tty:
            self._write(f"\r\x1b[2K{text}")
        else:
            self.line(text)

    def _write(self, text: str) -> None:
        if not self.is_silent:
            os.write(self._descriptor, text.encode())
