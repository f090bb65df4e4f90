"""Certificates of honest vendors, and files that are damaged by accident."""

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.certificates.certifying import Order, evidence_file
from pytest_kmigrate.certificates.challenge import tasks
from pytest_kmigrate.certificates.grading import CONFORMS
from pytest_kmigrate.distributions.releases import locked_release
from pytest_kmigrate.judging.planning.plan import plan
from pytest_kmigrate.model.errors import CertificateError, ClusterError, KmigrateError, WrongUseError
from pytest_kmigrate.model.exit_status import ExitStatus
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.recording.recorder import write_manifest
from pytest_kmigrate.recording.run_folder import RunFolder
from tests.unit.certificates.vendors import (
    PLANNED,
    VENDOR,
    certified,
    header_of,
    key_of,
    make_run,
    noted_anew,
    plan_these,
    runs_of,
    shipped_with,
    sign_anew,
    verified,
)
from tests.unit.judging.coherence.honest_runs import CLASSES, DIGEST, judged_anew

NONCE = "the reader's dice: 61524361"


@pytest.mark.slow
def test_what_a_certificate_states(out: Path) -> None:
    """Software, plan, machine, runs, sessions and, of each requirement, counts, bound and reason."""
    statement = certified(runs_of(out), out)
    claims = statement.predicate.claims
    (row,) = [each for each in claims.rows if each.id == PLANNED["requirements"][0]]
    assert (row.strict, row.n, row.required, row.bound) == ("CONFORMS", 3, 3, "0.6316")
    assert all(each.reason for each in claims.rows if not each.n)
    assert (claims.artifact.name, claims.artifact.is_release) == ("Apache Kafka 3.6.0", True)
    assert [(each.tests, len(each.runs), each.left_out, each.ended) for each in claims.sessions] == [(1, 3, [], True)]
    assert all(each.counts for each in claims.runs)
    assert (claims.grade, claims.untested, claims.violations, claims.findings) == (CONFORMS, [], [], [])
    assert [each.partition(" ")[2].split(":")[0] for each in claims.missing] == [
        "requirements of the level MUST are undecided"
    ]
    assert claims.untestable
    assert statement.subject[0].digest == {"sha256": DIGEST}


@pytest.mark.slow
def test_an_honest_certificate_is_verified(certificate: Path) -> None:
    """Nothing is open by the pinned key; incomplete, since the plan of this test leaves rows without a run."""
    found = verified(certificate)
    assert (found.open, found.status()) == ((), ExitStatus.OPEN)


@pytest.mark.slow
def test_what_is_open_is_said(certificate: Path) -> None:
    """Without a pinned key, with a sample, and without evidence."""
    assert any("the signer is unknown: compare sha256:" in each for each in verified(certificate, key=None).open)
    (sampled,) = verified(certificate, sample=1).open
    assert sampled == "1 of 3 runs were drawn and judged again: a single false run is missed with a probability of 67%"
    evidence_file(certificate).unlink()
    (missing,) = verified(certificate).open
    assert missing.startswith("no evidence was read: x.kmevidence.zip is not beside it")


@pytest.mark.slow
def test_the_same_runs_make_the_same_evidence(out: Path) -> None:
    """Bytes and claims do not depend on when they were packed."""
    first = certified(runs_of(out), out)
    second = certified(runs_of(out), out.with_name("y.kmcert"))
    assert first.predicate.claims == second.predicate.claims
    assert evidence_file(out).read_bytes() == evidence_file(out.with_name("y.kmcert")).read_bytes()


def test_a_challenge_names_a_build_by_its_path(out: Path) -> None:
    """No release has the name that reports call it by."""
    shutil.rmtree(runs_of(out))
    built = replace(header_of(1), kafka="3.6.0+acme.cdcdcdcd")
    built = replace(built, extra={**built.extra, "distribution_digests": {"/opt/acme kafka": "cd" * 32}})
    make_run(runs_of(out), built)
    with pytest.raises(ClusterError, match=r"'--kmigrate-kafka=/opt/acme kafka' --kmigrate-runs=\S+runs$"):
        certified(runs_of(out), out, nonce=NONCE)


