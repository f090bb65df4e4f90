"""Many runs become one answer: ``kmigrate analyze``. Reads run folders, lets Spark count, writes tables and a page."""

import datetime as dt
import os
import platform
import shlex
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from pytest_kmigrate.analysis.foreign import Label, labels_of
from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.ingestion.class_data import keep_archive
from pytest_kmigrate.reports.ingestion.code import watched_code
from pytest_kmigrate.reports.ingestion.discovery import Discovery, discovered
from pytest_kmigrate.reports.ingestion.exclusion import alone_in, require_folder
from pytest_kmigrate.reports.ingestion.hadoop_storage import HadoopStorage
from pytest_kmigrate.reports.ingestion.ingestion import ingest, notices
from pytest_kmigrate.reports.ingestion.ledger import Ledger, read_ledger
from pytest_kmigrate.reports.ingestion.mutation import tried_mutants
from pytest_kmigrate.reports.ingestion.reading import RunFiles
from pytest_kmigrate.reports.ingestion.session import chosen_master, end_told, hurry, spark_session
from pytest_kmigrate.reports.ingestion.storage import LocalStorage, Place, Storage, is_local, local_path, location
from pytest_kmigrate.reports.ingestion.tables import TableFolder, write_attempts, write_marts
from pytest_kmigrate.reports.ingestion.trouble import require_answer, trouble_named
from pytest_kmigrate.reports.pages.publication import files
from pytest_kmigrate.reports.summary.comparison import require_versions
from pytest_kmigrate.reports.summary.summary import About, Summary, summary_of
from pytest_kmigrate.reports.summary.words import words_of, words_of_requirements
from pytest_kmigrate.waiting import repeat

SMALL_RUNS = 500
SMALL_BYTES = 2 * 1024**3
"""Up to here Spark is set up for a quick start instead of for much data."""


_REMINDED_EVERY_S = 10.0
_REPORTED_PERCENT = 20


@dataclass(frozen=True)
class AnalysisResult:
    """What came out of an analysis, and where it lies."""

    outcome: Outcome
    words: tuple[Word, ...]
    """Of the runs, each as it counts; one more is inconclusive if a verdict may hang on what was set aside."""
    requirements: tuple[Word, ...]
    """Where each requirement stands that a run can judge."""
    runs: int
    set_aside: int
    page: Place
    report: Place
    tables: Place
    seconds: dict[str, float]
    read: int
    """How many run folders had to be read; the others were known from earlier analyses."""


@dataclass
class _Clock:
    """Tells progress, and how long each stage took."""

    progress: Callable[[str], None]
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str, sentence: str) -> Iterator[None]:
        self.progress(sentence)
        # The page shows the stage it is made in, so that its key must be there.
        self.seconds[name] = 0.0
        began_s = time.monotonic()
        with _kept_informed(lambda: self.progress(f"{sentence}: {time.monotonic() - began_s:.0f} s so far")):
            yield
        self.seconds[name] = round(time.monotonic() - began_s, 2)


