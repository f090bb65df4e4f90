"""What a vendor can do with an editor, and what a clumsy one does: each is found, or shown to the reader."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pytest_kmigrate.certificates import evidence_of_runs
from pytest_kmigrate.documents import document
from pytest_kmigrate.model.errors import CertificateError, KmigrateError, WrongUseError
from pytest_kmigrate.recording.recorder import write_manifest
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.sessions import note_end_of_run
from tests.unit.certificates.vendors import (
    certified,
    header_of,
    key_of,
    make_run,
    noted_anew,
    runs_of,
    sign_anew,
    verified,
)
from tests.unit.judging.coherence.honest_runs import Line, change_lines, sealed_anew

NONCE = "a nonce that the vendor chose"


def folders(out: Path) -> list[RunFolder]:
    """The runs, the oldest first."""
    return [RunFolder(file.parent) for file in sorted(runs_of(out).glob("*/run.json"))]


def all_conform(lines: list[Line]) -> list[Line]:
    """Each requirement that a verdict names conforms by it; the verdict itself is as it was."""
    for line in lines:
        for about in line["about"]:
            about |= {"outcome": "CONFORMS", "kind": None, "seen": 3}
    return lines


def one_more(lines: list[Line]) -> list[Line]:
    """A verdict speaks for a requirement that its check never looks at."""
    lines[0]["about"].append({**lines[0]["about"][0], "requirement": "K866-DW-full-parity", "outcome": "CONFORMS"})
    return lines


def as_of_old(lines: list[Line]) -> list[Line]:
    """Verdicts as version 0.1 wrote them: each requirement that is listed has the outcome of the whole verdict."""
    for line in lines:
        del line["about"]
        line["requirements"] = ["K866-RB-data-kept"]
    return lines


@pytest.mark.parametrize("edit", [all_conform, one_more, as_of_old])
@pytest.mark.slow
def test_what_a_verdict_says_of_requirements_is_judged_again(
    out: Path, edit: Callable[[list[Line]], list[Line]]
) -> None:
    """Certificates count by requirements, and nothing else of the verdict is changed."""
    change_lines(folders(out)[0].verdicts, edit)
    write_manifest(folders(out)[0])
    noted_anew(runs_of(out))
    with pytest.raises(KmigrateError, match=r"for K866-\S+ stored CONFORMS of .*, now "):
        certified(runs_of(out), out)


@pytest.mark.slow
def test_a_copy_that_is_spelled_otherwise_is_found(out: Path) -> None:
    """A blank at the end of each line, and other compression: no digest is that of the run it was copied from."""
    one, two, _ = folders(out)
    for name in ("history.jsonl", "metrics", "operations", "znodes", "zookeeper"):
        shutil.rmtree(two.path / name) if (two.path / name).is_dir() else (two.path / name).unlink()
        copy: Any = shutil.copytree if (one.path / name).is_dir() else shutil.copy
        copy(one.path / name, two.path / name)
    for file in (two.history, two.metrics, two.znodes, two.transactions):
        file.write_text("".join(f"{line} \n" for line in file.read_text().splitlines()))
    for file in two.operations.glob("*.parquet"):
        pq.write_table(pq.read_table(file), file, compression="gzip")
    sealed_anew(two)
    noted_anew(runs_of(out))
    reasons = [run.reason for run in certified(runs_of(out), out).predicate.claims.runs]
    assert reasons == ["", f"it has the evidence of {one.path.name} once more: its events have the same times", ""]


def test_a_line_that_is_appended_to_sessions_is_found(out: Path) -> None:
    """It breaks no chain, and would have the manifest of a folder that was changed after its run."""
    folder = folders(out)[0]
    write_manifest(folder)
    note_end_of_run(folder, header_of(1))
    with pytest.raises(KmigrateError, match=r"sessions.jsonl: line 9: .*got a second run-ended of 2026"):
        certified(runs_of(out), out)


@pytest.mark.slow
def test_interrupted_runs_are_in_the_conclusion(out: Path) -> None:
    """A vendor who ends a run that goes wrong before its end has no red one."""
    run = make_run(runs_of(out), header_of(4))
    run.manifest.unlink()
    noted_anew(
        runs_of(out),
        lambda lines: [each for each in lines if (each["kind"], each.get("run")) != ("run-ended", run.path.name)],
    )
    concluded = certified(runs_of(out), out).predicate.conclusion
    assert " Noted runs that were interrupted, so that their outcomes are unknown: 1. " in concluded


@pytest.mark.parametrize(("name", "named"), [("night2", "once, got "), (".", "in a folder named by its id, got")])
def test_a_folder_that_was_copied_or_renamed_is_named(out: Path, name: str, named: str) -> None:
    """No reader could verify what came of it."""
    folder = folders(out)[0]
    if name == ".":
        folder.path.rename(runs_of(out) / "renamed")
    else:
        shutil.copytree(folder.path, runs_of(out) / name / folder.path.name)
    with pytest.raises(
        KmigrateError, match=rf"expected .*{folder.path.name}|expected each run.*{folder.path.name}"
    ) as e:
        certified(runs_of(out), out)
    assert named in str(e.value)


def test_the_issuer_is_no_witness(out: Path) -> None:
    """No reader could open what came of it."""
    with pytest.raises(WrongUseError, match="--witness: expected keys of other parties, each once, got sha256:"):
        certified(runs_of(out), out, key_of(out.parent))


def test_a_challenge_without_its_runs_is_refuted(certificate: Path) -> None:
    """The reader is not asked to make them."""

    def challenged(statement: dict[str, Any]) -> None:
        statement["predicate"]["assurance"] = "challenged"
        statement["predicate"]["claims"]["challenge"] = {"nonce": NONCE, "sample": []}

    sign_anew(certificate, challenged)
    with pytest.raises(CertificateError, match=r"claims.challenge: expected all runs that the nonce asks for"):
        verified(certificate)


def issued(at: str) -> Callable[[dict[str, Any]], None]:
    """The certificate says that it was issued then."""
    return lambda statement: statement["predicate"].update(issued_at=at)


@pytest.mark.parametrize(
    ("at", "named"),
    [
        ("2026-03-01T09:00:00+00:00", "expected a time after the last run began (20260301T100300, UTC), got 2026"),
        ("2026-12-01T09:00:00", "issued_at: expected a time with its zone"),
        ("never", "issued_at: expected a time with its zone, got 'never'"),
    ],
)
def test_a_time_of_issue_that_cannot_be_is_found(certificate: Path, at: str, named: str) -> None:
    """Before the runs that it is about, or none at all."""
    sign_anew(certificate, issued(at))
    with pytest.raises(CertificateError) as refuted:
        verified(certificate)
    assert named in str(refuted.value)


@pytest.mark.slow
def test_a_time_of_issue_in_the_future_is_open(certificate: Path) -> None:
    """One of the two clocks is wrong, and the evidence does not show which."""
    sign_anew(certificate, issued((datetime.now(UTC) + timedelta(days=7)).isoformat()))
    (sentence,) = verified(certificate).open
    assert sentence.endswith("which is in the future by the clock of this machine")


def test_what_is_played_is_no_kafka(out: Path) -> None:
    """A digest that is none is compared with no release's jars."""
    shutil.rmtree(runs_of(out))
    header = header_of(1)
    more = {**header.extra, "distribution_digests": {"3.6.0": "fake-3.6.0"}}
    make_run(runs_of(out), replace(header, provider="fake", extra=more))
    with pytest.raises(WrongUseError, match="expected runs of Kafka of any version, got none that has the SHA-256"):
        certified(runs_of(out), out)