def in_image(seed: int, image: str) -> RunHeader:
    """A run of the release as it comes in an image."""
    header, name = header_of(seed), "image:acme/kafka:7#acme.toml"
    more = {"distribution_digests": {name: DIGEST}, "images": {name: f"sha256:{image}"}}
    return replace(header, provider="docker", extra={**header.extra, **more})


def test_an_image_is_a_subject_of_its_own(out: Path) -> None:
    """Its scripts and its Java are certified beside the jars; a reader computes it from the runs."""
    shutil.rmtree(runs_of(out))
    make_run(runs_of(out), in_image(1, "ef" * 32))
    statement = certified(runs_of(out), out)
    assert [(each.name, each.digest["sha256"]) for each in statement.subject] == [
        ("Apache Kafka 3.6.0", DIGEST),
        ("acme/kafka:7", "ef" * 32),
    ]
    assert statement.predicate.conclusion.startswith("Apache Kafka 3.6.0 in the image acme/kafka:7 on kip-866: ")
    assert verified(out).statement == statement
    with pytest.raises(ClusterError, match=r"=image:acme/kafka:7#acme\.toml' .*--kmigrate-provider=docker"):
        certified(runs_of(out), out, nonce=NONCE)


def test_runs_of_another_image_are_of_other_software(out: Path) -> None:
    """Also with the very same jars, and where there is none."""
    make_run(runs_of(out), in_image(9, "ef" * 32))
    with pytest.raises(WrongUseError, match=r"expected runs in one image, .*, got acme/kafka:7 \(efefefefefef\), none"):
        certified(runs_of(out), out)


@pytest.mark.slow
def test_a_challenge_needs_its_runs(out: Path) -> None:
    """The commands to make them are named; when they are there, the certificate is challenged."""
    with pytest.raises(ClusterError, match=r"1 are missing[\s\S]*test_takes_over --kmigrate-seed=\d+"):
        certified(runs_of(out), out, nonce=NONCE)
    (task,) = tasks(plan("kip-866").tests, NONCE, CLASSES)
    make_run(runs_of(out), header_of(task.seed))
    statement = certified(runs_of(out), out, nonce=NONCE)
    assert statement.predicate.assurance == "challenged"
    assert verified(out, nonce=NONCE).open == ()
    with pytest.raises(CertificateError, match=r"challenge 'another nonce here', got .the reader"):
        verified(out, nonce="another nonce here")


def test_a_challenge_asks_for_no_test_that_this_kafka_cannot_run(monkeypatch: pytest.MonkeyPatch, out: Path) -> None:
    """Of six tests it would draw five; five of these need a later release, and their runs cannot be made."""
    later = [{**PLANNED, "test": f"{PLANNED['test']}_{number}", "since": "3.7.0"} for number in range(5)]
    plan_these(monkeypatch, out.parent / "plans", PLANNED, *later)
    with pytest.raises(ClusterError, match="expected runs of 1 tests with seeds of this nonce, 1 are missing"):
        certified(runs_of(out), out, nonce=NONCE)


@pytest.mark.parametrize("under_test", ["3.6.0", "/opt/acme kafka"])
@pytest.mark.slow
def test_nodes_may_run_other_releases(out: Path, under_test: str) -> None:
    """A run in which some nodes began with an older release is of the same software; that one is no other build."""
    version = {"3.6.0": "3.6.0"}.get(under_test, "3.6.0+acme.cdcdcdcd")
    shutil.rmtree(runs_of(out))
    for seed, beside in ((1, {}), (2, {"3.2.3": locked_release("3.2.3").digest()}), (3, {})):
        digests = {**beside, under_test: DIGEST if version == under_test else "cd" * 32}
        header = replace(header_of(seed), kafka=version)
        classes = {"distribution_classes": {under_test: CLASSES}}
        more = {"distribution_digests": digests, "topology_digest": shipped_with("3.6.0", under_test), **classes}
        make_run(runs_of(out), replace(header, extra={**header.extra, **more}))
    claims = certified(runs_of(out), out).predicate.claims
    assert [each.counts for each in claims.runs] == [True, True, True]
    assert claims.artifact.name == ("a build of Kafka " if "+" in version else "Apache Kafka ") + version


