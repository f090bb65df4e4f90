"""Bad input through the command: whatever is wrong with a run folder is one clear line, and costs no other run."""

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.model.exit_status import ExitStatus
from tests.bench.operations import synthetic_run, write_parts
from tests.spark.commands import kmigrate
from tests.spark.defects import DEFECTS
from tests.spark.run_folders import verdict, write_run

CLOSED_NAME = b"not utf-8 \xff"
ODD_NAMES = (
    "a b", "ünïcode 日本", "st*r", "wh?t", "100% #1 &amp; +", "br[ack]", "{a,b}", "back\\slash", "_under",
    "kafka=3.9.1", "new\nline", "semi;quote'\"", "10:00",
)  # fmt: skip


@dataclass(frozen=True)
class Told:
    """What the command said: its exit status, all it printed, and where its report lies."""

    status: int
    printed: str
    out: Path

    @cached_property
    def report(self) -> dict[str, Any]:
        """What ``report.json`` says."""
        read: dict[str, Any] = json.loads((self.out / "report.json").read_text())
        return read

    def about(self, run: str) -> list[tuple[str, int | None, str, bool]]:
        """What is set aside of one run: path below it, line, reason, and whether a verdict may hang on it."""
        rows = [(row["path"], row["line"], row["reason"], row["is_run"]) for row in self.report["set_aside"]]
        return [(path[len(run) + 1 :], *more) for path, *more in rows if f"{path}/".startswith(f"{run}/")]

    def attempt(self, run: str) -> dict[str, Any] | None:
        """The run as it is counted."""
        return next((each for each in self.report["attempts"] if each["folder"] == run), None)


@pytest.fixture(scope="module")
def reported(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """All defects at once, and a good run under each odd name, analyzed by the command."""
    runs, out = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("out")
    for name, defect in DEFECTS.items():
        defect.spoil(write_run(runs, name, [verdict()]))
    for name in ODD_NAMES:
        run = write_run(runs, f"odd/{name}", [verdict()])
        write_parts(synthetic_run(7, 200, is_faulty=False), run / "operations")
        (run / "logs" / name).mkdir(parents=True)
        (run / "logs" / name / "server.log").write_bytes(b"[2026-03-01 10:00:00,000] WARN \xff\xfe (kafka)\n")
    write_run(runs, "garbage", [verdict()])
    (runs / "garbage" / "history.jsonl").write_text("".join(f"garbage {line}\n" for line in range(5_000)))
    write_run(runs, "to be renamed", [verdict()]).rename(runs / os.fsdecode(CLOSED_NAME))
    status, printed = kmigrate("analyze", runs, "--out", out)
    return Told(status, printed, out)


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_told_and_costs_no_more_than_it_must(reported: Told, name: str) -> None:
    """Path, line and reason of each; a run is counted by what can still be read, if it can be identified."""
    rows, defect = reported.about(name), DEFECTS[name]
    assert [row[:2] for row in rows] == [row[:2] for row in defect.reported]
    for (*_, reason, _), (*_, beginning) in zip(rows, defect.reported, strict=True):
        assert reason.startswith(beginning)
    attempt = reported.attempt(name)
    assert (attempt["outcome"] if attempt else None) == defect.outcome


def test_what_is_wrong_ends_inconclusive_and_in_words(reported: Told) -> None:
    """Exit status 3, for a verdict may hang on what is missing; no stack trace; the number of lines is reported."""
    assert reported.status == ExitStatus.OPEN == 3
    assert "Traceback" not in reported.printed
    runs = sum(1 for defect in DEFECTS.values() if defect.outcome) + len(ODD_NAMES) + len(["garbage"])
    assert f"{runs} runs: INCONCLUSIVE; {len(reported.report['set_aside'])} set aside" in reported.printed


def test_only_what_a_verdict_hangs_on_leaves_it_open(reported: Told) -> None:
    """A clock that was not set and a run without an end are reported, but nothing is missing for them."""
    harmless = {name for name in DEFECTS if reported.about(name) and not any(row[3] for row in reported.about(name))}
    assert harmless == {"no-end", "start-missing", "start-in-words", "start-without-a-day"}


def test_a_run_of_any_name_is_read_whole(reported: Told) -> None:
    """Blanks, patterns, percent signs, line ends, what looks hidden or like a partition: operations and logs too.

    Of runs whose operations are damaged none is counted: what is left would show losses that never were.
    """
    odd = [each["folder"] for each in reported.report["attempts"] if each["folder"].startswith("odd/")]
    assert sorted(odd) == sorted(f"odd/{name}" for name in ODD_NAMES)
    assert [reported.about(folder) for folder in odd] == [[]] * len(odd)
    counted = set(pq.read_table(reported.out / "tables" / "operation_counts").column("folder").to_pylist())
    assert counted == set(odd)
    levels = set(pq.read_table(reported.out / "tables" / "log_lines").column("folder").to_pylist())
    assert levels == set(odd)


def test_a_name_no_program_can_say_is_shown_as_well_as_can_be(reported: Told) -> None:
    """Its bytes are marked, it is said what to do, and that a run is missing."""
    shown = CLOSED_NAME.decode(errors="replace")
    assert reported.about(shown) == [("", None, "its name is not UTF-8, which Spark cannot open: rename it", True)]


def test_one_file_of_garbage_does_not_hide_the_others(reported: Told) -> None:
    """Of five thousand bad lines the first twenty are reported, and how many follow."""
    rows = reported.about("garbage")
    assert [line for _, line, _, _ in rows] == list(range(1, 21))
    assert rows[0][2].endswith("it begins: garbage 0")
    assert rows[-1][2].endswith("it begins: garbage 19; so are 4980 lines more of this file")


def test_a_clock_that_was_far_off_does_not_lengthen_the_run(reported: Told) -> None:
    """Its duration is that of the other events."""
    took = {
        name: (reported.attempt(name) or {})["duration_ms"] for name in ("nothing-wrong", "far-clock", "negative-clock")
    }
    assert set(took.values()) == {30_000.0}


@pytest.mark.parametrize(
    ("given", "got"),
    [
        ("absent", "got nothing"),
        ("file", "got a file"),
        ("empty", "got none at all"),
        ("other", "got only things (not a run folder: it holds no run.json)"),
        (
            "closed",
            "got only 10:00 [x] (its path has a colon and one of []{}*?^\\, which Spark cannot open: rename it)",
        ),
    ],
)
def test_no_folder_of_runs_is_wrong_use(tmp_path: Path, given: str, got: str) -> None:
    """Exit status 2 and one sentence, before Spark starts; nothing is written."""
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other" / "things").mkdir(parents=True)
    write_run(tmp_path / "closed", "10:00 [x]", [verdict()])

    status, printed = kmigrate("analyze", tmp_path / given, "--out", tmp_path / "out")

    assert (status, len(printed.splitlines())) == (2, 1)
    assert got in printed
    assert "give the folder of --kmigrate-runs" in printed
    assert not (tmp_path / "out").exists()
