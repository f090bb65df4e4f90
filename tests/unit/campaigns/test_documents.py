"""Facts about the nights of each document that declares a space: what is drawn is read back, and visits everything."""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pytest_kmigrate.campaigns.acts import OF_A_LINE, acted
from pytest_kmigrate.campaigns.drawing import drawn
from pytest_kmigrate.cli import app
from pytest_kmigrate.faults.schedules.contradictions import contradictions
from pytest_kmigrate.faults.schedules.reading import read_night, schedule_of
from pytest_kmigrate.faults.schedules.schedule import data_of, line_of
from pytest_kmigrate.faults.schedules.space_file import space_of
from pytest_kmigrate.faults.schedules.spelling import Mistake
from pytest_kmigrate.model.errors import KmigrateError, WrongUseError
from pytest_kmigrate.running.carrying_out import walkable
from tests.unit.campaigns.cells import cells_of

ACTS = space_of(walkable("kip-125"))


@pytest.mark.parametrize("profile", ["kip-500", "kip-778"])
@pytest.mark.slow
def test_a_night_of_faults_sweeps_every_cell_and_is_read_back(profile: str) -> None:
    """Also where the document walks through no state: happenings begin in a cluster that serves."""
    there = walkable(profile)
    space = space_of(there)
    night = drawn(space, there, seed=5, hours=10, side_by_side=2)
    swept = night.schedules[: night.swept]
    visited = Counter(cell for each in swept for cell in cells_of(data_of(each)["happenings"]))
    assert visited.keys() == set(space.cells)
    assert len(night.schedules) > night.swept + night.paired > night.swept
    for each in night.schedules:
        mistakes: list[Mistake] = []
        again = schedule_of(line_of(each), cache(walkable), mistakes)
        assert mistakes == []
        assert again is not None
        assert again.digest == each.digest
        assert not list(contradictions(each, there))


def test_a_night_of_acts_has_every_act_after_every_act() -> None:
    """In not many more lines than there must be; what is left of the night is by chance."""
    night = acted(ACTS, seed=5, seconds=10 * 3600)
    pairs = {
        (str(one.fault), str(other.fault))
        for line in night.schedules[: night.paired]
        for one, other in pairwise(line.happenings)
    }
    assert pairs == {(one, other) for one in ACTS.acts for other in ACTS.acts}
    assert night.pairs == len(pairs)
    assert night.paired <= 1.5 * len(pairs) / (OF_A_LINE - 1)
    assert len(night.schedules) > night.paired


def test_a_night_of_acts_is_the_same_and_a_longer_one_begins_like_it() -> None:
    """Another seed draws another one."""
    short, long, other = (acted(ACTS, seed=seed, seconds=hours * 3600) for seed, hours in ((5, 1), (5, 3), (6, 1)))
    assert list(map(line_of, short.schedules)) == list(map(line_of, long.schedules[: len(short.schedules)]))
    assert {line_of(each) for each in short.schedules}.isdisjoint(map(line_of, other.schedules))


@pytest.mark.parametrize("profile", ["kip-500", "kip-778", "kip-125"])
@pytest.mark.slow
def test_the_command_draws_for_each_document(profile: str, tmp_path: Path) -> None:
    """What it writes is a night of that document."""
    file = tmp_path / "night.jsonl"
    result = CliRunner().invoke(app, ["chaos", "draw", "--profile", profile, "--hours", "1", "--out", str(file)])
    assert result.exit_code == 0, result.output
    night = read_night(file, cache(walkable))
    assert night.header["document"] == profile
    assert {each.document for each in night.schedules} == {profile}


@pytest.mark.parametrize("command", [["draw"], ["shrink", "."]], ids=["draw", "shrink"])
def test_a_file_that_cannot_be_written_is_refused_before_hours_are_spent(command: list[str], tmp_path: Path) -> None:
    """A folder, or a file in none."""
    for out, got in ((tmp_path, "got a folder"), (tmp_path / "a" / "b", f"got no folder {tmp_path / 'a'}")):
        result = CliRunner().invoke(app, ["chaos", *command, "--out", str(out)])
        assert isinstance(result.exception, WrongUseError)
        assert str(result.exception) == f"--out {out}: expected a file in a folder that is there; {got}"


