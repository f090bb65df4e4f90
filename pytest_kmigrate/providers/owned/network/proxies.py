"""The process that all proxies of a cluster run in."""

import socket
from collections.abc import Callable
from pathlib import Path

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.waiting import PATIENCE_S, until

Start = Callable[[list[str], Path, Callable[[int], None]], object]
"""Starts a command whose output is appended to a log, and reports the exit code later."""


def start_toxiproxy(program: Path, at: tuple[str, int], logs: Path, recorder: Recorder, start: Start) -> None:
    """Start it and return when it listens; EnvironmentLackError when it ends at its start.

    Its end is recorded: the links are gone with it.
    """
    host, port = at
    ended: list[int] = []
    log = logs / "toxiproxy" / "server.log"
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
