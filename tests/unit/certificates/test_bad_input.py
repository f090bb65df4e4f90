"""Files and orders that no vendor made on purpose: each is refused in one sentence."""

import errno
import hashlib
import io
import json
import os
import re
import shutil
import stat
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kmigrate.certificates.bundle import packed
from pytest_kmigrate.certificates.certifying import evidence_file
from pytest_kmigrate.certificates.keys import pinned
from pytest_kmigrate.model.errors import CertificateError, EnvironmentLackError, RunFolderError, WrongUseError
from pytest_kmigrate.recording.recorder import write_manifest
from pytest_kmigrate.recording.run_folder import run_folders
from tests.unit.certificates.vendors import (
    certified,
    command,
    noted_anew,
    runs_of,
    sign_anew,
    verified,
)


def link() -> zipfile.ZipInfo:
    """A member that is a link."""
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("added", "named"),
    [
        ("../outside", r"expected plain files in the archive, got '\.\./outside'"),
        ("/outside", "expected plain files in the archive, got '/outside'"),
        (link(), "expected plain files in the archive, got 'link'"),
        ("sessions.jsonl", "expected each file once, got 'sessions.jsonl' twice"),
        ("Sessions.JSONL", "expected each file once, got 'Sessions.JSONL' twice"),
        ("more.txt", "got more.txt, which no manifest names"),
        ("./sessions.jsonl", r"expected plain files in the archive, got '\./sessions.jsonl'"),
    ],
)
@pytest.mark.slow
def test_archives_that_pack_does_not_write_are_refused(certificate: Path, added: Any, named: str) -> None:
    """Also where the vendor signs their digest."""
    archive = evidence_file(certificate)
    with zipfile.ZipFile(archive, "a") as more:
        more.writestr(added, b"x")
    _sign_evidence(certificate)
    with pytest.raises(CertificateError, match=named):
        verified(certificate)


@pytest.mark.slow
def test_a_link_among_the_files_of_a_run_packs_no_file_of_this_machine(tmp_path: Path, runs: Path) -> None:
    """A container may put one among its logs; a manifest leaves it out, and one that names it is refused."""
    elsewhere = tmp_path / "elsewhere.log"
    elsewhere.write_text("a file of this machine\n")
    run = run_folders(runs)[0]
    link_there = run.log_folder("broker-7") / "more.log"
    link_there.parent.mkdir()
    link_there.symlink_to(elsewhere)
    write_manifest(run)
    named = json.loads(run.manifest.read_text())["sha256"]
    assert not [each for each in named if "broker-7" in each]
    named["logs/broker-7/more.log"] = hashlib.sha256(elsewhere.read_bytes()).hexdigest()
    run.manifest.write_text(json.dumps({"sha256": named, "growing": {}}))
    noted_anew(runs)
    with pytest.raises(RunFolderError, match=r"logs/broker-7/more.log: expected a file of the run, got a link"):
        certified(runs, tmp_path / "x.kmcert")


def _sign_evidence(out: Path) -> None:
    found = packed(evidence_file(out))

    def change(statement: dict[str, Any]) -> None:
        statement["predicate"]["evidence"] |= {"sha256": found.sha256, "bytes": found.size_bytes}

    sign_anew(out, change)


def test_evidence_that_is_no_archive_is_refused(certificate: Path) -> None:
    """Also where the vendor signs its digest."""
    evidence_file(certificate).write_bytes(b"no archive")
    _sign_evidence(certificate)
    with pytest.raises(CertificateError, match="expected an archive of run folders"):
        verified(certificate)


def test_one_run_is_no_folder_of_runs(out: Path) -> None:
    """Its sessions are beside it, and without them none counts."""
    run = min(runs_of(out).glob("*/run.json")).parent
    with pytest.raises(WrongUseError, match=f"got one run: give the folder that it is in, {run.parent}"):
        certified(run, out)


@pytest.mark.parametrize(
    ("taken", "named"),
    [
        (".kmcert", r"x\.kmcert: it cannot be written: Is a directory"),
        (".kmevidence.zip", r"x\.kmevidence\.zip: the evidence cannot be written: Is a directory"),
        (".key", r"--key .*x\.key: expected a private key, got Is a directory"),
        (".key.pub", r"x\.key: a new key cannot be written there: Is a directory"),
    ],
)
@pytest.mark.slow
def test_what_cannot_be_written_is_named(
    out: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, taken: str, named: str
) -> None:
    """The file, why, and what to do; the system's own words would name a half-written one, or none."""
    out.with_name(f"x{taken}").mkdir()
    status, printed = command(capfd, monkeypatch, "certify", runs_of(out), "--profile", "kip-866", "--out", out)
    assert (status in (2, 4), re.search(named, printed) is not None) == (True, True), printed