@contextmanager
def _kept_informed(remind: Callable[[], None]) -> Iterator[None]:
    """Remind a reader now and then, while the block runs, that something is under way."""
    over = threading.Event()
    thread = threading.Thread(target=repeat, args=(remind, _REMINDED_EVERY_S, over), name="reminder", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _in_steps(progress: Callable[[str], None]) -> Callable[[int], None]:
    """Reports a few of the shares that it hears of."""
    reported = [0]

    def heard(percent: int) -> None:
        if percent >= reported[0] + _REPORTED_PERCENT:
            reported[0] = percent
            progress(f"counting: {percent} %")

    return heard


@trouble_named()
def analyze(
    runs: str,
    out: Path | str,
    master: str | None = None,
    progress: Callable[[str], None] = lambda _sentence: None,
    compare: tuple[str, str] | None = None,
    labels: Sequence[str] = (),
) -> AnalysisResult:
    """Analyze every run folder below ``runs``; write ``tables/`` and the files of ``publication`` into ``out``.

    ``compare`` names two Kafka versions of these runs: the report then shows what changed from the first to the second.
    ``labels`` name conditions of other tools' results, such as ``system=property:os.name`` (see ``foreign.labels``).
    ``runs`` and ``out`` may be paths or URIs of any file system that Hadoop reaches.
    Raises WrongUseError when there is no run to analyze or another analysis is writing into ``out``,
    EnvironmentLackError when Spark cannot start or a file system refuses. Runs that an earlier analysis into ``out``
    has read are not read again (see ``ledger``); its pages are replaced only when everything new is complete.
    """
    clock, named = _Clock(progress), labels_of(labels)
    target, local = location(out), LocalStorage(local_path(runs)) if is_local(runs) else None
    # Without Spark where that is possible: wrong use is reported at once.
    found = _found(local, target, runs, labels) if local else None
    is_small = found is not None and _is_small(found)
    with alone_in(target), _spark(master, clock, target, is_small=is_small) as spark:
        source, folder = local or _reached(location(runs), spark), _reached(target, spark)
        require_folder(target, folder.kind())
        if found is None:
            found = _found(source, target, runs, labels)
            is_small = _is_small(found)
            if is_small:
                hurry(spark)
        tables = TableFolder(spark, _storage(f"{target}/tables", spark), is_small=is_small)
        read = _counted(found, source, tables, clock, compare, labels=named)
        with clock.stage("page", "writing the page"):
            about = _about(runs, target, master, compare, labels, clock.seconds)
            published = files(summary := summary_of(tables.shown(), about, compare))
        tables.publish()
        for name, text in published.items():
            folder.write(name, text.encode())
    if read:  # else it has not loaded all that reading takes
        keep_archive(progress)
    return _result(summary, folder, clock.seconds, read)


def _result(summary: Summary, folder: Storage, seconds: dict[str, float], read: int) -> AnalysisResult:
    totals = summary["totals"]
    return AnalysisResult(
        outcome=Outcome[totals["outcome"]],
        words=words_of(summary["attempts"], is_doubtful=bool(totals["doubtful"])),
        requirements=words_of_requirements(summary["requirements"], summary["ledger"]),
        runs=len(summary["attempts"]),
        set_aside=len(summary["set_aside"]),
        page=folder.place("index.html"),
        report=folder.place("report.json"),
        tables=folder.place("tables"),
        seconds=seconds,
        read=read,
    )


def _is_small(found: Discovery) -> bool:
    return len(found.runs) <= SMALL_RUNS and found.size_bytes <= SMALL_BYTES


def _reached(location: str, spark: SparkSession) -> Storage:
    if not is_local(location):
        require_answer(spark, location)
    return _storage(location, spark)


def _storage(location: str, spark: SparkSession) -> Storage:
    return LocalStorage(local_path(location)) if is_local(location) else HadoopStorage(spark, location)


def _found(source: Storage, target: str, runs: str, labels: Sequence[str]) -> Discovery:
    """All that is to be read; WrongUseError without any, or for labels of results that are not there."""
    found = discovered(source, target, runs)
    if labels and not found.foreign:
        raise WrongUseError(
            f"--label {labels[0]}: it names a condition of other tools' results, and there are none; leave it out"
        )
    return found


def _counted(
    found: Discovery,
    source: Storage,
    tables: TableFolder,
    clock: _Clock,
    compare: tuple[str, str] | None,
    *,
    labels: Sequence[Label],
) -> int:
    """Spark's part: from run folders to all tables; gives how many folders had to be read."""
    earlier = read_ledger(tables.storage, found.root)
    with clock.stage("facts", _announced(found, earlier)):
        ledger, read = ingest(found, source, tables, earlier, clock.progress)
        others = RunFiles(tables.spark, source.uri, (), {}).foreign(found.foreign) if found.foreign else None
        code, unread = watched_code(tables, clock.progress)
        mutants, odd = tried_mutants(tables.spark, found, source)
        write_attempts(tables, [*notices(found, ledger, tables.storage), *unread, *odd], others, labels)
        if compare:
            # Now, and not with the comparison: all the counting comes before that.
            require_versions((row.kafka for row in tables["attempts"].select("kafka").distinct().collect()), *compare)
    with clock.stage("marts", "counting: flakiness, consistency, durations"):
        write_marts(tables, code, mutants, _in_steps(clock.progress))
    return read


def _announced(found: Discovery, earlier: Ledger) -> str:
    known = len({run.folder for run in found.runs} & earlier.keys())
    reported = f", of which {known} {'is' if known == 1 else 'are'} known" if known else ""
    runs = [f"{len(found.runs)} run{'s' * (len(found.runs) != 1)}{reported}"] if found.runs else []
    others = [f"{len(found.foreign)} file{'s' * (len(found.foreign) != 1)} of other tools"] if found.foreign else []
    return f"reading {' and '.join(runs + others)}"


@contextmanager
def _spark(master: str | None, clock: _Clock, out: str, *, is_small: bool) -> Iterator[SparkSession]:
    log, writes_here = _log_file(out), is_local(out)
    with ExitStack() as stack:
        with clock.stage("spark_start", f"starting Spark ({chosen_master(master) or 'spark-submit'})"):
            session = spark_session(master, is_small=is_small, log=log, has_archive=True, writes_here=writes_here)
            spark = stack.enter_context(session)
        with end_told(spark, log):
            yield spark


def _log_file(out: str) -> Path:
    """Where Spark's own words go: beside the report, or, when that lies elsewhere, among this machine's scratch."""
    if not is_local(out):
        return Path(tempfile.gettempdir()) / f"kmigrate-analyze-{os.getpid()}.log"
    return local_path(out) / "spark.log"


def _about(
    runs: str,
    out: str,
    master: str | None,
    compare: tuple[str, str] | None,
    labels: Sequence[str],
    seconds: dict[str, float],
) -> About:
    """How this report came to be."""
    command = ["kmigrate", "analyze", runs, "--out", out, *(("--master", master) if master else ())]
    command += ("--compare", *compare) if compare else ()
    command += [word for label in labels for word in ("--label", label)]
    return {
        "made_at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "runs_folder": runs,
        "command": shlex.join(command),
        "spark": pyspark.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "seconds": seconds,
    }
