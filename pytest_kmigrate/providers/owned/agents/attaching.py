"""Loads Byteman into a running JVM and gives it rules, without a JVM of our own: HotSpot's attach protocol by hand.

The protocol (JDK, "Dynamic Attach Mechanism"): put an empty file ``.attach_pid<pid>`` into the JVM's folder ``/tmp``,
send SIGQUIT, and it opens a Unix socket ``.java_pid<pid>`` there which takes one command per connection.
"""

import socket
from collections.abc import Callable
from pathlib import Path

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.providers.owned.agents.rules import FAILED, rules_told
from pytest_kmigrate.providers.owned.network.addresses import BYTEMAN_PORT
from pytest_kmigrate.waiting import PATIENCE_S, until

_SCRIPT = "kmigrate"
_ANSWER_WITHIN_S = 30  # a JVM that stands still takes the connection and says nothing
_MOST_SHOWN = 800
_LOADED = ["0", "return", "code:", "0"]
"""The attach protocol did its part, and so did the agent."""


def listening_at(address: str) -> str:
    """The options by which Byteman takes rules at ``address``, whether it is loaded at the start or later."""
    return f"listener:true,address:{address},port:{BYTEMAN_PORT}"


def load_agent(pid: int, byteman: Path, address: str, quit_signal: Callable[[], None]) -> None:
    """Load Byteman into the JVM ``pid``; its listener then takes rules at ``address``."""
    answer = _attached(pid, quit_signal, ["load", "instrument", "false", f"{byteman}={listening_at(address)}"])
    if answer.split() != _LOADED:
        raise ClusterError(f"expected the JVM {pid} to load {byteman.name}; it answered {answer.strip()!r}")
    until(lambda: _listens(address), awaited=f"Byteman listening at {address}:{BYTEMAN_PORT}", within_s=PATIENCE_S)


def submit(address: str, script: str) -> None:
    """Give rules to the Byteman that listens at ``address``; ClusterError with its own words when it refuses."""
    answer = _told(address, _order("LOAD", script))
    refused = [outcome for outcome in listed(address, _SCRIPT).values() if outcome.startswith(FAILED)]
    if refused or any(word in answer for word in ("ERROR", "EXCEPTION")):
        reported = "; ".join(refused) or answer.strip()
        raise ClusterError(f"Byteman at {address} refuses the rules: {reported[:_MOST_SHOWN]}")


def listed(address: str, script: str) -> dict[str, str]:
    """What became of each rule of the script of this name in the Byteman that listens at ``address``."""
    return rules_told(_told(address, "LIST\n"), script)


def withdraw(address: str, script: str) -> None:
    """Take these rules back, and no others: a mutant's stay."""
    _told(address, _order("DELETE", script))


def _order(verb: str, script: str) -> str:
    return f"{verb}\nSCRIPT {_SCRIPT}\n{script}\nENDSCRIPT\nEND{verb}\n"


def _attached(pid: int, quit_signal: Callable[[], None], words: list[str]) -> str:
    folder, own = Path("/proc", str(pid), "root", "tmp"), _own_number(pid)
    door = folder / f".java_pid{own}"
    if not door.exists():
        knock = folder / f".attach_pid{own}"
        knock.touch()
        try:
            quit_signal()
            until(door.exists, awaited=f"the attach socket of JVM {pid}", within_s=PATIENCE_S, every_s=0.02)
        finally:
            knock.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_ANSWER_WITHIN_S)
        connection.connect(str(door))
        connection.sendall(b"".join(word.encode() + b"\0" for word in ["1", *words]))
        return _read_all(connection)


def _own_number(pid: int) -> str:
    """The number that a process has where it runs, in a container say."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return next(line.split()[-1] for line in status.splitlines() if line.startswith("NSpid:"))


def _told(address: str, text: str) -> str:
    with socket.create_connection((address, BYTEMAN_PORT), timeout=_ANSWER_WITHIN_S) as connection:
        connection.sendall(text.encode())
        connection.shutdown(socket.SHUT_WR)
        return _read_all(connection)


def _read_all(connection: socket.socket) -> str:
    return b"".join(iter(lambda: connection.recv(4096), b"")).decode(errors="replace")


def _listens(address: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((address, BYTEMAN_PORT)) == 0