def test_a_file_is_no_folder_for_the_runs_of_a_shrink(tmp_path: Path) -> None:
    """It is refused before the red is judged."""
    (tmp_path / "work").touch()
    result = CliRunner().invoke(app, ["chaos", "shrink", str(tmp_path), "--work", str(tmp_path / "work")])
    assert isinstance(result.exception, WrongUseError)
    assert "work: expected a folder, or none yet; got a file" in str(result.exception)


def _refused(*words: str) -> str:
    result = CliRunner().invoke(app, ["chaos", *words])
    assert isinstance(result.exception, KmigrateError), result.output
    return str(result.exception)


@pytest.mark.slow
def test_a_night_that_is_there_is_kept(tmp_path: Path) -> None:
    """Machines may be carrying it out; it is replaced as a whole, and nothing else is left."""
    file = tmp_path / "night.jsonl"
    file.write_text("mine")
    drawn = ("draw", "--profile", "kip-125", "--hours", "0.2", "--out", str(file))
    assert _refused(*drawn) == (
        f"--out {file}: expected no file there, got one: give --force to replace it, or another name"
    )
    assert file.read_text() == "mine"
    assert CliRunner().invoke(app, ["chaos", *drawn, "--force"]).exit_code == 0
    assert read_night(file, cache(walkable)).schedules
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("command", [["draw"], ["shrink", "."]], ids=["draw", "shrink"])
def test_a_file_that_no_disk_takes_is_named_before_hours_are_spent(command: list[str], tmp_path: Path) -> None:
    """With the option that it came by."""
    out = tmp_path / ("a" * 300)
    assert _refused(*command, "--out", str(out)) == (
        f"--out {out}: it cannot be written: File name too long; name another file"
    )


def test_a_disk_that_is_full_is_named_with_the_file() -> None:
    """What is no file of a disk is written as it comes."""
    assert _refused("draw", "--profile", "kip-125", "--hours", "0.2", "--out", "/dev/full") == (
        "--out /dev/full: it cannot be written: No space left on device; name another file"
    )
    result = CliRunner().invoke(app, ["chaos", "draw", "--profile", "kip-125", "--hours", "0.2", "--out", "/dev/null"])
    assert result.exit_code == 0


def test_a_night_too_short_or_too_long_is_refused_with_what_can_be(tmp_path: Path) -> None:
    """Half a million lines take half an hour to draw."""
    to = ("--profile", "kip-125", "--out", str(tmp_path / "night.jsonl"))
    short = _refused("draw", "--hours", "0.01", "--cores", "1", *to)
    assert re.fullmatch(r"--hours: expected time for one schedule, which takes 0\.\d+; got 0\.01", short)
    assert "expected 10000 hours of runs at most, one by one; got 1e+06: draw several nights" in (
        _refused("draw", "--hours", "1000", "--cores", "1000", *to)
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("provider", ["attach", "fake", "x"])
def test_a_provider_that_starts_no_clusters_is_refused_with_those_that_do(provider: str, tmp_path: Path) -> None:
    """Not first with one that is refused next."""
    assert _refused("draw", "--provider", provider, "--out", str(tmp_path / "night.jsonl")) == (
        f"--provider: expected one that starts clusters (process, docker); got '{provider}'"
    )


def test_a_folder_without_runs_is_no_night_without_reds(tmp_path: Path) -> None:
    """Nor is one whose runs cannot be judged."""
    assert _refused("shrink", str(tmp_path)) == (
        f"{tmp_path}: expected a run folder, or a folder of runs; got no run in it"
    )
    (tmp_path / "shard" / "run").mkdir(parents=True)
    (tmp_path / "shard" / "run" / "run.json").touch()
    result = CliRunner().invoke(app, ["chaos", "shrink", str(tmp_path)])
    assert result.exit_code == 0
    assert f"left out, as it cannot be judged: {tmp_path / 'shard' / 'run' / 'run.json'}: line 1: " in result.output
    assert "no run of a schedule violates anything new, and 1 run could not be judged" in result.output
