"""The command about clusters that somebody else runs: ``attach``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pytest_kmigrate.cli.runs import show_verdicts, status_of

if TYPE_CHECKING:
    from pytest_kmigrate.providers.attach.asking import Asked
    from pytest_kmigrate.providers.attach.provider import AttachProvider


def attach(
    file: Annotated[Path, typer.Argument(help="The file of its addresses.", metavar="FILE")],
    *,
    check: Annotated[bool, typer.Option("--check", help="Show what can be done with it; write nothing.")] = False,
    observe: Annotated[
        bool, typer.Option("--observe", help="Watch what an operator does until --until, and judge it.")
    ] = False,
    until: Annotated[str, typer.Option(help="The phase that ends it.", metavar="PHASE")] = "finalized",
    profile: Annotated[str, typer.Option(help="The document.", metavar="PROFILE")] = "kip-866",
    runs: Annotated[Path, typer.Option(help="Where the run folder goes.", metavar="DIR")] = Path("reports/runs"),
) -> None:
    """Look at a cluster that stands already and that somebody else runs."""
    from pytest_kmigrate.cli.console import notify
    from pytest_kmigrate.model.errors import WrongUseError
    from pytest_kmigrate.providers.attach.file.loading import site_at
    from pytest_kmigrate.providers.attach.provider import AttachProvider

    if check == observe:
        raise WrongUseError(f"attach: expected --check or --observe; got {'both' if check else 'neither'}")
    provider = AttachProvider(site_at(file), notify)
    if check:
        _show(provider.asked)
    else:
        _observe(provider, until, profile, runs)


def _observe(provider: "AttachProvider", until: str, profile: str, runs: Path) -> None:
    from pytest_kmigrate.cli.console import notify, say
    from pytest_kmigrate.judging.rejudge import judge_again
    from pytest_kmigrate.reports.one_run.run_reports import write_run_reports
    from pytest_kmigrate.running.header import RunSettings
    from pytest_kmigrate.running.observing import Observation, observe

    site = provider.site
    words = ("kmigrate", "attach", str(site.path), "--observe", "--until", until, "--profile", profile)
    observation = Observation(profile, until.upper(), words)
    settings = RunSettings(runs, seed=0, profile=profile, command=words)
    folder = observe(settings, provider, site.topology, observation, write_run_reports, notify)
    again = judge_again(folder.path)
    show_verdicts(again)
    say(f"run folder: {folder.path}")
    raise typer.Exit(status_of([again]))


def _show(asked: "Asked") -> None:
    from pytest_kmigrate.cli.console import show

    words = {True: "yes", False: "no", None: ""}
    show(("", "", "why"), [(each.name, words[each.is_offered], each.why) for each in asked.answers])
