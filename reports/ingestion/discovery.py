"""Discovery: which folders below a path are runs, and by what each is known; wrong use is reported at once."""

import hashlib
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_kmigrate.analysis.foreign import is_foreign
from pytest_kmigrate.analysis.staging import HISTORY_FILE, RUN_FILE, VERDICTS_FILE
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.recording.mutants import SAMPLE
from pytest_kmigrate.reports.ingestion.operations import OPERATIONS_FOLDER
from pytest_kmigrate.reports.ingestion.paths import path_of, shown_path, way, why_closed, why_overlooked
from pytest_kmigrate.reports.ingestion.storage import Copies, Entry, LocalStorage, Storage, is_local, local_path

JUDGED_FILES = (RUN_FILE, VERDICTS_FILE, HISTORY_FILE)
"""A folder that holds one of these is a run."""

MANIFEST_FILE = "manifest.json"
TIMELINE_FILE = "timeline.html"

MOST_LEVELS = 4
"""How deep runs may be filed below the given folder, as in ``2026-11/night-3/<run>``."""

_DEEPEST = 12
"""How deep files are looked for. Other tools write in deeper folders than runs lie in: modules in modules, a folder for
each test. The files of a run, such as ``logs/<node>/server.log``, are covered by that, too."""

_COPIES = Copies(frozenset({"allure-results"}), frozenset(JUDGED_FILES))
"""A run's own Allure results, made of what lies elsewhere in its folder."""

_JUDGED_BY = frozenset({*JUDGED_FILES, MANIFEST_FILE, OPERATIONS_FOLDER})
"""What a verdict may hang on, right in a run folder."""

_READ_ENDINGS = (".json", ".log", ".parquet")
"""Of files in a run that may have any name: images, logs, parts of operations."""

_OF_A_REPORT = frozenset({"index.html", "report.json", "report.md", "spark.log", "tables"})
"""What an analysis writes into its folder."""

_ALWAYS_FILES = frozenset({VERDICTS_FILE, HISTORY_FILE, MANIFEST_FILE})
"""Of ``run.json`` itself it is reported that it is missing."""

Notice = tuple[str, str, bool]
"""What is said of something that is not read: its path, the reason, and whether a verdict may hang on it."""


@dataclass(frozen=True)
class FoundRun:
    """One run folder: its path below the root, and what need not be opened to be known."""

    folder: str
    timeline: str | None
    files: tuple[Entry, ...]
    """Every file in it, its path below the run folder."""

    @property
    def is_complete(self) -> bool:
        """Whether the recorder finished it."""
        return self.has(MANIFEST_FILE)

    def has(self, path: str) -> bool:
        """Whether there is such a file."""
        return any(file.path == path for file in self.files)

    def path(self, file: str) -> str:
        """Where one of its files lies below the root."""
        return file if self.folder == "." else f"{self.folder}/{file}"

    @property
    def stamp(self) -> str:
        """What is known without opening a file: names, sizes and times; while it stays, nothing has changed.

        Of a complete run only what a verdict may hang on counts: its cluster may have been kept, and log on.
        """
        files = self._judged() if self.is_complete else self.files
        return _digest(f"{file.path} {file.size_bytes} {file.modified_ms}" for file in files)

    def digest(self, manifest: bytes | None, sha256: Mapping[str, str]) -> str:
        """What the run is known by, wherever its folder lies: its manifest, which holds the digests of all its files.

        With it the sizes of what a verdict may hang on, which show what was changed afterwards, or came later than the
        manifest; and of files that were read for it (``sha256``, by their path below the root) the digests. A run that
        is still being written has no manifest and is known by its ``stamp``.
        """
        if manifest is None:
            return self.stamp
        reported = [f"{file.path} {file.size_bytes} {sha256.get(self.path(file.path), '')}" for file in self._judged()]
        return _digest([hashlib.sha256(manifest).hexdigest(), *reported])

    def _judged(self) -> list[Entry]:
        return [file for file in self.files if file.path.partition("/")[0] in _JUDGED_BY]


