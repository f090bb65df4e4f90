"""Discovery: which folders are runs, and what is told about those that are not."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.discovery import discovered


def _run(folder: Path, *files: str) -> None:
    folder.mkdir(parents=True)
    for name in ("run.json", *files):
        (folder / name).write_text("{}")


def test_runs_are_found_at_any_depth_and_inside_them_nothing_is_sought(tmp_path: Path) -> None:
    """Nights of runs are fine; a run.json inside a run folder's own folders is not another run."""
    _run(tmp_path / "b", "manifest.json", "timeline.html")
    _run(tmp_path / "night" / "a")
    _run(tmp_path / "b" / "allure-results")

    found = discovered(str(tmp_path), tmp_path / "out")

    assert [(run.folder, run.is_complete, run.timeline) for run in found.runs] == [
        ("b", True, "../b/timeline.html"),
        ("night/a", False, None),
    ]


def test_one_run_folder_may_be_given_itself(tmp_path: Path) -> None:
    """The folder of a single run is a folder of one run."""
    _run(tmp_path / "r")

    assert [run.folder for run in discovered(str(tmp_path / "r"), tmp_path).runs] == ["."]


def test_strangers_are_listed_once_and_hidden_ones_and_the_output_left_alone(tmp_path: Path) -> None:
    """A tree without a run is one line, however deep; dot folders and the report's own folder are none."""
    _run(tmp_path / "r")
    for name in ("notes/deep/deeper", ".cache", "out/tables"):
        (tmp_path / name).mkdir(parents=True)

    found = discovered(str(tmp_path), tmp_path / "out")

    assert found.strangers == (("notes", "not a run folder: it holds no run.json"),)


def test_a_path_that_spark_cannot_open_is_set_aside(tmp_path: Path) -> None:
    """A colon beside a bracket in the path would stop the whole reading; the other runs are read."""
    _run(tmp_path / "r")
    _run(tmp_path / "10:00 [x]")

    found = discovered(str(tmp_path), tmp_path / "out")

    assert [run.folder for run in found.runs] == ["r"]
    assert found.strangers[0][0] == "10:00 [x]"


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
        discovered(str(tmp_path / given), tmp_path / "out")

    assert told in str(caught.value)
    assert "--kmigrate-runs" in str(caught.value)
