"""Many runs become one answer: ``kmigrate analyze``. Reads run folders, lets Spark count, writes tables and a page."""

import datetime as dt
import json
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.verdict import Outcome, merged
from pytest_kmigrate.reports.discovery import Discovery, discovered
from pytest_kmigrate.reports.page import page
from pytest_kmigrate.reports.session import LOCAL, spark_session
from pytest_kmigrate.reports.summary import About, Summary, summary_of
from pytest_kmigrate.reports.tables import TableFolder, read_tables, write_facts, write_marts

SMALL_RUNS = 500
"""Up to here Spark is set up for a quick start instead of for much data."""


@dataclass(frozen=True)
class AnalysisResult:
    """What came out of an analysis, and where it lies."""

    outcome: Outcome
    runs: int
    set_aside: int
    page: Path
    report: Path
    tables: Path
    seconds: dict[str, float]


@dataclass
class _Clock:
    """Tells progress, and how long each stage took."""

    progress: Callable[[str], None]
    seconds: dict[str, float] = field(default_factory=dict)
    _began_s: float = field(default_factory=time.monotonic)

    def enter(self, stage: str, sentence: str) -> None:
        self.progress(sentence)
        self.seconds[stage] = 0.0
        self._began_s = time.monotonic()

    def leave(self, stage: str) -> None:
        self.seconds[stage] = round(time.monotonic() - self._began_s, 2)


def analyze(
    runs: str, out: Path, master: str | None = None, progress: Callable[[str], None] = lambda _sentence: None
) -> AnalysisResult:
    """Analyze every run folder below ``runs``; write ``tables/``, ``report.json`` and ``index.html`` into ``out``.

    Raises WrongUseError when there is no run to analyze, EnvironmentLackError when Spark cannot start. What was in
    ``out`` from an earlier analysis is replaced only when everything new is complete.
    """
    found = discovered(runs, out)
    clock = _Clock(progress)
    with _unfinished_tables(out) as partial:
        _counted(found, partial, out, master, clock)
        clock.enter("page", "writing the page")
        summary = summary_of(read_tables(partial), _about(runs, out, master, clock.seconds))
        clock.leave("page")
        _published(out, partial, summary)
    return AnalysisResult(
        outcome=_outcome(summary),
        runs=len(summary["attempts"]),
        set_aside=len(summary["set_aside"]),
        page=out / "index.html",
        report=out / "report.json",
        tables=out / "tables",
        seconds=clock.seconds,
    )


def _counted(found: Discovery, partial: Path, out: Path, master: str | None, clock: _Clock) -> None:
    """Spark's part: from run folders to all tables below ``partial``."""
    is_small = len(found.runs) <= SMALL_RUNS
    clock.enter("spark_start", f"starting Spark ({master or LOCAL})")
    with spark_session(master, is_small=is_small, log=out / "spark.log") as spark:
        clock.leave("spark_start")
        tables = TableFolder(spark, partial, is_small=is_small)
        clock.enter("facts", f"reading {len(found.runs)} run{'s' * (len(found.runs) != 1)}")
        write_facts(spark, found, tables)
        clock.leave("facts")
        clock.enter("marts", "counting: flakiness, consistency, durations")
        write_marts(tables)
        clock.leave("marts")


@contextmanager
def _unfinished_tables(out: Path) -> Iterator[Path]:
    """Make ``out``, and in it a folder for what is not complete yet; whatever happens, that one does not stay."""
    if out.exists() and not out.is_dir():
        raise WrongUseError(f"{out}: expected a folder to write the report into, got a file; choose another --out")
    partial = out / ".tables.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial.resolve()
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _published(out: Path, partial: Path, summary: Summary) -> None:
    """Put the new tables, JSON and page in the place of the old ones; the page, being looked for first, comes last."""
    tables = out / "tables"
    shutil.rmtree(tables, ignore_errors=True)
    partial.rename(tables)
    for name, text in (
        ("report.json", json.dumps(summary, indent=1, default=str) + "\n"),
        ("index.html", page(summary)),
    ):
        unfinished = out / f".{name}.partial"
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(out / name)


def _about(runs: str, out: Path, master: str | None, seconds: dict[str, float]) -> About:
    """How this report came to be."""
    command = f"kmigrate analyze {runs} --out {out}" + (f" --master {master}" if master else "")
    return {
        "made_at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "runs_folder": runs,
        "command": command,
        "spark": pyspark.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "seconds": seconds,
    }


def _outcome(summary: Summary) -> Outcome:
    """The worst outcome of all runs; a run that could not be read at all leaves things open."""
    outcomes = [Outcome[str(attempt["outcome"])] for attempt in summary["attempts"]]
    unread = [Outcome.INCONCLUSIVE for row in summary["set_aside"] if row["is_run"]]
    return merged([*outcomes, *unread])