def test_another_software_is_challenged_otherwise() -> None:
    """Seeds of one build answer no challenge of another; a short nonce could be foreseen."""
    assert tasks(plan("kip-866").tests, NONCE, DIGEST) != tasks(plan("kip-866").tests, NONCE, "cd" * 32)
    with pytest.raises(WrongUseError, match="expected a nonce of 16 characters or more, got '7'"):
        tasks(plan("kip-866").tests, "7", DIGEST)


@pytest.mark.slow
def test_a_witness_signs_as_well(out: Path) -> None:
    """Its signature is needed like the issuer's."""
    witness = key_of(out.parent, "witness")
    certified(runs_of(out), out, witness)
    assert [each.role for each in verified(out).statement.predicate.signers] == ["issuer", "witness"]
    sign_anew(out, lambda _: None)
    with pytest.raises(CertificateError, match="expected signatures by"):
        verified(out)


@pytest.mark.slow
def test_secrets_are_not_packed(out: Path) -> None:
    """A configuration with a password: nothing is written, the line is named and the secret is not."""
    folder = RunFolder(min(each.parent for each in runs_of(out).glob("*/run.json")))
    log = folder.log_folder("broker-0") / "server-0.properties"
    log.write_text("ssl.key.password = null\nssl.keystore.password=hunter2\n")
    write_manifest(folder)
    noted_anew(runs_of(out))
    with pytest.raises(WrongUseError, match=r"server-0\.properties: line 2: expected no secret in evidence") as refused:
        certified(runs_of(out), out)
    assert "hunter2" not in str(refused.value)
    assert not evidence_file(out).exists()


@pytest.mark.slow
@pytest.mark.parametrize("of", ["certificate", "evidence"])
def test_every_changed_byte_is_found(certificate: Path, of: str) -> None:
    """A sample of the edits: a bit, a byte that is left out, and one that is added."""
    file = certificate if of == "certificate" else evidence_file(certificate)
    whole, dice = file.read_bytes(), random.Random(7)
    for _ in range(60):
        at = dice.randrange(len(whole))
        flipped = bytes([whole[at] ^ (1 << dice.randrange(8))])
        file.write_bytes(whole[:at] + dice.choice([flipped, b"", whole[at : at + 1] * 2]) + whole[at + 1 :])
        with pytest.raises(CertificateError):
            verified(certificate)
    file.write_bytes(whole)
    assert verified(certificate).open == ()


@pytest.mark.slow
def test_folders_without_seals_certify_nothing(out: Path) -> None:
    """Those of version 0.1 are judged, and no certificate is made of them."""
    folder = RunFolder(min(each.parent for each in runs_of(out).glob("*/run.json")))
    lines = [json.loads(line) for line in folder.history.read_text().splitlines()]
    del lines[-1]["data"]["seals"]
    folder.history.write_text("".join(json.dumps(line) + "\n" for line in lines))
    judged_anew(folder)
    noted_anew(runs_of(out))
    with pytest.raises(KmigrateError, match="its last event has no seals"):
        certified(runs_of(out), out)


@pytest.mark.slow
def test_a_folder_without_sessions_is_no_success(out: Path) -> None:
    """Runs may have been left out, and the conclusion has it."""
    (runs_of(out) / "sessions.jsonl").unlink()
    statement = certified(runs_of(out), out)
    assert statement.predicate.conclusion.endswith("; no session was noted, so runs may have been left out.")
    assert statement.predicate.claims.missing[-1].startswith("no session was noted")
    shutil.rmtree(runs_of(out))


def test_a_text_that_was_replaced_gets_no_certificate(tmp_path: Path) -> None:
    """Kafka follows the later one; the error names it."""
    with pytest.raises(WrongUseError, match="expected a document in force, got kip-866-draft, replaced by kip-866"):
        Order(tmp_path, "kip-866-draft", tmp_path / "x.kmcert", VENDOR)
