"""Discovery: which folders are runs, by what each is known, and what is told about those that are not."""

import os
import shutil
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.discovery import Discovery, FoundRun, discovered
from pytest_kmigrate.reports.storage import LocalStorage


def _run(folder: Path, *files: str) -> None:
    for name in ("run.json", *files):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")


def _discovered(runs: Path, out: Path) -> Discovery:
    return discovered(LocalStorage(runs), str(out))


def _only(runs: Path) -> FoundRun:
    (found,) = _discovered(runs, runs / "out").runs
    return found


def test_runs_are_found_at_any_depth_and_inside_them_nothing_is_sought(tmp_path: Path) -> None:
    """Nights of runs are fine; a run.json inside a run folder's own folders is not another run."""
    _run(tmp_path / "b", "manifest.json", "timeline.html")
    _run(tmp_path / "night" / "a")
    _run(tmp_path / "b" / "operations")

    found = _discovered(tmp_path, tmp_path / "out")

    assert [(run.folder, run.is_complete, run.timeline) for run in found.runs] == [
        ("b", True, "../b/timeline.html"),
        ("night/a", False, None),
    ]


def test_one_run_folder_may_be_given_itself(tmp_path: Path) -> None:
    """The folder of a single run is a folder of one run, with its files."""
    _run(tmp_path / "r", "logs/broker-0/server.log")

    (run,) = _discovered(tmp_path / "r", tmp_path).runs

    assert (run.folder, [run.path(file.path) for file in run.files]) == (".", ["logs/broker-0/server.log", "run.json"])


def test_strangers_are_listed_once_and_hidden_ones_and_the_output_left_alone(tmp_path: Path) -> None:
    """A tree without a run is one line, however deep; dot folders and the report's own folder are none."""
    _run(tmp_path / "r")
    _run(tmp_path / "out" / "tables")
    for name in ("notes/deep/deeper", ".cache", "night/empty"):
        (tmp_path / name).mkdir(parents=True)
    _run(tmp_path / "night" / "r")
    _run(tmp_path / "1/2/3/4/5")

    found = _discovered(tmp_path, tmp_path / "out")

    assert [run.folder for run in found.runs] == ["night/r", "r"]
    nothing = "not a run folder: it holds no run.json"
    assert found.strangers == (("1", nothing), ("night/empty", nothing), ("notes", nothing))


def test_runs_filed_too_deep_are_told(tmp_path: Path) -> None:
    """Beside a run, a folder at the deepest level that is looked at is told as not looked into."""
    _run(tmp_path / "1/2/3/r")
    (tmp_path / "1/2/3/deep/r").mkdir(parents=True)

    found = _discovered(tmp_path, tmp_path / "out")

    assert found.strangers == (("1/2/3/deep", "not looked into: runs are looked for 4 folders deep"),)


def test_a_path_that_spark_cannot_open_is_set_aside(tmp_path: Path) -> None:
    """A colon beside a bracket in the path would stop the whole reading; the other runs are read."""
    _run(tmp_path / "r")
    _run(tmp_path / "10:00 [x]")

    found = _discovered(tmp_path, tmp_path / "out")

    assert [run.folder for run in found.runs] == ["r"]
    assert found.strangers[0][0] == "10:00 [x]"


def test_a_link_that_leads_nowhere_is_no_file(tmp_path: Path) -> None:
    """What cannot be asked for its size is not there."""
    _run(tmp_path / "r")
    (tmp_path / "r" / "verdicts.jsonl").symlink_to(tmp_path / "gone")

    assert not _only(tmp_path).has("verdicts.jsonl")


def test_a_complete_run_is_known_by_its_manifest_wherever_it_lies(tmp_path: Path) -> None:
    """Copied, touched, with a log that grew: the same run. Another manifest, or a verdict more: another one."""
    _run(tmp_path / "a" / "r", "manifest.json", "verdicts.jsonl", "logs/broker-0/server.log")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    os.utime(tmp_path / "b" / "r" / "manifest.json", (1, 1))
    (tmp_path / "b" / "r" / "logs/broker-0/server.log").write_text("more")
    original, copy = _only(tmp_path / "a"), _only(tmp_path / "b")

    assert original.stamp != copy.stamp
    assert original.digest(b"{}") == copy.digest(b"{}") != original.digest(b"{ }")
    (tmp_path / "b" / "r" / "verdicts.jsonl").write_text("{} {}")
    assert _only(tmp_path / "b").digest(b"{}") != original.digest(b"{}")


def test_a_run_being_written_is_known_by_what_a_listing_tells(tmp_path: Path) -> None:
    """Without a manifest any file that grew makes it another state of the run; with one, a growing log does not."""
    _run(tmp_path / "r", "logs/broker-0/server.log")
    log, before = tmp_path / "r" / "logs/broker-0/server.log", _only(tmp_path)

    log.write_text("a line")

    grown = _only(tmp_path)
    assert grown.digest(None) == grown.stamp != before.stamp == before.digest(None)
    (tmp_path / "r" / "manifest.json").write_text("{}")
    complete = _only(tmp_path)
    log.write_text("another line")
    assert _only(tmp_path).stamp == complete.stamp != grown.stamp


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("absent", "expected a folder of runs, got nothing"),
        ("file", "expected a folder of runs, got a file"),
        ("empty", "expected at least one run folder (one with a run.json), got none at all"),
        ("other", "expected at least one run folder (one with a run.json), got only things"),
    ],
)
def test_wrong_use_is_told_before_spark_starts(tmp_path: Path, given: str, told: str) -> None:
    """Nothing, a file, an empty folder, a folder of other things: one sentence each with what to do."""
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other" / "things").mkdir(parents=True)

    with pytest.raises(WrongUseError) as caught:
        _discovered(tmp_path / given, tmp_path / "out")

    assert told in str(caught.value)
    assert "--kmigrate-runs" in str(caught.value)