def about_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the document of these runs be about members of groups."""
    own = replace(document("kip-866"), members=document("kip-125").members)
    monkeypatch.setattr(evidence_of_runs, "document", lambda _: own)


@pytest.mark.slow
def test_the_reference_does_not_pass_for_a_consumer_of_the_vendors(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs are named as such, and not mixed with those of another command."""
    about_members(monkeypatch)
    claims = certified(runs_of(out), out).predicate.claims
    assert claims.members == "the reference implementation of pytest-kmigrate"
    assert verified(out).statement.predicate.conclusion.startswith(
        "Apache Kafka 3.6.0 with members by the reference implementation of pytest-kmigrate on kip-866: "
    )
    header = header_of(4)
    make_run(runs_of(out), replace(header, extra={**header.extra, "member": ["acme", "--group"]}))
    with pytest.raises(
        WrongUseError, match=r"expected runs of members by one command, got acme --group; the reference"
    ):
        certified(runs_of(out), out)


def test_keys_of_other_kinds_in_sessions_are_named(out: Path) -> None:
    """The line is named, whatever is in it."""
    file = runs_of(out) / "sessions.jsonl"
    lines = file.read_text().splitlines()
    lines[0] = json.dumps({**json.loads(lines[0]), "worker": ["gw0"]})
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(KmigrateError, match=r"sessions.jsonl: line 1: .*got no 'text as worker'"):
        certified(runs_of(out), out)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda folder: folder.metrics, "expected evidence as this release records it, got TypeError"),
        (
            lambda folder: folder.history,
            r"history\.jsonl: line 6: expected the keys of event; a text as state in the data of state",
        ),
    ],
)
def test_values_that_no_recorder_writes_are_no_defect_of_ours(
    out: Path, change: Callable[[RunFolder], Path], named: str
) -> None:
    """The run is named, and no reader is asked to report a defect."""

    def edited(lines: list[Line]) -> list[Line]:
        return [
            {**line, "at_ns": [1]}
            if "values" in line
            else {**line, "data": {**line["data"], "state": {}}}
            if line["kind"] == "state"
            else line
            for line in lines
        ]

    folder = folders(out)[0]
    change_lines(change(folder), edited)
    write_manifest(folder)
    noted_anew(runs_of(out))
    with pytest.raises(KmigrateError, match=rf"{folder.path.name}(?:: |/){named}"):
        certified(runs_of(out), out)


@pytest.mark.slow
def test_sizes_of_a_machine_may_be_anything(out: Path) -> None:
    """The sizes are shown, and nothing follows from them."""
    for folder in folders(out):
        header = json.loads(folder.header.read_text())
        header["extra"]["host"] = {"boot": "b", "kernel": "k", "cores": "many", "memory_mb": True}
        folder.header.write_text(json.dumps(header))
        sealed_anew(folder)
    noted_anew(runs_of(out))
    (host,) = certified(runs_of(out), out).predicate.claims.hosts
    assert (host.cores, host.memory_mb) == (0, 0)
