"""Discovery: which folders are runs, by what each is known, and what is reported about those that are not."""

import os
import shutil
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.ingestion.discovery import Discovery, FoundRun, discovered
from pytest_kmigrate.reports.ingestion.storage import LocalStorage


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
    deep = "a run filed too deep is not read: runs are looked for 4 folders deep; move it up"
    reported = [(folder, nothing, False) for folder in ("night/empty", "notes")]
    assert found.unread == (("1/2/3/4/5", deep, True), *reported)


@pytest.mark.parametrize("way", ["runs/../runs/report", "link/report", "runs", "link"])
def test_a_report_among_the_runs_is_no_results_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """By whatever way its folder is named, links included, and in the very folder of the runs; all else is reported."""
    monkeypatch.chdir(tmp_path)
    _run(tmp_path / "runs" / "r", "timeline.html")
    (tmp_path / "link").symlink_to("runs")
    for name in ("report.json", "index.html", "tables/cells/part-0.parquet"):
        (tmp_path / way / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / way / name).write_text("{}")
    (tmp_path / "runs" / "theirs.xml").write_text("<testsuite/>")

    found = _discovered(tmp_path / "runs", Path(way))

    assert (found.unread, found.foreign) == ((), ("theirs.xml",))
    assert (tmp_path / way / str(found.runs[0].timeline)).is_file()


