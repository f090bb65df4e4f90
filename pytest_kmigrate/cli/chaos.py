"""``kmigrate chaos``: draws nights of schedules, and shrinks what came out red."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pytest_kmigrate.campaigns.acts import Acted
    from pytest_kmigrate.campaigns.drawing import Drawn
    from pytest_kmigrate.campaigns.reds import Red
    from pytest_kmigrate.faults.schedules.space import Space

app = typer.Typer(help="Draw nights of schedules, and shrink what came out red.", no_args_is_help=True)

_LARGEST_SEED = 10**18 - 1
_MOST_HOURS = 10_000
"""Of runs one by one; half a million lines, which take half an hour to draw."""


@app.command()
def draw(
    out: Annotated[Path, typer.Option("--out", help="The file of the night.", metavar="FILE")],
    *,
    profile: Annotated[str, typer.Option(help="The document.", metavar="PROFILE")] = "kip-866",
    hours: Annotated[float, typer.Option(help="How long the night is.", min=0.01, max=1000, metavar="HOURS")] = 10.0,
    cores: Annotated[int, typer.Option(help="How many runs go side by side.", min=1, max=1000, metavar="N")] = 2,
    tables: Annotated[
        Path | None, typer.Option(help="The tables of a report on earlier nights: they steer this one.", metavar="DIR")
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Another seed draws another night.", min=0, max=_LARGEST_SEED, metavar="N")
    ] = 1,
    provider: Annotated[str, typer.Option(help="What starts the clusters.", metavar="PROVIDER")] = "process",
    force: Annotated[bool, typer.Option("--force", help="Replace a night that is there.")] = False,
) -> None:
    """Draw the schedules of a night: every cell once, pairs of effects, then what narrows most a second."""
    from pytest_kmigrate.campaigns.acts import acted, shortest_s
    from pytest_kmigrate.campaigns.drawing import drawn
    from pytest_kmigrate.campaigns.knowledge import known_from
    from pytest_kmigrate.campaigns.reaching import new_to, reached_from
    from pytest_kmigrate.campaigns.steering import NOTHING_KNOWN
    from pytest_kmigrate.faults.schedules.header import header_of
    from pytest_kmigrate.faults.schedules.schedule import lines_of
    from pytest_kmigrate.faults.schedules.space_file import space_of
    from pytest_kmigrate.model.errors import WrongUseError
    from pytest_kmigrate.providers.choosing import STARTING, provider_named
    from pytest_kmigrate.recording.sources import harness_digest
    from pytest_kmigrate.running.carrying_out import walkable

    if provider not in STARTING:
        raise WrongUseError(f"--provider: expected one that starts clusters ({', '.join(STARTING)}); got {provider!r}")
    _require_night(out, hours, cores, force=force)
    there = walkable(profile)
    space = space_of(there, provider_named(provider, lambda _: None).capabilities)
    known, digest = known_from(tables, profile) if tables is not None else (NOTHING_KNOWN, None)
    night: Drawn | Acted
    if space.acts:
        night = acted(space, seed=seed, seconds=hours * 3600 * cores)
    else:
        new = new_to(reached_from(tables, profile) if tables is not None else [])
        night = drawn(space, there, seed=seed, hours=hours, side_by_side=cores, known=known, new_to=new)
    if not night.schedules:
        least = shortest_s(space) / 3600 / cores
        raise WrongUseError(f"--hours: expected time for one schedule, which takes {least:.3f}; got {hours:g}")
    header = header_of(
        night.schedules, document=profile, seed=seed, space=space.digest, tables=digest, harness=harness_digest()
    )
    _write(out, lines_of(night.schedules, header))
    _report(out, space, night, cores)


@app.command()
def shrink(
    run: Annotated[
        Path,
        typer.Argument(help="A run folder that is red, or a folder of them: each new red in it.", metavar="RUN|RUNS"),
    ],
    *,
    runs: Annotated[int, typer.Option(help="How many runs one red may take.", min=1, max=1000, metavar="N")] = 20,
    signature: Annotated[
        str | None, typer.Option(help="Of several things that a run violates the one to look for.", metavar="NAME")
    ] = None,
    hours: Annotated[float, typer.Option(help="No red is begun after so long.", min=0, max=1000, metavar="HOURS")] = 24,
    out: Annotated[Path | None, typer.Option(help="The file of what is left.", metavar="FILE")] = None,
    work: Annotated[Path | None, typer.Option(help="Where its runs go (default: beside RUN).", metavar="DIR")] = None,
) -> None:
    """Find the smallest schedule that shows a red: replays first, then less and less of it.

    Called again, it takes over the runs that it finished before.
    """
    import time

    from pytest_kmigrate.campaigns.reds import red_of
    from pytest_kmigrate.checkers.evidence.wording import counted
    from pytest_kmigrate.cli.console import say

    if out is not None:
        _require_place(out)
    _require_folders(run, work)
    until = time.monotonic() + hours * 3600
    is_one = (run / "run.json").is_file()
    found = [red_of(run)] if is_one else _new_reds(run, signature)
    lines = []
    for red in found:
        if time.monotonic() >= until:
            say(f"{red.run.name}: not shrunk, as the time is over: {red.names[0]}")
            continue
        beside = red.run.parent if is_one else run
        lines.append(_shrunk(red, signature, runs, work or beside / f"{red.run.name}-shrunk"))
    if out is not None and lines:
        _write(out, "".join(f"{each}\n" for each in lines))
        say(f"{out}: {counted(len(lines), 'schedule')}")


def _new_reds(folder: Path, signature: str | None) -> "list[Red]":
    """Each new red below a folder; what could not be judged is named, so that none of it passes for free of reds.

    WrongUseError if no run violates what is asked for, before hours go to others.
    """
    from pytest_kmigrate.campaigns.reds import new_reds
    from pytest_kmigrate.checkers.evidence.wording import counted
    from pytest_kmigrate.cli.console import notify, say
    from pytest_kmigrate.model.errors import WrongUseError

    left_out: list[str] = []
    found = list(new_reds(folder, left_out, signature))
    for sentence in left_out:
        notify(sentence)
    if signature and not found:
        raise WrongUseError(
            f"--signature: expected what a run below {folder} violates; got {signature}: leave it out for all new ones"
        )
    if not found:
        judged = f", and {counted(len(left_out), 'run')} could not be judged" if left_out else ""
        say(f"{folder}: no run of a schedule violates anything new{judged}")
    return found


def _require_folders(run: Path, work: Path | None) -> None:
    from pytest_kmigrate.campaigns.reds import has_runs
    from pytest_kmigrate.model.errors import WrongUseError

    if work is not None and work.exists() and not work.is_dir():
        raise WrongUseError(f"--work {work}: expected a folder, or none yet; got a file")
    if not run.is_dir() or not has_runs(run):
        got = "no run in it" if run.is_dir() else "none"
        raise WrongUseError(f"{run}: expected a run folder, or a folder of runs; got {got}")


def _require_night(out: Path, hours: float, cores: int, *, force: bool) -> None:
    """Refuse to replace a night, and one that would be drawn for days."""
    from pytest_kmigrate.model.errors import WrongUseError

    _require_place(out)
    if out.is_file() and not force:
        raise WrongUseError(
            f"--out {out}: expected no file there, got one: give --force to replace it, or another name"
        )
    if hours * cores > _MOST_HOURS:
        raise WrongUseError(
            f"--hours, --cores: expected {_MOST_HOURS} hours of runs at most, one by one; got {hours * cores:g}: "
            "draw several nights, each with its own --seed"
        )


def _require_place(out: Path) -> None:
    """Refuse a file that could not be written, before hours are spent on what it should hold."""
    from pytest_kmigrate.model.errors import WrongUseError
    from pytest_kmigrate.recording.writing import require_writable

    try:
        if out.is_dir() or not out.parent.is_dir():
            got = "a folder" if out.is_dir() else f"no folder {out.parent}"
            raise WrongUseError(f"--out {out}: expected a file in a folder that is there; got {got}")
        if _is_replaced(out):
            require_writable(out)
    except OSError as error:
        raise WrongUseError(f"--out {out}: it cannot be written: {error.strerror}; name another file") from error


def _write(out: Path, text: str) -> None:
    """Write the whole file or nothing; into what is no file, such as /dev/stdout, as it comes."""
    from pytest_kmigrate.model.errors import EnvironmentLackError
    from pytest_kmigrate.recording.writing import replace_text

    if _is_replaced(out):
        replace_text(out.resolve(), text)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EnvironmentLackError(f"--out {out}: it cannot be written: {error.strerror}; name another file") from error


def _is_replaced(out: Path) -> bool:
    return out.is_file() or not out.exists()


def _shrunk(red: "Red", signature: str | None, runs: int, work: Path) -> str:
    """The line that is left of a red."""
    from pytest_kmigrate.campaigns.reds import can_be, shows
    from pytest_kmigrate.campaigns.shrinking import shrink as shrunk
    from pytest_kmigrate.campaigns.smaller import fewer_nodes
    from pytest_kmigrate.checkers.evidence.wording import counted
    from pytest_kmigrate.cli.console import notify, say
    from pytest_kmigrate.faults.schedules.schedule import line_of
    from pytest_kmigrate.model.errors import WrongUseError

    name = signature or red.names[0]
    if name not in red.names:
        raise WrongUseError(
            f"--signature: expected one of {', '.join(red.names)}, which {red.run} violates; got {name}"
        )
    say(f"{red.run.name}: {counted(len(red.schedule.happenings), 'happening')}, looking for {name}")
    found = shrunk(red.schedule, shows(red, name, work, notify), most_runs=runs, shorter=fewer_nodes, can_be=can_be)
    low, high = found.interval
    say(f"replays: {found.shown} of {found.replays} show it (p from {low:.2f} to {high:.2f})")
    if found.is_found:
        left = counted(len(found.schedule.happenings), "happening")
        say(f"left: {left}, {counted(found.runs, 'run')}{'' if found.is_whole else ', all granted'}")
    say(line_of(found.schedule))
    return line_of(found.schedule)


def _report(out: Path, space: "Space", night: "Drawn | Acted", cores: int) -> None:
    from pytest_kmigrate.campaigns.acts import Acted
    from pytest_kmigrate.checkers.evidence.wording import counted
    from pytest_kmigrate.cli.console import say

    lines = f"{out}: {counted(len(night.schedules), 'schedule')}"
    if isinstance(night, Acted):
        by_chance = len(night.schedules) - night.paired
        say(f"{lines}: {night.paired} of pairs of acts, {by_chance} by chance")
        say(f"pairs: {night.pairs} of {len(space.acts) ** 2}, an act after an act")
        say(f"expected: {night.seconds / 3600 / cores:.1f} h, {cores} side by side")
        return
    by_gain = len(night.schedules) - night.swept - night.paired
    say(f"{lines}: {night.swept} of the sweep, {night.paired} of pairs of effects, {by_gain} by gain")
    say(
        f"cells: {len(night.cells)} visited of {len(space.cells)} that can be; "
        f"{len(space.answers) - len(space.cells)} cannot"
    )
    say(f"expected: {night.seconds / 3600 / cores:.1f} h, {cores} side by side")
    for effect, why in space.left_out().items():
        say(f"left out: {effect}, as {why}")
