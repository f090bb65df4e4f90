"""Verification: what manifests name is compared with what is there, and what it costs a run to differ."""

import hashlib
import json
from pathlib import Path

from pytest_kmigrate.reports.ingestion.discovery import FoundRun, discovered
from pytest_kmigrate.reports.ingestion.storage import LocalStorage
from pytest_kmigrate.reports.ingestion.verification import Verified, known_by, verified

PARTS = ("operations/clients-000001.parquet", "operations/reader-000001.parquet", "operations/reader-000002.parquet")


def _run(folder: Path) -> None:
    """A run folder whose manifest is true."""
    files = {name: name.encode() for name in ("run.json", "verdicts.jsonl", "logs/broker-0/server.log", *PARTS)}
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    sha256 = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    (folder / "manifest.json").write_text(json.dumps({"sha256": sha256}))


def _verified(runs: Path) -> Verified:
    found = discovered(LocalStorage(runs), str(runs / "out")).runs
    return verified(found, known_by(found, LocalStorage(runs), {}))


def _parts(run: FoundRun) -> list[str]:
    return [file.path for file in run.files if file.path.startswith("operations/")]


def test_what_is_as_its_manifest_says_is_read_and_its_parts_are_yet_to_be_compared(tmp_path: Path) -> None:
    """Nothing is reported; the digest of each part travels with the run, to where its bytes are read."""
    _run(tmp_path / "r")

    reported = _verified(tmp_path)

    assert (reported.bad, [_parts(run) for run in reported.runs]) == ((), [list(PARTS)])
    assert reported.parts == {"r": {name: hashlib.sha256(name.encode()).hexdigest() for name in PARTS}}


def test_a_run_that_lacks_a_part_of_its_operations_is_read_without_any(tmp_path: Path) -> None:
    """One row, however many are missing; the run beside it is whole, and so is one without a manifest."""
    for name in ("lacks-one", "lacks-two", "whole", "being-written"):
        _run(tmp_path / name)
    for gone in ("lacks-one", "lacks-two", "being-written"):
        (tmp_path / gone / PARTS[2]).unlink()
    (tmp_path / "lacks-two" / PARTS[1]).unlink()
    (tmp_path / "being-written" / "manifest.json").unlink()

    reported = _verified(tmp_path)

    assert {run.folder: _parts(run) for run in reported.runs} == {
        "being-written": list(PARTS[:2]),
        "lacks-one": [],
        "lacks-two": [],
        "whole": list(PARTS),
    }
    not_there = "manifest.json names it, but it is not there"
    assert reported.bad == (
        ("lacks-one", f"lacks-one/{PARTS[2]}", None, f"{not_there}; no operation of this run is judged", True),
        (
            "lacks-two",
            f"lacks-two/{PARTS[1]}",
            None,
            f"{not_there} (1 more like it); no operation of this run is judged",
            True,
        ),
    )


def test_a_run_with_a_part_that_its_manifest_does_not_name_is_read_without_operations(tmp_path: Path) -> None:
    """What was put there later may hide what was lost; a manifest that names nothing vouches for nothing."""
    for name in ("added-to", "vouched-by-nothing"):
        _run(tmp_path / name)
        (tmp_path / name / "operations" / "reader-000003.parquet").write_bytes(b"more")
    (tmp_path / "vouched-by-nothing" / "manifest.json").write_text('{"sha256": {}}')

    reported = _verified(tmp_path)

    assert [len(_parts(run)) for run in reported.runs] == [0, 4]
    why = "manifest.json does not name it: it was put there after the run ended; no operation of this run is judged"
    assert reported.bad == (("added-to", "added-to/operations/reader-000003.parquet", None, why, True),)


def test_verdicts_that_were_changed_after_the_run_are_told_and_make_another_run_of_it(tmp_path: Path) -> None:
    """Of the same size, so no listing shows it; its neighbour, whose header was changed, still has its verdicts."""
    for name in ("verdicts", "header", "touched"):
        _run(tmp_path / name)
    before = known_by(discovered(LocalStorage(tmp_path), "/out").runs, LocalStorage(tmp_path), {}).digests
    for name, file in (("verdicts", "verdicts.jsonl"), ("header", "run.json"), ("touched", "run.json")):
        changed = tmp_path / name / file
        changed.write_bytes(changed.read_bytes() if name == "touched" else changed.read_bytes().upper())

    reported = _verified(tmp_path)
    after = known_by(discovered(LocalStorage(tmp_path), "/out").runs, LocalStorage(tmp_path), {}).digests

    assert [(folder, path) for folder, path, *_ in reported.bad] == [
        ("header", "header/run.json"),
        ("verdicts", "verdicts/verdicts.jsonl"),
    ]
    assert reported.altered == {"verdicts"}
    assert {folder for folder in after if after[folder] != before[folder]} == {"header", "verdicts"}


def test_a_manifest_that_is_none_verifies_nothing(tmp_path: Path) -> None:
    """Half of one, or one of another shape: one row, and the run is read as it is."""
    for name, text in (("half", '{"sha'), ("list", '{"sha256": [1]}'), ("empty", "{}")):
        _run(tmp_path / name)
        (tmp_path / name / "manifest.json").write_text(text)

    reported = _verified(tmp_path)

    assert [path for _, path, *_ in reported.bad] == [f"{name}/manifest.json" for name in ("empty", "half", "list")]
    begins = ["{}", '{"sha', '{"sha256": [1]}']
    wanted = [f"not a manifest (it begins: {each}): nothing in this folder can be verified" for each in begins]
    assert [reason for _, _, _, reason, _ in reported.bad] == wanted
    assert [_parts(run) for run in reported.runs] == [list(PARTS)] * 3
