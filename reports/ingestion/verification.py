"""Verification: what the manifests of runs vouch for, beside what is there."""

import json
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_kmigrate.analysis.staging import VERDICTS_FILE
from pytest_kmigrate.reports.ingestion.discovery import JUDGED_FILES, MANIFEST_FILE, FoundRun
from pytest_kmigrate.reports.ingestion.ledger import Ledger
from pytest_kmigrate.reports.ingestion.operations import OPERATIONS_FOLDER, is_part
from pytest_kmigrate.reports.ingestion.reading import MOST_WHOLE_BYTES
from pytest_kmigrate.reports.ingestion.storage import Storage

BadRow = tuple[str, str, int | None, str, bool]
"""A row of ``bad_rows``: folder, path, line, reason, is_run."""

_NOT_THERE = "manifest.json names it, but it is not there"
_UNNAMED = "manifest.json does not name it: it was put there after the run ended"
_MOST_SHOWN = 60
_ALTERED = "it differs from the digest in manifest.json: it was changed after the run ended"


@dataclass(frozen=True)
class Known:
    """What runs are known by, and of those that are new or changed what was read for that."""

    digests: Mapping[str, str]
    """Folder -> digest."""
    manifests: Mapping[str, bytes]
    """Folder -> manifest."""
    sha256: Mapping[str, str]
    """Path of a file that records how a run ended -> its SHA-256; the huge ones are left out."""


@dataclass(frozen=True)
class Verified:
    """Some runs, as far as their manifests allow to read them."""

    runs: tuple[FoundRun, ...]
    """Those that lack a part of their operations, or have one too many, are without any."""
    parts: Mapping[str, Mapping[str, str]]
    """Folder -> path of a part of its operations -> its SHA-256; the parts are compared where they are read."""
    bad: tuple[BadRow, ...]
    altered: frozenset[str]
    """Folders of runs whose verdicts are not those that they wrote."""


def known_by(runs: Sequence[FoundRun], source: Storage, ledger: Ledger) -> Known:
    """What each run is known by, and what had to be read for that; a folder as it was is not opened."""
    as_before = {run.folder for run in runs if run.folder in ledger and ledger[run.folder].stamp == run.stamp}
    fresh = [run for run in runs if run.folder not in as_before and run.is_complete]
    contents = source.contents([run.path(MANIFEST_FILE) for run in fresh])
    manifests = {run.folder: contents[run.path(MANIFEST_FILE)] for run in fresh}
    small = [
        run.path(file.path)
        for run in fresh
        for file in run.files
        if file.path in JUDGED_FILES and file.size_bytes <= MOST_WHOLE_BYTES
    ]
    sha256 = source.digests(small)
    digests = {
        run.folder: ledger[run.folder].digest
        if run.folder in as_before
        else run.digest(manifests.get(run.folder), sha256)
        for run in runs
    }
    return Known(digests, manifests, sha256)


def verified(runs: Sequence[FoundRun], known: Known) -> Verified:
    """The runs beside their manifests; one without a manifest is as it is."""
    manifests = known.manifests
    named: dict[str, Mapping[str, str]] = {}
    bad: list[BadRow] = []
    for run in runs:
        try:
            named[run.folder] = _named(manifests[run.folder]) if run.folder in manifests else {}
        except (ValueError, KeyError, TypeError, RecursionError):
            begins = manifests[run.folder][:_MOST_SHOWN].decode(errors="replace").replace("\n", " ")
            reason = f"not a manifest (it begins: {begins}): nothing in this folder can be verified"
            bad.append(bad_file(run, MANIFEST_FILE, reason))
    vouched = [run for run in runs if run.folder in named]
    judged = [row for run in vouched for row in _judged_files(run, named[run.folder], known.sha256)]
    astray = {run.folder: row for run in vouched for row in _parts_astray(run, named[run.folder])}
    return Verified(
        tuple(_without_operations(run) if run.folder in astray else run for run in runs),
        {
            folder: {name: sha256 for name, sha256 in of_run.items() if is_part(name)}
            for folder, of_run in named.items()
        },
        (*bad, *judged, *astray.values()),
        frozenset(folder for folder, path, *_ in judged if posixpath.basename(path) == VERDICTS_FILE),
    )


def bad_file(run: FoundRun, file: str, reason: str) -> BadRow:
    """A row about a file of a run; a verdict may hang on it."""
    return (run.folder, run.path(file), None, reason, True)


def _named(manifest: bytes) -> Mapping[str, str]:
    """File -> its SHA-256, of those that are compared."""
    sha256 = dict(json.loads(manifest)["sha256"])
    return {str(name): str(value) for name, value in sha256.items() if name in JUDGED_FILES or is_part(str(name))}


def _judged_files(run: FoundRun, named: Mapping[str, str], sha256: Mapping[str, str]) -> list[BadRow]:
    """What is wrong with the files that record how a run ended; the huge ones are not verified."""
    bad: list[BadRow] = []
    for name in filter(named.__contains__, JUDGED_FILES):
        if not run.has(name):
            bad.append(bad_file(run, name, _NOT_THERE))
        elif sha256.get(run.path(name), named[name]) != named[name]:
            bad.append(bad_file(run, name, _ALTERED))
    return bad


def _parts_astray(run: FoundRun, named: Mapping[str, str]) -> list[BadRow]:
    """One row where parts of the operations are not those of the manifest: they would show what never was.

    A missing one makes losses of what the others hold; one that was added may hide a loss.
    """
    there = {file.path for file in run.files}
    lacking = sorted(filter(is_part, named.keys() - there))
    added = sorted(filter(is_part, there - named.keys())) if named else []
    wrong = lacking or added
    if not wrong:
        return []
    more = f" ({len(wrong) - 1} more like it)" * (len(wrong) > 1)
    why = _NOT_THERE if lacking else _UNNAMED
    return [bad_file(run, wrong[0], f"{why}{more}; no operation of this run is judged")]


def _without_operations(run: FoundRun) -> FoundRun:
    return replace(run, files=tuple(file for file in run.files if not file.path.startswith(f"{OPERATIONS_FOLDER}/")))
