"""A run folder is judged again without being changed, and what differs from the stored verdicts is reported."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from pytest_kmigrate.judging.judge import judge_folder
from pytest_kmigrate.judging.rejudge import judge_again
from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.recorder import write_manifest
from pytest_kmigrate.recording.run_folder import RunFolder
from tests.unit.reports.recorded_runs import RecordedRun, faulty_run


def judged(run: RecordedRun) -> RunFolder:
    """The run ended, judged and sealed as pytest does it."""
    run.at(2500, EventKind.CHECKS, checks=[{"name": "no_unexpected_death", "arguments": {}}])
    judge_folder(run.folder)
    folder = run.end(3000)
    write_manifest(folder)
    return folder


def contents(path: Path) -> dict[str, str]:
    """The digest of every file."""
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in path.rglob("*") if file.is_file()}


def test_the_same_verdicts_and_an_untouched_folder(tmp_path: Path) -> None:
    """Judging reads only: the manifest stays true."""
    folder = judged(faulty_run(tmp_path))
    before = contents(folder.path)
    again = judge_again(folder.path)
    assert again.differences == ()
    assert again.has_stored
    assert again.is_complete
    assert again.outcome is Outcome.CONFORMS
    assert contents(folder.path) == before


def test_stored_verdicts_that_the_evidence_does_not_bear_are_named(tmp_path: Path) -> None:
    """A verdict that was turned, one that was taken out: both are reported."""
    folder = judged(faulty_run(tmp_path))
    rows = [json.loads(line) for line in folder.verdicts.read_text().splitlines()]
    rows[0]["outcome"] = "VIOLATES"
    folder.verdicts.write_text("".join(json.dumps(row) + "\n" for row in rows[:-1]))
    folder.manifest.unlink()
    first, last = judge_again(folder.path).differences
    assert first == f"{rows[0]['check']}: outcome stored VIOLATES, now CONFORMS"
    assert last.startswith(f"{rows[-1]['check']}: not stored, now ")


def test_evidence_that_is_not_what_the_manifest_says_is_refused(tmp_path: Path) -> None:
    """A changed history proves nothing."""
    folder = judged(faulty_run(tmp_path))
    folder.history.write_text(folder.history.read_text().replace("HYBRID", "COPYING"))
    with pytest.raises(RunFolderError, match=r"history\.jsonl"):
        judge_again(folder.path)


def test_an_interrupted_run_never_conforms(tmp_path: Path) -> None:
    """The test did not come to say what to judge: what its history shows would conform, and still it is no pass."""
    run = faulty_run(tmp_path)
    run.at(60_000, EventKind.SETTLED)
    again = judge_again(run.cut_off().path)
    assert {verdict.outcome for verdict in again.verdicts} <= {Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE}
    reported = (
        "the harness had trouble: the run was interrupted (the last 30 s of its evidence may be missing; the last line "
        "of history.jsonl is torn) - so it proves nothing that none of 1 node died unasked"
    )
    assert any(verdict.summary.startswith(reported) for verdict in again.verdicts)
    assert again.outcome is Outcome.INCONCLUSIVE
    assert not again.has_stored


def test_a_line_that_is_no_verdict_is_named(tmp_path: Path) -> None:
    """File and line, and what to do."""
    folder = judged(faulty_run(tmp_path))
    folder.manifest.unlink()
    folder.verdicts.write_text('{"check": "x"}\n')
    with pytest.raises(RunFolderError, match="line 1: expected a verdict"):
        judge_again(folder.path)


def test_a_check_that_this_release_does_not_know_is_told_with_its_file(tmp_path: Path) -> None:
    """As a newer release may have recorded one: the file, the check, the nearest name, what to do."""
    run = faulty_run(tmp_path)
    run.at(2500, EventKind.CHECKS, checks=[{"name": "no_acked_record_lots", "arguments": {}}])
    reported = r"history\.jsonl: check: .*no_acked_record_lost.\?; judge it with the release that recorded it"
    with pytest.raises(RunFolderError, match=reported):
        judge_again(run.cut_off().path)


def test_a_run_that_was_not_sealed_never_conforms(tmp_path: Path) -> None:
    """It was judged, and interrupted before its manifest vouched for the evidence: what is missing is unknown."""
    folder = judged(faulty_run(tmp_path))
    assert judge_again(folder.path).outcome is Outcome.CONFORMS
    folder.manifest.unlink()
    assert judge_again(folder.path).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("name", ["run.json", "history.jsonl", "verdicts.jsonl"])
def test_json_that_is_nested_too_deep_is_damage_like_any_other(tmp_path: Path, name: str) -> None:
    """One sentence that names the file, and no stack trace."""
    folder = judged(faulty_run(tmp_path))
    folder.manifest.unlink()
    (folder.path / name).write_text("[" * 100_000 + "\n")
    with pytest.raises(RunFolderError, match=rf"{name}: .*line 1|{name}: line 1"):
        judge_again(folder.path)


def test_a_manifest_without_sizes_is_damage(tmp_path: Path) -> None:
    """How far a log may be trusted that goes on growing is a number."""
    folder = judged(faulty_run(tmp_path))
    manifest = json.loads(folder.manifest.read_text())
    folder.manifest.write_text(json.dumps({**manifest, "growing": {"history.jsonl": "x"}}))
    with pytest.raises(RunFolderError, match=r"manifest\.json: expected the digests"):
        judge_again(folder.path)


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
@pytest.mark.parametrize(
    "name", ["history.jsonl", "metrics/metrics.jsonl", "metadata/late.json", "operations/client-000009.parquet"]
)
def test_what_is_no_plain_file_is_not_waited_for(tmp_path: Path, name: str, kind: str) -> None:
    """Nobody may ever write into a pipe, and a device may never end."""
    folder = judged(faulty_run(tmp_path))
    place = folder.path / name
    place.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place.symlink_to(os.devnull)
    else:
        place.mkdir()
    with pytest.raises(RunFolderError, match=f"{name}: expected a .*plain file"):
        judge_again(folder.path)
