"""Discovery: which folders below a path are runs, before Spark is started: wrong use is told at once."""

import os
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.analysis.staging import HISTORY_FILE, RUN_FILE, VERDICTS_FILE
from pytest_kmigrate.model.errors import WrongUseError

READ_FILES = (RUN_FILE, VERDICTS_FILE, HISTORY_FILE)
MANIFEST_FILE = "manifest.json"
TIMELINE_FILE = "timeline.html"
PATTERN_CHARACTERS = frozenset(r"\[]{}*?^")
"""What Hadoop reads as a pattern in a path; each can be escaped, but not beside a colon."""

MOST_LEVELS = 4
"""How deep runs may be filed below the given folder, as in ``2026-11/night-3/<run>``."""


@dataclass(frozen=True)
class FoundRun:
    """One run folder: its path below the root, and what Spark need not open files to know."""

    folder: str
    is_complete: bool
    timeline: str | None
    files: tuple[str, ...]


@dataclass(frozen=True)
class Discovery:
    """All runs below ``root``, and the folders that hold none, with the reason they are set aside."""

    root: Path
    runs: tuple[FoundRun, ...]
    strangers: tuple[tuple[str, str], ...]


def discovered(runs: str, out: Path) -> Discovery:
    """Find the run folders below ``runs`` (or ``runs`` itself); raise WrongUseError when there is none."""
    root = Path(runs).resolve()
    if not root.is_dir():
        found = "a file" if root.exists() else "nothing"
        raise WrongUseError(f"{runs}: expected a folder of runs, got {found}; give the folder of --kmigrate-runs")
    found_runs, strangers = _walked(root, root, out.resolve())
    if not found_runs:
        held = f"only {', '.join(name for name, _ in strangers[:3])}" if strangers else "none at all"
        raise WrongUseError(
            f"{runs}: expected at least one run folder (one with a {RUN_FILE}), got {held}; "
            f"run pytest first, or give the folder of --kmigrate-runs"
        )
    return Discovery(root, tuple(found_runs), tuple(strangers))


def _walked(root: Path, here: Path, out: Path) -> tuple[list[FoundRun], list[tuple[str, str]]]:
    """Runs and strangers at ``here`` and below; inside a run folder nothing is looked for."""
    names = {entry.name: entry for entry in _entries(here)}
    name = here.relative_to(root).as_posix()
    if names.keys() & set(READ_FILES):
        if ":" in str(here) and PATTERN_CHARACTERS & set(str(here)):
            return [], [(name, "its path has a colon and one of []{}*?^\\, which Spark cannot open: rename it")]
        return [_run(here, name, frozenset(names), out)], []
    if len(here.relative_to(root).parts) == MOST_LEVELS:
        return [], [(name, f"not looked into: runs are looked for {MOST_LEVELS} folders deep")]
    runs: list[FoundRun] = []
    strangers: list[tuple[str, str]] = []
    for entry in names.values():
        if entry.is_dir() and Path(entry.path) != out:
            more_runs, more_strangers = _walked(root, Path(entry.path), out)
            runs += more_runs
            strangers += more_strangers
    if not runs and here != root:
        # One line for the whole tree: its parts are no news.
        return [], [(name, f"not a run folder: it holds no {RUN_FILE}")]
    return runs, strangers


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted((each for each in entries if not each.name.startswith(".")), key=lambda each: each.name)


def _run(path: Path, name: str, there: frozenset[str], out: Path) -> FoundRun:
    timeline = Path(os.path.relpath(path / TIMELINE_FILE, out)).as_posix() if TIMELINE_FILE in there else None
    return FoundRun(name, MANIFEST_FILE in there, timeline, tuple(each for each in READ_FILES if each in there))
