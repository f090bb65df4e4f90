"""The command about clusters that somebody else runs: ``attach``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pytest_kmigrate.cli.runs import show_verdicts, status_of

if TYPE_CHECKING:
    from pytest_kmigrate.providers.attach.asking import Asked
    from pytest_kmigrate.providers.attach.file.loading import Site
    from pytest_kmigrate.providers.attach.provider import AttachProvider


def attach(
    file: Annotated[Path, typer.Argument(help="The file of its addresses.", metavar="FILE")],
    *,
    check: Annotated[bool, typer.Option("--check", help="Show what can be done with it; write nothing.")] = False,
    observe: Annotated[
        bool, typer.Option("--observe", help="Watch what an operator does until --until, and judge it.")
    ] = False,
    heal: Annotated[
        bool, typer.Option("--heal", help="Undo what runs did to it that were killed, and remove what they made.")
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

    chosen = [name for name, is_so in (("--check", check), ("--observe", observe), ("--heal", heal)) if is_so]
    if len(chosen) != 1:
        raise WrongUseError(f"attach: expected --check, --observe or --heal; got {' and '.join(chosen) or 'none'}")
    site = site_at(file)
    if heal:
        _heal(site)
    elif check:
        _show_left(site)
        _show(AttachProvider(site, notify, heals=False).asked)
    else:
        _observe(AttachProvider(site, notify), until, profile, runs)


def _heal(site: "Site") -> None:
    from pytest_kmigrate.cli.console import say
    from pytest_kmigrate.providers.attach.healing import heal_left

    if not heal_left(site, say):
        say(f"{site.path}: nothing to undo")


def _show_left(site: "Site") -> None:
    from pytest_kmigrate.cli.console import say
    from pytest_kmigrate.providers.attach.healing import left_behind

    if left := left_behind(site):
        acts = "; ".join(map(str, left))
        say(f"left by a run that was killed: {acts}. Undo it: kmigrate attach {site.path} --heal")


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