def test_what_lies_deeper_than_is_looked_is_named_and_leaves_the_verdict_open(tmp_path: Path) -> None:
    """Results of other tools are found in deeper folders than runs; a folder too deep for either is a doubt."""
    deep, deeper = "/".join("abcdefghijk"), "/".join("ABCDEFGHIJKLM")
    for name in (f"{deep}/TEST-x.xml", f"{deeper}/TEST-x.xml"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("<testsuite/>")

    found = _discovered(tmp_path, tmp_path / "out")

    assert found.foreign == (f"{deep}/TEST-x.xml",)
    assert found.unread == (
        (deeper.removesuffix("/M"), "not looked into: files are looked for 12 folders deep; move it up", True),
    )


def test_results_of_allure_are_copies_only_in_a_run(tmp_path: Path) -> None:
    """A run has its own; in no run they are somebody's results, in the folder that Allure gives them."""
    for name in ("r/allure-results", "theirs/allure-results"):
        _run(tmp_path / name)
        (tmp_path / name / "run.json").rename(tmp_path / name / "1-result.json")
    _run(tmp_path / "r")

    found = _discovered(tmp_path, tmp_path / "out")

    assert found.foreign == ("theirs/allure-results/1-result.json",)
    assert [file.path for file in found.runs[0].files] == ["run.json"]


def test_a_run_that_spark_cannot_open_is_told_once_and_missed(tmp_path: Path) -> None:
    """A colon beside a bracket, or a name that is not UTF-8, would stop the whole reading; the other runs are read."""
    _run(tmp_path / "r")
    _run(tmp_path / "10:00 [x]", "verdicts.jsonl")
    _run(tmp_path / os.fsdecode(b"night-\xff"), "verdicts.jsonl")

    found = _discovered(tmp_path, tmp_path / "out")

    assert [run.folder for run in found.runs] == ["r"]
    colon = "its path has a colon and one of []{}*?^\\, which Spark cannot open: rename it"
    not_text = "its name is not UTF-8, which Spark cannot open: rename it"
    assert found.unread == (("10:00 [x]", colon, True), ("night-\ufffd", not_text, True))


def test_a_file_that_spark_cannot_open_costs_only_itself(tmp_path: Path) -> None:
    """It is reported, as a loss only where a verdict may hang on it; the run is read without it."""
    _run(tmp_path / "10:00", "logs/a[1]/server.log", "operations/a[1].parquet", "logs/b/server.log")

    found = _discovered(tmp_path, tmp_path / "out")

    assert [file.path for file in found.runs[0].files] == ["logs/b/server.log", "run.json"]
    assert [(path, is_lost) for path, _, is_lost in found.unread] == [
        ("10:00/logs/a[1]", False),
        ("10:00/operations/a[1].parquet", True),
    ]


def test_a_file_that_spark_overlooks_is_told(tmp_path: Path) -> None:
    """Where it would be read; folders may have such names, and so may unread files."""
    files = ("metadata/_a.json", "logs/_b/c.log", "logs/b/_c.log", "operations/_d=1.parquet", "_notes")
    _run(tmp_path / "_r", *files)
    _run(tmp_path / "s", "operations/_d.parquet", "operations/e.parquet", "operations/_SUCCESS")
    for name in ("_TEST-x.xml", "_notes"):
        (tmp_path / name).write_text("<testsuite/>")

    found = _discovered(tmp_path, tmp_path / "out")

    reported = "its name begins with _, which Spark overlooks: rename it"
    assert found.unread == (
        ("_TEST-x.xml", reported, True),
        ("_r/logs/b/_c.log", reported, False),
        ("_r/metadata/_a.json", reported, False),
        ("s/operations/_d.parquet", f"{reported}; no operation of this run is judged", True),
    )


def test_what_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed folder beside runs is no loss, a closed history of a run is; a root that is closed is wrong use."""
    for name in ("r", "lost+found", "r/logs"):
        _run(tmp_path / name, "history.jsonl")
    closed = {tmp_path / name for name in ("lost+found", "r/history.jsonl", "r/logs")}
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path) not in closed)

    found = _discovered(tmp_path, tmp_path / "out")

    denied = "permission denied: let it be read, or analyze as its owner"
    assert found.unread == (
        ("lost+found", denied, False),
        ("r/history.jsonl", denied, True),
        ("r/logs", denied, False),
    )
    assert [file.path for file in found.runs[0].files] == ["run.json"]
    closed.add(tmp_path)
    with pytest.raises(WrongUseError, match="got a folder that may not be read"):
        _discovered(tmp_path, tmp_path / "out")


def test_a_folder_where_a_file_is_expected_is_told(tmp_path: Path) -> None:
    """And the other way round; the run is read without it."""
    _run(tmp_path / "r", "history.jsonl/x", "manifest.json/x", "operations/a.parquet/x")
    _run(tmp_path / "s", "operations")

    found = _discovered(tmp_path, tmp_path / "out")

    reported = "expected a file, got a folder"
    files = ("history.jsonl", "manifest.json", "operations/a.parquet")
    assert [(path, reason.partition(";")[0], is_lost) for path, reason, is_lost in found.unread] == [
        *((f"r/{file}", reported, True) for file in files),
        ("s/operations", "expected a folder, got a file", True),
    ]
    assert [(run.folder, run.is_complete) for run in found.runs] == [("r", False), ("s", False)]


def test_of_operations_that_are_not_whole_none_is_judged(tmp_path: Path) -> None:
    """A part that is empty, or closed, would leave the others telling of losses that never were."""
    _run(tmp_path / "r", "operations/a.parquet", "operations/b.parquet", "verdicts.jsonl")
    (tmp_path / "r" / "operations" / "b.parquet").write_bytes(b"")

    found = _discovered(tmp_path, tmp_path / "out")

    reported = "expected a complete Parquet part, got an empty file; no operation of this run is judged"
    assert found.unread == (("r/operations/b.parquet", reported, True),)
    assert [file.path for file in found.runs[0].files] == ["run.json", "verdicts.jsonl"]


def test_an_empty_file_of_another_tool_is_told(tmp_path: Path) -> None:
    """Its results are lost; an empty file of any other name is no loss."""
    for name in ("junit.xml", "whole.xml", "notes.txt"):
        (tmp_path / name).write_text("<testsuite/>" if name == "whole.xml" else "")

    found = _discovered(tmp_path, tmp_path / "out")

    assert found.unread == (("junit.xml", "expected results of tests, got an empty file", True),)
    assert found.foreign == ("whole.xml",)


@pytest.mark.parametrize("given", ["nowhere", "verdicts.jsonl", "pipe"])
def test_what_holds_nothing_to_read_is_no_file(tmp_path: Path, given: str) -> None:
    """A link that leads nowhere, one that leads to itself, and a pipe, at which a reader would wait for ever."""
    _run(tmp_path / "r")
    if given == "pipe":
        os.mkfifo(tmp_path / "r" / "verdicts.jsonl")
    else:
        (tmp_path / "r" / "verdicts.jsonl").symlink_to(tmp_path / "r" / given)

    assert not _only(tmp_path).has("verdicts.jsonl")


def test_a_complete_run_is_known_by_its_manifest_wherever_it_lies(tmp_path: Path) -> None:
    """Copied, touched, with a log that grew: the same run. Another manifest, or a verdict more: another one."""
    _run(tmp_path / "a" / "r", "manifest.json", "verdicts.jsonl", "logs/broker-0/server.log")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    os.utime(tmp_path / "b" / "r" / "manifest.json", (1, 1))
    (tmp_path / "b" / "r" / "logs/broker-0/server.log").write_text("more")
    original, copy = _only(tmp_path / "a"), _only(tmp_path / "b")

    assert original.stamp != copy.stamp
    assert original.digest(b"{}", {}) == copy.digest(b"{}", {}) != original.digest(b"{ }", {})
    assert original.digest(b"{}", {"r/verdicts.jsonl": "0"}) != original.digest(b"{}", {"r/verdicts.jsonl": "1"})
    (tmp_path / "b" / "r" / "verdicts.jsonl").write_text("{} {}")
    assert _only(tmp_path / "b").digest(b"{}", {}) != original.digest(b"{}", {})


def test_a_run_being_written_is_known_by_what_a_listing_tells(tmp_path: Path) -> None:
    """Without a manifest any file that grew makes it another state of the run; with one, a growing log does not."""
    _run(tmp_path / "r", "logs/broker-0/server.log")
    log, before = tmp_path / "r" / "logs/broker-0/server.log", _only(tmp_path)

    log.write_text("a line")

    grown = _only(tmp_path)
    assert grown.digest(None, {}) == grown.stamp != before.stamp == before.digest(None, {})
    (tmp_path / "r" / "manifest.json").write_text("{}")
    complete = _only(tmp_path)
    log.write_text("another line")
    assert _only(tmp_path).stamp == complete.stamp != grown.stamp


def test_a_part_that_comes_after_the_manifest_is_news(tmp_path: Path) -> None:
    """An upload may bring the manifest first: each part of the operations that follows makes it another state."""
    _run(tmp_path / "r", "manifest.json", "operations/clients-000001.parquet")
    before = _only(tmp_path)

    _run(tmp_path / "r", "operations/reader-000001.parquet")

    after = _only(tmp_path)
    assert after.stamp != before.stamp
    assert after.digest(b"{}", {}) != before.digest(b"{}", {})


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ("absent", "expected a folder of runs, got nothing"),
        ("file", "expected a folder of runs, got a file"),
        ("empty", "expected at least one run folder (one with a run.json), got none at all"),
        ("other", "expected at least one run folder (one with a run.json), got only things"),
    ],
)
def test_wrong_use_is_told_before_spark_starts(tmp_path: Path, given: str, reported: str) -> None:
    """Nothing, a file, an empty folder, a folder of other things: one sentence each with what to do."""
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other" / "things").mkdir(parents=True)

    with pytest.raises(WrongUseError) as caught:
        _discovered(tmp_path / given, tmp_path / "out")

    assert reported in str(caught.value)
    assert "--kmigrate-runs" in str(caught.value)