@dataclass(frozen=True)
class Discovery:
    """All runs below ``root``, and what is set aside without being read: folders that hold no run, closed files."""

    root: str
    runs: tuple[FoundRun, ...]
    unread: tuple[Notice, ...]
    foreign: tuple[str, ...] = ()
    """Files with results of other tools (JUnit, Allure, ducktape), below ``root`` and in no run."""

    samples: tuple[str, ...] = ()
    """Samples of generated mutants, below ``root`` and in no run."""

    @property
    def size_bytes(self) -> int:
        """How much there is to read at most."""
        return sum(file.size_bytes for run in self.runs for file in run.files)


def discovered(storage: Storage, out: str, shown: str = "") -> Discovery:
    """Find run folders in a storage (or that it is one itself) and results of other tools; WrongUseError without any.

    ``out``, where the report goes, is no run; ``shown`` is the name the caller gave.
    """
    shown = shown or storage.uri
    kind = storage.kind()
    if kind != "folder":
        found = f"a {kind}" if kind else "nothing"
        raise WrongUseError(f"{shown}: expected a folder of runs, got {found}; give the folder of --kmigrate-runs")
    entries = list(storage.entries(_DEEPEST, _COPIES))
    discovery = _sorted_out(storage.uri, entries, LocalStorage(local_path(out)).uri if is_local(out) else out)
    if not discovery.runs and not discovery.foreign:
        reported = [f"{path} ({reason})" for path, reason, _ in discovery.unread[:3]]
        held = f"only {', '.join(reported)}" if reported else "none at all"
        raise WrongUseError(
            f"{shown}: expected at least one run folder (one with a {RUN_FILE}), got {held}; "
            f"run pytest first, or give the folder of --kmigrate-runs"
        )
    return discovery


def _sorted_out(root: str, entries: Sequence[Entry], out: str) -> Discovery:
    """Runs and strangers; inside a run folder no other is looked for."""
    own = path_of(out)[len(path_of(root)) :].strip("/") if f"{path_of(out)}/".startswith(f"{path_of(root)}/") else None
    theirs = [entry for entry in entries if own is None or not _is_of_report(entry.path, own)]
    marked = {posixpath.dirname(each.path) for each in theirs if posixpath.basename(each.path) in JUDGED_FILES}
    folders = {folder for folder in marked if _depth(folder) <= MOST_LEVELS and not _ancestors(folder) & marked}
    unread = _unread(root, theirs, folders)
    files: dict[str, list[Entry]] = {folder: [] for folder in folders - unread.keys()}
    others: set[str] = set()
    foreign: list[str] = []
    samples: list[str] = []
    for entry in theirs:
        within = _ancestors(entry.path) | {entry.path}
        run = next(iter(within & folders), None)
        if within & unread.keys():
            continue
        if run is None and not entry.is_folder and is_foreign(entry.path):
            foreign.append(entry.path)
        elif run is None and not entry.is_folder and posixpath.basename(entry.path) == SAMPLE:
            samples.append(entry.path)
        elif run is None:
            others |= within if entry.is_folder else within - {entry.path}
        elif not entry.is_folder:
            inner = entry.path[len(run) :].lstrip("/")
            files[run].append(Entry(inner, False, entry.size_bytes, entry.modified_ms))  # noqa: FBT003  # a row
    runs = [_run(root, folder, files[folder], out) for folder in sorted(files)]
    deep = _too_deep(marked, folders, others)
    known = folders | {posixpath.dirname(path) for path in (*foreign, *samples)} | deep.keys()
    reported = sorted([*unread.values(), *deep.values(), *_strangers(others, known)])
    return Discovery(root, tuple(runs), tuple(reported), tuple(sorted(foreign)), tuple(sorted(samples)))


def _is_of_report(path: str, own: str) -> bool:
    """Whether a path belongs to the report in folder ``own``; if that is the root, by its name."""
    return f"{path}/".startswith(f"{own}/") if own else path.partition("/")[0] in _OF_A_REPORT


