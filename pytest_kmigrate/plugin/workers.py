"""Progress of the workers of pytest-xdist, which have no terminal: they send theirs to the process that has one.

Messages are datagrams of JSON to an abstract socket of Linux, which no file and no port is needed for: ``{"worker",
"test", "line"}`` or ``{"worker", "test", "status"}``. A worker on another machine shows nothing.
"""

import json
import os
import secrets
import socket
import threading
import time
from contextlib import closing, suppress

from pytest_kmigrate.plugin.terminal import Terminal

_LARGEST = 65536
_OVER = b"{}"
_WRITTEN_EVERY_S = 10.0


class Desk:
    """The end with the terminal: shows a row for each worker, and their lines with the worker before them."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.address = f"kmigrate-{os.getpid()}-{secrets.token_hex(4)}"
        self._socket.bind(f"\0{self.address}")
        self._rows: dict[str, str] = {}
        self._written: dict[str, float] = {}
        self._thread = threading.Thread(target=self._listen, name="progress of workers", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as own:
            own.sendto(_OVER, f"\0{self.address}")
        self._thread.join()
        self._socket.close()
        self._terminal.ended()

    def _listen(self) -> None:
        while (message := self._socket.recv(_LARGEST)) != _OVER:
            self._show(json.loads(message))

    def _show(self, message: dict[str, str]) -> None:
        worker = message["worker"]
        place = f"[{worker}] {message['test']}"
        if "line" in message:
            self._terminal.line(f"{place}  {message['line'].strip()}")
            return
        self._rows.pop(worker, None)
        if message["status"]:
            self._rows[worker] = f"{place}  {message['status'].strip()}"
        if self._terminal.is_tty:
            self._terminal.rows([self._rows[each] for each in sorted(self._rows)])
        elif message["status"] and time.monotonic() - self._written.get(worker, 0) >= _WRITTEN_EVERY_S:
            self._written[worker] = time.monotonic()
            self._terminal.line(self._rows[worker])


class FarTerminal:
    """The terminal of a worker: what is to be shown is sent to the desk."""

    is_tty = True
    """Each state is sent: the desk knows how often to show it."""

    def __init__(self, address: str, worker: str) -> None:
        self._address = address
        self._worker = worker
        self._test = ""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Remember the name of the test that begins."""
        self._test = nodeid.rpartition("::")[2]

    def line(self, text: str) -> None:
        """Show a line that stays."""
        self._send("line", text)

    def status(self, text: str) -> None:
        """Show the present state of this worker."""
        self._send("status", text)

    def ended(self) -> None:
        """Nothing is under way any more."""
        self._send("status", "")

    def _send(self, what: str, text: str) -> None:
        message = json.dumps({"worker": self._worker, "test": self._test, what: text}).encode()
        with suppress(OSError), closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as own:
            own.sendto(message, f"\0{self._address}")
