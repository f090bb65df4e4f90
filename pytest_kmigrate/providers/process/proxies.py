"""The process that all proxies of a cluster run in."""

import socket
from collections.abc import Callable
from pathlib import Path

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.providers.owned.surroundings import Supervised
from pytest_kmigrate.waiting import PATIENCE_S, until


def start_toxiproxy(
    program: Path, at: tuple[str, int], supervision: Supervised, cwd: Path, log: Path, on_exit: Callable[[int], None]
) -> None:
    """Start it and return when it listens; EnvironmentLackError when it ends at its start."""
    host, port = at
    ended: list[int] = []
    log.parent.mkdir(parents=True, exist_ok=True)

    def has_ended(code: int) -> None:
        ended.append(code)
        on_exit(code)

    command = [str(program), "-host", host, "-port", str(port)]
    supervision.spawn(command, cwd=cwd, log=log, on_exit=has_ended)

    def abort() -> None:
        if ended:
            raise EnvironmentLackError(f"{program} ended with code {ended[0]} at its start: {log.read_text()[-400:]}")

    until(lambda: _listens(host, port), awaited="Toxiproxy listening", within_s=PATIENCE_S, every_s=0.01, abort=abort)


def _listens(host: str, port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0
