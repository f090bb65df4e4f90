"""The process that all proxies of a cluster run in."""

import re
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.waiting import PATIENCE_S, until

Start = Callable[[list[str], Path, Callable[[int], None]], object]
"""Starts a command whose output is appended to a log, and reports the exit code later."""

_OF_A_CLIENT = re.compile(rb'"name":"([^"]+)".*"message":"(Accepted client|Unable to open connection to upstream)"')
_COUNTS = {b"Accepted client": 1, b"Unable to open connection to upstream": -1}
"""A client is accepted before the node behind the proxy is asked: one that is down makes no connection."""


class Accepted:
    """How many connections each proxy has made to its node, by Toxiproxy's log, read on from where it ended before."""

    def __init__(self, logs: Path) -> None:
        self._log = log_among(logs)
        self._read_to = 0
        self._counts = Counter[str]()
        self._reading = threading.Lock()

    def by(self, proxies: Iterable[str]) -> int:
        """So many of these proxies in all so far."""
        with self._reading:
            self._read_on()
            return sum(self._counts[each] for each in proxies)

    def _read_on(self) -> None:
        if not self._log.exists():
            return
        with self._log.open("rb") as log:
            log.seek(self._read_to)
            whole, _, _ = log.read().rpartition(b"\n")
        self._read_to += len(whole) + 1 if whole else 0
        for match in filter(None, map(_OF_A_CLIENT.search, whole.splitlines())):
            self._counts[match[1].decode()] += _COUNTS[match[2]]


def log_among(logs: Path) -> Path:
    """The log of Toxiproxy in the folder of all logs."""
    return logs / "toxiproxy" / "server.log"


def start_toxiproxy(program: Path, at: tuple[str, int], logs: Path, recorder: Recorder, start: Start) -> None:
    """Start it and return when it listens; EnvironmentLackError when it ends at its start.

    Its end is recorded: the links are gone with it.
    """
    host, port = at
    ended: list[int] = []
    log = log_among(logs)
    log.parent.mkdir(parents=True, exist_ok=True)

    def has_ended(code: int) -> None:
        ended.append(code)
        recorder.record(HarnessTrouble("the links' proxies are gone", f"exit code {code}", lost="links"))

    start([str(program), "-host", host, "-port", str(port)], log, has_ended)

    def abort() -> None:
        if ended:
            said = log.read_text()[-400:] if log.exists() else "(no log)"
            raise EnvironmentLackError(f"{program} ended with code {ended[0]} at its start: {said}")

    until(lambda: _listens(host, port), awaited="Toxiproxy listening", within_s=PATIENCE_S, every_s=0.01, abort=abort)


def _listens(host: str, port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0
