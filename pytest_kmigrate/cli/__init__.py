"""The console command ``kmigrate``.

It ends with an ``ExitStatus``. What a command needs is imported when it runs, so that ``--help`` is quick.
"""

import io
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from pytest_kmigrate.cli import (
    attaching,
    bugs,
    certificates,
    chaos,
    clusters,
    consumers,
    machine,
    registers,
    runs,
    topologies,
)
from pytest_kmigrate.model.errors import EnvironmentLackError, KmigrateError
from pytest_kmigrate.model.exit_status import ExitStatus
from pytest_kmigrate.model.extras import extras_named

_NOWHERE = "expected to be in a folder, got one that was removed meanwhile; change to another and try again"
"""What the system calls ``No such file or directory``, without a name."""

app = typer.Typer(
    help="Clusters to rehearse migrations from ZooKeeper to KRaft on, and verdicts from the runs of pytest-kmigrate.",
    epilog=(
        "Exit status: 0 done and nothing new, 1 a new violation, 2 wrong use, 3 inconclusive, "
        "4 the environment lacks something."
    ),
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        print(f"pytest-kmigrate {version('pytest-kmigrate')}")  # noqa: T201 - this is the command's own terminal
        raise typer.Exit


@app.callback()
def _common(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Options of the command as a whole."""


for _command in (
    machine.doctor,
    clusters.up,
    clusters.ps,
    clusters.logs,
    clusters.down,
    clusters.gc,
    attaching.attach,
    machine.fetch,
    machine.docs,
    bugs.bugs,
    runs.requirements,
    runs.judge,
    runs.analyze,
    runs.replay,
    certificates.certify,
    certificates.verify,
    certificates.compare,
    certificates.digest,
    registers.register,
):
    app.command()(_command)
app.add_typer(chaos.app, name="chaos")
app.add_typer(consumers.app, name="consumers")
app.add_typer(topologies.app, name="topology")


def main() -> None:
    """Run the console command; an error of ours is printed as its message and ends with its own status."""
    _take_any_terminal()
    try:
        with extras_named():
            app()
    except KmigrateError as error:
        _end(str(error), error.exit_status)
    except OSError as error:  # a full disk, a folder that may not be written
        is_nowhere = isinstance(error, FileNotFoundError) and error.filename is None
        _end(_NOWHERE if is_nowhere else str(error), EnvironmentLackError.exit_status)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is no violated requirement, which status 1 would say
        *_, last = traceback.extract_tb(error.__traceback__)
        reported = f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
        _end(f"{reported}: a defect of pytest-kmigrate; please report it with this command", KmigrateError.exit_status)
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            sys.exit(ExitStatus.UNREAD)  # typer says 1, which is a violation here
        if ended.code == ExitStatus.INTERRUPTED:
            _end("interrupted; the same command can be run again", ExitStatus.INTERRUPTED)
        raise


def _take_any_terminal() -> None:
    """A job that was started without standard output or error has none at all in Python.

    One that knows fewer characters than we use gets a question mark for each that it does not know.
    """
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as long as we run
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as above
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _end(reported: str, status: int) -> NoReturn:
    """The last words of a command; if they cannot be printed, the status remains."""
    from pytest_kmigrate.cli.console import plain_lines

    try:
        print(plain_lines(reported), file=sys.stderr)  # noqa: T201 - this is the command's own terminal
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # Python would try once more, and end with 120
    sys.exit(status)
