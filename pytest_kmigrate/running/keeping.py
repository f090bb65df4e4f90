"""The keeper of a cluster that stands: the process that ``kmigrate up`` leaves behind, and how commands reach it.

It holds the cluster and the driver that walked it, so a later command goes on where the last one ended. Orders come by
a socket in the cluster's log folder, one connection each: a line of JSON. Lines of progress are answered, and last
how it ended.
"""

import json
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from pytest_kmigrate.model.errors import HarnessLostError, KmigrateError

Notify = Callable[[str], None]
_WAITING = 8
"""Connections that wait while an order is carried out."""


class Line:
    """One connection's other end: takes lines of progress, and the end."""

    def __init__(self, to: socket.socket) -> None:
        self._to = to

    def notify(self, text: str) -> None:
        """A line of progress; a user who does not listen any more gets none."""
        self._send({"line": text})

    def end(self, error: KmigrateError | None = None) -> None:
        """How it ended."""
        self._send({"end": str(error or ""), "status": error.exit_status if error else 0})

    def _send(self, said: dict[str, Any]) -> None:
        with suppress(OSError):
            self._to.sendall(json.dumps(said).encode() + b"\n")


class Keeper:
    """Waits for orders at a socket until it is closed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._listening = socket.socket(socket.AF_UNIX)
        with _short(file) as name:
            self._listening.bind(name)
        file.chmod(0o600)
        self._listening.listen(_WAITING)

    def serve(self, obey: Callable[[dict[str, Any], Notify], None]) -> None:
        """Carry out one order after the other; return when it is closed. A KmigrateError is the user's to read."""
        while (connection := self._next()) is not None:
            with connection, connection.makefile() as lines:
                line, order = Line(connection), lines.readline()
                try:
                    if order:
                        obey(json.loads(order), line.notify)
                except KmigrateError as error:
                    line.end(error)
                else:
                    line.end()
        self._listening.close()
        self._file.unlink(missing_ok=True)

    def close(self) -> None:
        """End ``serve``, from any thread."""
        with suppress(OSError):  # it is closed already
            self._listening.shutdown(socket.SHUT_RDWR)

    def _next(self) -> socket.socket | None:
        try:
            return self._listening.accept()[0]
        except OSError:
            return None


def order(file: Path, content: dict[str, Any], notify: Notify) -> None:
    """Have the keeper at a socket carry out an order; its errors are raised here."""
    with closing(socket.socket(socket.AF_UNIX)) as connection:
        try:
            with _short(file) as name:
                connection.connect(name)
            connection.sendall(json.dumps(content).encode() + b"\n")
        except OSError as error:
            raise HarnessLostError(f"{file}: expected the keeper of this cluster to answer; got {error}") from error
        with connection.makefile() as lines:
            relay(lines, notify)


def relay(lines: Iterable[str], notify: Notify) -> None:
    """Pass lines of progress on until the end; the error that it names is raised, with its exit status."""
    for each in lines:
        said = json.loads(each)
        if "line" in said:
            notify(said["line"])
        elif said["status"]:
            error = KmigrateError(said["end"])
            error.exit_status = said["status"]
            raise error
        else:
            return
    raise HarnessLostError("the keeper of this cluster has ended, and the cluster with it")


@contextmanager
def _short(file: Path) -> Iterator[str]:
    """A name of this file that the kernel takes for a socket, however long its folder's is."""
    folder = os.open(file.parent, os.O_PATH)
    try:
        yield f"/proc/self/fd/{folder}/{file.name}"
    finally:
        os.close(folder)
