"""Commands about this machine: ``doctor``, ``docs`` and ``fetch``."""

from pathlib import Path
from typing import Annotated

import typer


def doctor(
    *,
    cure: Annotated[bool, typer.Option("--cure", help="Install what is missing (Debian or Ubuntu, as root).")] = False,
) -> None:
    """Check that this machine has what a run needs, and print the command for whatever is missing."""
    from pytest_kmigrate.cli.console import notify, say, show
    from pytest_kmigrate.machine import doctor as examining
    from pytest_kmigrate.model.exit_status import ExitStatus

    findings = examining.cure(notify) if cure else examining.examine()
    show(("what", "", "found"), [(each.name, "ok" if each.ok else "LACKING", each.found) for each in findings])
    for finding in findings:
        if not finding.ok:
            say(f"{finding.name}: {finding.cure}")
    lacking = [finding.name for finding in findings if not finding.ok]
    if lacking:
        notify(f"this machine lacks: {', '.join(lacking)}; the command for each is above")
        raise typer.Exit(ExitStatus.LACKING)


def docs() -> None:
    """Print the folder of the documentation of this version."""
    from pytest_kmigrate.cli.console import say
    from pytest_kmigrate.machine.pages import folder_of_docs

    say(str(folder_of_docs()))


def fetch(
    version: Annotated[str, typer.Argument(help="A release of Apache Kafka, such as 3.9.1.", metavar="VERSION")],
    to: Annotated[Path, typer.Option("--to", help="A new or empty folder.", metavar="DIR")],
) -> None:
    """Download a release, the agents and a Toxiproxy into a folder that works without a network."""
    from pytest_kmigrate.cli.console import notify
    from pytest_kmigrate.distributions import fetch as fetching

    fetching.fetch(version, to, notify)
