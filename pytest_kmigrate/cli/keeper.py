"""The process behind ``kmigrate up``: starts a cluster, and keeps it until ``kmigrate down``.

Run as ``python -m pytest_kmigrate.cli.keeper FD WISH``: a socket to the command that waits, and what it wants as JSON.
Until the cluster stands it ends with that command, by the signal of a Ctrl-C.
"""

import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.model.exit_status import ExitStatus
from pytest_kmigrate.providers.owned.supervisor import end_with_parent

if TYPE_CHECKING:
    from pytest_kmigrate.running.keeping import Notify
    from pytest_kmigrate.running.standing_up import Walker


def wish(topology: str, provider: str, kafka: str | None, profile: str, phase: str, logs: Path) -> str:
    """What a keeper is started with."""
    named = {"topology": topology, "provider": provider, "kafka": kafka, "profile": profile, "phase": phase}
    return json.dumps({**named, "logs": str(logs)})


def keep(to: socket.socket, wanted: dict[str, Any]) -> None:
    """Start the cluster that is wanted, report to the command that waits, and serve further commands."""
    from pytest_kmigrate.documents import document
    from pytest_kmigrate.providers.choosing import provider_named, topology_named
    from pytest_kmigrate.providers.owned.standing import keeper_file
    from pytest_kmigrate.running.keeping import Keeper, Line
    from pytest_kmigrate.running.standing_up import Goal, TellingRecorder, stand_up

    line, of, kafka = Line(to), document(wanted["profile"]), wanted["kafka"]
    recorder = TellingRecorder(line.notify)

    def stay(walker: "Walker") -> None:
        keeper = Keeper(keeper_file(Path(wanted["logs"])))
        recorder.on_loss = keeper.close
        line.end()
        to.close()
        _let_go()

        def obey(asked: dict[str, Any], notify: "Notify") -> None:
            recorder.report_to(notify)
            walker.walk_to(Goal(of, asked["phase"]))

        keeper.serve(obey)

    try:
        provider = provider_named(wanted["provider"], line.notify, kafka=kafka)
        topology = topology_named(provider, line.notify, wanted["topology"], kafka, "--kafka")
        stand_up(topology, provider, Path(wanted["logs"]), Goal(of, wanted["phase"]), recorder, stay)
    except KmigrateError as error:
        line.end(error)


def _let_go() -> None:
    """Live on without the command that started it, and without its terminal."""
    end_with_parent(None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)


if __name__ == "__main__":
    end_with_parent(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        keep(socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2]))
    except KeyboardInterrupt:
        sys.exit(ExitStatus.INTERRUPTED)
