"""Which run folder counts as a complete run of a test, and which does not."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.judging.complete import CompleteRun, complete_run
from pytest_kmigrate.model.event import Ending
from pytest_kmigrate.model.events.evidence import RunEnded
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.verdict import conforms
from pytest_kmigrate.recording.recorder import RunRecorder, write_manifest
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.verdicts import write_verdicts

DIGESTS = {"topology_digest": "t1", "distribution_digests": {"3.9.1": "d1"}, "source_digest": "s1"}
HEADER = RunHeader("x", "suites/test_copy.py::test_it[a b]", 7, "3.9.1", "small", extra=DIGESTS)
PASSED = RunEnded(Ending.PASSED, "CONFORMS")


def recorded(
    runs: Path, header: RunHeader = HEADER, at: str = "20261126T100000", ending: RunEnded = PASSED
) -> RunFolder:
    """A whole folder of a judged run that ended like this."""
    folder = RunFolder(runs / f"{at}-test-it-a-b-seed{header.seed}-abc123")
    folder.path.mkdir(parents=True)
    recorder = RunRecorder(folder, header)
    recorder.ending = ending
    recorder.close()
    write_verdicts(folder, [conforms("all").by("a")])
    write_manifest(folder)
    return folder


def test_a_complete_run_is_found_with_how_it_ended(tmp_path: Path) -> None:
    """By the newest folder of the same test, whatever lies beside it."""
    recorded(tmp_path, at="20261126T090000", ending=RunEnded(Ending.FAILED, "VIOLATES"))
    folder = recorded(tmp_path, ending=RunEnded(Ending.KNOWN_BUG, "VIOLATES", "kmigrate-1"))
    recorded(tmp_path, replace(HEADER, seed=8), at="20261126T110000")
    assert complete_run(tmp_path, HEADER) == CompleteRun(folder.path, "known-bug", "VIOLATES", "kmigrate-1")


@pytest.mark.parametrize(
    "other",
    [
        {"test_id": "suites/test_other.py::test_it[a b]"},  # folders of both have one name
        {"kafka": "3.9.0"},
        {"profile": "kip-866-draft"},
        {"provider": "fake"},
        {"extra": {**DIGESTS, "distribution_digests": {"3.9.1": "d2"}}},
        {"extra": {**DIGESTS, "topology_digest": "t2"}},
        {"extra": {**DIGESTS, "source_digest": "s2"}},
        {"extra": {**DIGESTS, "harness_digest": "h2"}},
        {"extra": {**DIGESTS, "byteman": "RULE"}},
        {"extra": {**DIGESTS, "cold": True}},
        {"extra": {"source_digest": "s1"}},  # an older harness recorded fewer digests
    ],
    ids=str,
)
def test_a_run_of_anything_else_is_none_of_this_test(tmp_path: Path, other: dict[str, object]) -> None:
    """Another test, document or release, other software, other sources, other rules."""
    recorded(tmp_path, replace(HEADER, **other))  # type: ignore[arg-type]  # keys of a header
    assert complete_run(tmp_path, HEADER) is None


def cut(folder: RunFolder) -> None:
    """The last line of its history is half written, and nothing came after it."""
    folder.history.write_bytes(folder.history.read_bytes()[:-4])
    write_manifest(folder)


DEFECTS: dict[str, Callable[[RunFolder], object]] = {
    "no manifest": lambda folder: folder.manifest.unlink(),
    "a manifest that is not true": lambda folder: folder.history.write_text("{}\n"),
    "a manifest that is half written": lambda folder: folder.manifest.write_text("{"),
    "no verdicts": lambda folder: (folder.verdicts.unlink(), write_manifest(folder)),
    "no end": cut,
    "no header": lambda folder: folder.header.write_text("{"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_folder_that_is_not_whole_is_no_complete_run(tmp_path: Path, defect: str) -> None:
    """The test is run again; an older whole run of it counts all the same."""
    DEFECTS[defect](recorded(tmp_path))
    assert complete_run(tmp_path, HEADER) is None
    older = recorded(tmp_path, at="20261126T090000")
    assert complete_run(tmp_path, HEADER) == CompleteRun(older.path, "passed", "CONFORMS", None)


def test_a_run_whose_test_did_not_end_is_not_complete(tmp_path: Path) -> None:
    """Its cluster never came up, say: the folder is whole, and no test was judged by it."""
    recorded(tmp_path, ending=RunEnded())
    assert complete_run(tmp_path, HEADER) is None


def test_no_folder_of_runs_has_no_complete_run(tmp_path: Path) -> None:
    """The first invocation finds nothing to resume."""
    assert complete_run(tmp_path / "none", HEADER) is None
