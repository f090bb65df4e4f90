"""Finds the complete run of a test among run folders: what ``--kmigrate-resume`` does not run again."""

from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.recording.reading import read_events, read_header, verify_manifest
from pytest_kmigrate.recording.run_folder import RunFolder, folders_of

_KEYS = ("test_id", "seed", "kafka", "topology", "provider", "profile")
_DIGESTS = (
    "topology_digest",
    "distribution_digests",
    "images",
    "source_digest",
    "harness_digest",
    "pytest_kmigrate",
    "python",
    "byteman",
    "exercise",
    "mutant",
    "cold",
)


@dataclass(frozen=True)
class CompleteRun:
    """A run that ended as it should; how its test ended ("passed", "known-bug", ...), and the run's outcome by name."""

    folder: Path
    test: str
    outcome: str
    known_bug: str | None


def complete_run(runs: Path, wanted: RunHeader) -> CompleteRun | None:
    """The newest complete run of the same test by the same harness on the same software; None when there is none.

    A folder without a manifest, with one that is not true, without verdicts or with a test whose end was not recorded
    of is not complete.
    """
    for folder in folders_of(runs, wanted.test_id, wanted.seed):
        try:
            if _identity(read_header(folder)) == _identity(wanted):
                found = _complete(folder)
                if found is not None:
                    return found
        except RunFolderError:  # damaged or cut short: not complete
            continue
    return None


def _identity(header: RunHeader) -> list[object]:
    return [*(getattr(header, key) for key in _KEYS), *(getattr(header.circumstances, digest) for digest in _DIGESTS)]


def _complete(folder: RunFolder) -> CompleteRun | None:
    verify_manifest(folder)
    ends = [event.data for event in read_events(folder) if event.kind is EventKind.RUN_ENDED]
    if not (ends and ends[-1].get("test") and folder.verdicts.is_file()):
        return None
    end = ends[-1]
    known_bug = end.get("known_bug")
    return CompleteRun(folder.path, str(end["test"]), str(end.get("outcome")), str(known_bug) if known_bug else None)