def test_evidence_that_cannot_be_unpacked_is_refused(certificate: Path) -> None:
    """Its index is right, and a member is not what the index says."""
    archive = evidence_file(certificate)
    with zipfile.ZipFile(archive) as members:
        first = members.infolist()[0]
    content, begin = bytearray(archive.read_bytes()), first.header_offset + 30 + len(first.filename)
    content[begin : begin + 20] = b"\xff" * 20
    archive.write_bytes(content)
    _sign_evidence(certificate)
    with pytest.raises(CertificateError, match="expected an archive of run folders, got another file: Error -3"):
        verified(certificate)


def test_evidence_that_has_no_room_is_not_unpacked(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small archive may hold more than the disk of the reader."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1))
    with pytest.raises(
        EnvironmentLackError, match=r"expected room for \d+ MB, got 0 MB in .*name another folder by TMPDIR"
    ):
        verified(certificate)


MANIFESTS = {
    "[]": "expected a JSON object, got a list",
    "{": "expected JSON; ",
    '{"sha256": {"/etc/passwd": ""}}': "expected files of the run, got '/etc/passwd'; do not trust it",
    '{"sha256": {"./history.jsonl": ""}}': "expected files of the run, got './history.jsonl'; do not trust it",
    '{"sha256": {"../../x": ""}}': "expected files of the run, got '../../x'; do not trust it",
}


@pytest.mark.parametrize("written", MANIFESTS)
def test_a_manifest_in_evidence_names_files_of_its_run(certificate: Path, written: str) -> None:
    """A reader opens no other, and the message names which manifest of the archive it is."""
    archive = evidence_file(certificate)
    with zipfile.ZipFile(archive) as members:
        contents = {name: members.read(name) for name in members.namelist()}
    (name, *_) = [each for each in contents if each.endswith("manifest.json")]
    with zipfile.ZipFile(archive, "w") as members:
        for each, content in contents.items():
            members.writestr(each, written if each == name else content)
    _sign_evidence(certificate)
    with pytest.raises(CertificateError) as refused:
        verified(certificate)
    printed = str(refused.value)
    assert (printed.startswith(f"{archive.name}: {name}: "), MANIFESTS[written] in printed) == (True, True), printed


@pytest.mark.slow
def test_commands_certify_and_verify(
    out: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder and a key are made where there are none; both commands end with the status of the grade."""
    runs, out = runs_of(out), out.parent / "new" / out.name
    words = ("certify", runs, "--profile", "kip-866", "--out", out, "--organization", "Acme")
    status, reported = command(capfd, monkeypatch, *words)
    assert (status, "a new key; keep it to yourself" in reported) == (3, True)
    key = re.search(r"key: (sha256:\w+)", reported)
    assert key is not None
    assert pinned(str(out.with_suffix(".key.pub"))) == key[1].removeprefix("sha256:")
    assert stat.S_IMODE(out.with_suffix(".key").stat().st_mode) == 0o600
    status, reported = command(capfd, monkeypatch, "verify", out, "--key", key[1])
    assert (status, "verified: its statements follow from its evidence\n" in reported) == (3, True)
    assert reported.startswith("INCOMPLETE, so far conforms: Acme by kip-866\n")
    assert "limit: The vendor ran the tests" in reported
    assert "Acme: Apache Kafka 3.6.0, kip-866" in reported


BAD: dict[str, tuple[Any, tuple[str, ...], str]] = {
    "no certificate": (lambda out: out.unlink(), (), "expected a certificate, got No such file or directory"),
    "truncated": (lambda out: out.write_bytes(out.read_bytes()[:500]), (), "one whole line; it is cut or damaged"),
    "no envelope": (lambda out: out.write_bytes(b"{}\n"), (), "expected a certificate in a DSSE envelope"),
    "another file": (lambda out: out.write_bytes(b"PK\x03\x04\n"), (), "expected a certificate in a DSSE envelope"),
    "a newer schema": (
        lambda out: sign_anew(out, lambda statement: statement["predicate"].update(schema_version=3)),
        (),
        "schema_version: expected 2, got 3: a later release of pytest-kmigrate wrote it",
    ),
    "an older schema": (
        lambda out: sign_anew(out, lambda statement: statement["predicate"].update(schema_version=1)),
        (),
        "schema_version: expected 2, got 1: an earlier release of pytest-kmigrate wrote it",
    ),
    "other software": (Path.exists, ("--software", f"sha256:{'ab' * 32}"), "it is about other software"),
    "no digest": (
        Path.exists,
        ("--software", "sha256:ab"),
        "'sha256:ab': expected sha256: and 64 hexadecimal digits, a folder",
    ),
    "nothing to allow": (Path.exists, ("--allow", "everything"), "--allow: expected apache-defects, got 'everything'"),
    "another statement": (
        lambda out: sign_anew(out, lambda statement: statement.update(predicateType="https://slsa.dev/provenance/v1")),
        (),
        "predicateType: Input should be 'urn:pytest-kmigrate:certificate:v2'",
    ),
    "an unknown profile": (
        lambda out: sign_anew(
            out,
            lambda statement: statement["predicate"]["claims"]["profile"].update(id="kip-1"),
        ),
        (),
        "profile: expected one of kip-125,",
    ),
    "another key": (Path.exists, ("--key", "ab" * 32), "another party signed it"),
    "no key": (Path.exists, ("--key", "nowhere.pub"), "--key nowhere.pub: expected a fingerprint"),
    "no evidence": (Path.exists, ("--evidence", "nowhere.zip"), "nowhere.zip: expected the evidence of the cert"),
}


def test_a_document_that_is_none_leaves_no_key(
    out: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused before anything is made."""
    words = ("certify", runs_of(out), "--profile", "kip-1", "--out", out)
    status, reported = command(capfd, monkeypatch, *words)
    assert (status, "got 'kip-1'" in reported, "a new key" in reported) == (2, True, False)
    assert not out.with_suffix(".key").exists()


@pytest.mark.parametrize("wrong", BAD)
@pytest.mark.slow
def test_bad_input_is_one_sentence(
    certificate: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    """File, what was expected, what was got; status 2 and no stack trace."""
    damage, words, named = BAD[wrong]
    damage(certificate)
    status, reported = command(capfd, monkeypatch, "verify", certificate, *words)
    assert (status, named in reported, "Traceback" in reported) == (2, True, False), reported
    assert len(reported.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--profile", "kip-1", "--out", "x.kmcert"), "profile: expected one of kip-"),
        (
            ("--profile", "kip-778", "--out", "x.kmcert"),
            "expected runs of kip-778, got runs of kip-866 only: name another by",
        ),
        (("--profile", "kip-866", "--out", "x.json"), "--out: expected a file named *.kmcert, got 'x.json'"),
        (("--profile", "kip-866", "--out", "x.kmcert", "--kafka", "3.0.0"), "expected runs of Kafka 3.0.0, got 3.6.0"),
        (("--profile", "kip-866", "--out", "x.kmcert", "--key", "none.pem"), "--key none.pem: expected a private key"),
    ],
)
def test_bad_orders_are_one_sentence(
    out: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    named: str,
) -> None:
    """Nothing is certified."""
    monkeypatch.chdir(out.parent)
    status, reported = command(capfd, monkeypatch, "certify", runs_of(out), *words)
    assert (status, named in reported, "Traceback" in reported) == (2, True, False), reported
    assert not out.exists()


@pytest.mark.slow
def test_the_facts_as_json_are_those_of_the_guide(
    certificate: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else is on standard output, and each key is in the guide."""
    status, reported = command(capfd, monkeypatch, "verify", certificate, "--json")
    facts = json.loads(reported)
    assert (status, facts["exit_status"], facts["grade"], facts["is_complete"]) == (3, 3, "conforms", False)
    guide = (Path(__file__).parents[3] / "docs" / "how-to" / "certify-my-kafka.md").read_text()
    assert [key for key in facts if f"`{key}`" not in guide] == []


@pytest.mark.parametrize(
    "name", ["sessions.jsonl", "run.json", "manifest.json", "history.jsonl", "verdicts.jsonl", "."]
)
def test_what_this_user_may_not_read_is_named(out: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A run that a search looks past would be one that is left out; root reads everything, so the system is played."""
    run = min(runs_of(out).glob("*/run.json")).parent
    closed = runs_of(out) / name if name == "sessions.jsonl" else run / name

    def refusing(real: Any) -> Any:
        def refuse(path: Any, *more: Any, **keys: Any) -> Any:
            if str(path) == str(closed):
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return real(path, *more, **keys)

        return refuse

    monkeypatch.setattr("io.open", refusing(io.open))
    monkeypatch.setattr("os.scandir", refusing(os.scandir))
    with pytest.raises(EnvironmentLackError) as refused:
        certified(runs_of(out), out)
    assert str(refused.value) == f"{closed}: it cannot be read: Permission denied; let this user read it"