def _unread(root: str, entries: Sequence[Entry], folders: set[str]) -> dict[str, Notice]:
    """What cannot be read although it is there, by its path; a folder is listed once, for all that is in it.

    Without one part of a run's operations the others would show losses that never were: then none is read.
    """
    unread: dict[str, Notice] = {}
    for folder in folders:
        closed = why_closed(f"{path_of(root)}/{folder}")
        if closed:
            unread[folder] = (shown_path(folder) or ".", closed, True)
    for entry in entries:
        run = next(iter(_ancestors(entry.path) & folders), None)
        inner = None if run is None else entry.path[len(run) :].lstrip("/")
        reason = _why_unread(f"{path_of(root)}/{entry.path}", entry, inner)
        if reason and not (_ancestors(entry.path) | {entry.path}) & unread.keys():
            first = (inner or "").partition("/")[0]
            closed = entry.path
            if inner and first == OPERATIONS_FOLDER:
                closed = f"{entry.path.removesuffix(inner)}{OPERATIONS_FOLDER}"
                reason += "; no operation of this run is judged"
            unread[closed] = (shown_path(entry.path), reason, first in _JUDGED_BY or _is_result(entry, inner))
    return unread


def _why_unread(path: str, entry: Entry, inner: str | None) -> str | None:
    if not entry.is_readable:
        return "permission denied: let it be read, or analyze as its owner"
    if inner == OPERATIONS_FOLDER and not entry.is_folder:
        return "expected a folder, got a file"
    is_part, is_result = posixpath.dirname(inner or "") == OPERATIONS_FOLDER, _is_result(entry, inner)
    if entry.is_folder and (is_part or inner in _ALWAYS_FILES):
        return "expected a file, got a folder"
    if is_result and entry.size_bytes == 0:
        return "expected results of tests, got an empty file"  # Spark would not read it at all
    if is_part and entry.path.endswith(".parquet") and entry.size_bytes == 0:
        return "expected a complete Parquet part, got an empty file"  # Spark would read it as no part
    is_read = is_result or (inner and entry.path.endswith(_READ_ENDINGS) and not entry.is_folder)
    return why_closed(path) or (why_overlooked(path) if is_read else None)


def _is_result(entry: Entry, inner: str | None) -> bool:
    """Whether it is a file with results of another tool: in no run, and of such a name."""
    return inner is None and not entry.is_folder and is_foreign(entry.path) is not None


def _too_deep(marked: set[str], folders: set[str], others: set[str]) -> dict[str, Notice]:
    """What lies deeper than is looked, by its path: a verdict may hang on it."""
    unseen = f"not looked into: files are looked for {_DEEPEST} folders deep; move it up"
    unread = f"a run filed too deep is not read: runs are looked for {MOST_LEVELS} folders deep; move it up"
    found = {folder: (shown_path(folder), unseen, True) for folder in others if _depth(folder) == _DEEPEST}
    runs = (folder for folder in marked - folders if not _ancestors(folder) & marked)
    return found | {folder: (shown_path(folder), unread, True) for folder in runs}


def _strangers(others: set[str], known: set[str]) -> list[Notice]:
    """One line for a whole tree without a run: its parts are no news."""
    with_runs = {""}.union(*(_ancestors(folder) for folder in known))
    without = [folder for folder in others - with_runs - known if posixpath.dirname(folder) in with_runs]
    return [(folder, f"not a run folder: it holds no {RUN_FILE}", False) for folder in without]


def _run(root: str, folder: str, files: Iterable[Entry], out: str) -> FoundRun:
    by_path: Mapping[str, Entry] = {file.path: file for file in files}
    timeline = way(out, "/".join(part for part in (root.rstrip("/"), folder, TIMELINE_FILE) if part))
    read = tuple(by_path[path] for path in sorted(by_path) if path != TIMELINE_FILE)
    return FoundRun(folder or ".", timeline if TIMELINE_FILE in by_path else None, read)


def _ancestors(path: str) -> set[str]:
    """The folders a path lies in; the root, which is the empty path, among them."""
    parts = path.split("/")
    return {"/".join(parts[:number]) for number in range(len(parts))} if path else set()


def _depth(folder: str) -> int:
    return len(folder.split("/")) if folder else 0


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
