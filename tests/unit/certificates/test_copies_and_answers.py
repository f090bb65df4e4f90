"""Copies whose times were all moved, software by its classes, and challenges that an old run could answer."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.certificates.software import Digests, must_be_of
from pytest_kmigrate.certificates.statement import Artifact
from pytest_kmigrate.model.errors import CertificateError, ClusterError, WrongUseError
from tests.unit.certificates.test_evidence_that_decides import folders, found
from tests.unit.certificates.vendors import (
    PLANNED,
    TEST,
    certified,
    change_events,
    header_of,
    make_run,
    noted_anew,
    plan_these,
    runs_of,
)
from tests.unit.judging.coherence.honest_runs import Line, change_lines, sealed_anew

NONCE = "the reader's dice: 61524361"


@pytest.mark.parametrize("after_colon", [" ", "", "\t"])
@pytest.mark.slow
def test_a_copy_whose_times_were_moved_smoothly_is_found(runs: Path, after_colon: str) -> None:
    """No time and no distance is that of the other run; sessions of ZooKeeper are, however they are spelled."""
    one, two, _ = folders(runs)
    shutil.copy(one.transactions, two.transactions)
    change_lines(two.transactions, lambda lines: [{**line, "at_ns": line["at_ns"] * 1013 // 1000} for line in lines])
    two.transactions.write_text(two.transactions.read_text().replace(": ", f":{after_colon}"))
    sealed_anew(two)
    noted_anew(runs)
    assert f"it has the evidence of {one.path.name} once more: its ZooKeeper had the same sessions" in found(runs)


@pytest.mark.parametrize(("inherited", "is_found"), [(-1, True), (4, False)])
@pytest.mark.slow
def test_batches_of_the_metadata_log_are_those_of_one_run(runs: Path, inherited: int, *, is_found: bool) -> None:
    """Their checksums are; but for batches that several runs began with."""
    batches = [[offset, offset, 1, 7000 + offset, None] for offset in range(5)]

    def with_log(line: Line) -> Line:
        return {**line, "kind": "raft-log", "data": {"batches": batches}} if line["kind"] == "node-ready" else line

    for folder in folders(runs)[:2]:
        change_events(folder, with_log)
        header = folder.header.read_text()
        folder.header.write_text(
            header.replace('"extra": {', f'"extra": {{"checkpoint": {{"log_offset": {inherited}}}, ')
        )
        sealed_anew(folder)
    noted_anew(runs)
    assert ("once more: its metadata log has the same batches" in found(runs)) is is_found


def test_the_classes_of_the_same_jars_are_the_same(out: Path) -> None:
    """The seeds of a challenge follow from them, and a vendor could choose one by one."""
    shutil.rmtree(runs_of(out))
    for seed, classes in ((1, "ab" * 32), (2, "cd" * 32)):
        header = header_of(seed)
        make_run(runs_of(out), replace(header, extra={**header.extra, "distribution_classes": {"3.6.0": classes}}))
    with pytest.raises(WrongUseError, match="expected one digest of the classes in the same jars, got abab"):
        certified(runs_of(out), out)


def test_a_reader_compares_the_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jars of the stated digest whose classes are others than those that drew the seeds."""
    artifact = Artifact(name="x", sha256="ab" * 32, classes="cd" * 32, also_called=[], is_release=False)
    module = "pytest_kmigrate.certificates.software.digests_of_software"
    monkeypatch.setattr(module, lambda _: Digests("ab" * 32, "cd" * 32))
    must_be_of("/opt/acme", artifact, "x.kmcert")
    monkeypatch.setattr(module, lambda _: Digests("ab" * 32, "ef" * 32))
    with pytest.raises(CertificateError, match=r"expected the digest efef.* of the classes of /opt/acme, got cdcd"):
        must_be_of("/opt/acme", artifact, "x.kmcert")


def test_a_challenge_asks_for_tests_that_show_their_seed(monkeypatch: pytest.MonkeyPatch, out: Path) -> None:
    """An old run of another test could be given any seed; a document without such tests is asked for any."""
    silent = {**PLANNED, "test": f"{TEST}_quietly", "seeded": False}
    plan_these(monkeypatch, out.parent / "plans", {**PLANNED, "seeded": True}, silent)
    with pytest.raises(ClusterError, match="expected runs of 1 tests with seeds of this nonce") as caught:
        certified(runs_of(out), out, nonce=NONCE)
    assert "quietly" not in str(caught.value)
    plan_these(monkeypatch, out.parent / "plans", {**PLANNED, "seeded": False}, silent)
    with pytest.raises(ClusterError, match="expected runs of 2 tests with seeds of this nonce"):
        certified(runs_of(out), out, nonce=NONCE)
