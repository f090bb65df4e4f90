"""Tests that run once for each schedule of a file: their parameters, with the marks that follow from each line."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.model.errors import KmigrateError, WrongUseError
from pytest_kmigrate.plugin.handing_over import REFUSALS
from pytest_kmigrate.plugin.marks import PREFIX, nearest_mark
from pytest_kmigrate.plugin.options import options_of
from pytest_kmigrate.recording.sources import harness_digest

if TYPE_CHECKING:
    from pytest_kmigrate.faults.schedules.reading import Night
    from pytest_kmigrate.faults.schedules.schedule import Schedule

_USUALLY = "usually"
FIXTURE = "schedule"
"""The argument of a test that gets its schedule."""


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Have a test marked ``schedules`` run for each schedule; mistakes are refused when all tests are collected."""
    try:
        params = _params(metafunc)
    except KmigrateError as error:
        metafunc.config.stash.setdefault(REFUSALS, []).append(str(error))
        params = [pytest.param(None, id="refused")]
    if FIXTURE in metafunc.fixturenames:
        metafunc.parametrize(FIXTURE, params, indirect=False)


def _params(metafunc: pytest.Metafunc) -> list[object]:
    """A parameter for each schedule of this machine; KmigrateError for a wrong marker, and a file with mistakes."""
    mark = nearest_mark(metafunc.definition, "schedules")
    assert mark is not None, "called for tests that have it"
    options = options_of(metafunc.config)
    if (
        len(mark.args) != 1
        or not (mark.kwargs.keys() <= {_USUALLY} and isinstance(mark.kwargs.get(_USUALLY, 1), int))
        or not isinstance(mark.args[0], str)
        or FIXTURE not in metafunc.fixturenames
    ):
        raise WrongUseError(
            f"{metafunc.definition.nodeid}: marker {mark.name}: expected a file, and a test with the argument "
            f'{FIXTURE}: write @pytest.mark.{mark.name}("schedules.jsonl")'
        )
    path = options.schedules or metafunc.definition.path.parent / mark.args[0]
    night = _read(path)
    if options.schedules is not None or night.header:
        _refuse_none(path, night, options.profile)
    _refuse_shard(path, night, options.shard)
    first, machines = options.shard
    here = [each for each in night.schedules[first - 1 :: machines] if each.document == options.profile]
    usual = night.schedules[: mark.kwargs.get(_USUALLY, len(night.schedules))]
    return [_param(each, is_usual=each in usual) for each in here] or [_none_of(options.profile, path)]


def schedule_of(item: pytest.Item) -> "Schedule | None":
    """The schedule that a test carries out; None if it carries none out."""
    if nearest_mark(item, "schedules") is None:
        return None
    found: Schedule | None = getattr(getattr(item, "callspec", None), "params", {}).get(FIXTURE)
    return found


def night_of(item: pytest.Item) -> Mapping[str, object] | None:
    """Which line of which night a test carries out, and on which machine of how many; None for other files."""
    schedule, options = schedule_of(item), options_of(item.config)
    if schedule is None or options.schedules is None:
        return None
    from pytest_kmigrate.faults.schedules.header import SHRINKS, SIGNATURE, WITHOUT  # not at pytest's start

    night = _read(options.schedules)
    if not night.header:
        return None
    place, machines = options.shard
    return {
        "digest": night.header.get("digest"),
        "seed": night.header.get("seed"),
        "line": night.schedules.index(schedule) + 1,
        "lines": len(night.schedules),
        "shard": place,
        "shards": machines,
        SHRINKS: night.header.get(SHRINKS),
        SIGNATURE: night.header.get(SIGNATURE),
        WITHOUT: night.header.get(WITHOUT) or [],
    }


def of_another_harness(config: pytest.Config) -> list[str]:
    """A line about a night that another version of the harness has drawn: its tests are the same."""
    path = options_of(config).schedules
    if REFUSALS in config.stash:
        return []
    drawn_by = _read(path).header.get("harness") if path is not None else None
    if drawn_by in (None, harness_digest()):
        return []
    return [f"kmigrate: {path}: drawn by another version of the harness ({str(drawn_by)[:12]}); it runs by this one"]


def _param(schedule: "Schedule", *, is_usual: bool) -> object:
    """``is_usual``: it is carried out by day, too, where its test is."""
    marks = [getattr(pytest.mark, f"{PREFIX}topology")(schedule.topology)]
    if schedule.starts_at:
        marks.append(getattr(pytest.mark, f"{PREFIX}starts_at")(schedule.starts_at))
    if not is_usual:
        marks.append(getattr(pytest.mark, f"{PREFIX}nightly")())
    return pytest.param(schedule, marks=marks, id=schedule.name)


def _none_of(profile: str, path: Path) -> object:
    """A test whose own file is about another document, as of several suites that are called together."""
    return pytest.param(None, marks=pytest.mark.skip(reason=f"{path} has no schedule of {profile}"), id="none")


@cache
def _read(path: Path) -> "Night":
    from pytest_kmigrate.faults.schedules.reading import read_night  # not at pytest's start
    from pytest_kmigrate.running.carrying_out import walkable

    try:
        return read_night(path, walkable)
    except WrongUseError as error:
        raise WrongUseError(f"{error}{_drawn_by_another(path)}") from error


def _drawn_by_another(path: Path) -> str:
    """A line more about a night with mistakes, if another version drew it: that one may have known other rules."""
    from pytest_kmigrate.faults.schedules.header import header_in  # not at pytest's start
    from pytest_kmigrate.faults.schedules.lines import lines_in

    try:
        header, *_ = header_in(lines_in(path)[:1])
    except WrongUseError:
        return ""
    is_own = header.get("harness") in (None, harness_digest())
    return "" if is_own else f"\n{path}: another version of the harness drew it, by other rules: draw it anew"


def _refuse_none(path: Path, night: "Night", profile: str) -> None:
    documents = sorted({each.document for each in night.schedules})
    if profile not in documents or (night.header and documents != [profile]):
        raise WrongUseError(
            f"{path}: expected schedules of --kmigrate-profile {profile}; got some of {', '.join(documents)}: "
            "give the file's profile, and the suite of that document"
        )


def _refuse_shard(path: Path, night: "Night", shard: tuple[int, int]) -> None:
    if shard[1] > len(night.schedules):
        raise WrongUseError(
            f"--kmigrate-shard: expected at most {len(night.schedules)} machines, as {path} has so many lines; "
            f"got {shard[1]}"
        )
