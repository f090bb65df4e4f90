"""The command ``bugs``: which known defects a release has, and which of them another release still has."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kmigrate.catalogue import KnownBug

_HEADS = ("name", "severity", "what Kafka does", "what it costs", "fixed in")


def bugs(
    *,
    kafka: Annotated[str, typer.Option(help="The release that you run.", metavar="VERSION")],
    to: Annotated[str | None, typer.Option(help="A release that you might go to.", metavar="VERSION")] = None,
    profile: Annotated[str, typer.Option(help="The document.", metavar="PROFILE")] = "kip-866",
) -> None:
    """List the known defects of a release, what they cost and where they are fixed."""
    from pytest_kmigrate.catalogue import departures_of, profiles
    from pytest_kmigrate.cli.console import say, show
    from pytest_kmigrate.model.errors import WrongUseError

    if profile not in profiles():
        raise WrongUseError(f"--profile: expected one of {', '.join(profiles())}, got {profile!r}")
    for option, version in (("--kafka", kafka), ("--to", to)):
        _must_be_a_release(option, version)
    mine = _defects(departures_of(profile, kafka))
    theirs = {each.id for each in departures_of(profile, to)} if to else set()
    compared = [["yes" if each.id in theirs else "no"] if to else [] for each in mine]
    rows = [(*_row(each), *more) for each, more in zip(mine, compared, strict=True)]
    show((*_HEADS, *([f"in {to}"] if to else [])), rows)
    departures = len(departures_of(profile, kafka)) - len(mine)
    say(f"Kafka {kafka} by {profile}: {len(mine)} known defects, {departures} departures and remarks")
    if to:
        known = {each.id for each in mine}
        new = [each for each in _defects(departures_of(profile, to)) if each.id not in known]
        left = sum(each.id in theirs for each in mine)
        say(f"Kafka {to} still has {left} of them, and {len(new)} that {kafka} does not have")
        if new:
            show(_HEADS, map(_row, new))


def _must_be_a_release(option: str, version: str | None) -> None:
    from pytest_kmigrate.distributions.releases import known_releases
    from pytest_kmigrate.model.errors import WrongUseError

    if version is not None and version not in known_releases():
        raise WrongUseError(f"{option}: expected a release of Kafka ({', '.join(known_releases())}), got {version!r}")


def _defects(known: "Sequence[KnownBug]") -> "list[KnownBug]":
    return [each for each in known if each.class_ == "defect"]


def _row(bug: "KnownBug") -> tuple[str, str, str, str, str]:
    return bug.id, str(bug.severity), bug.symptom, bug.consequence, bug.fixed
