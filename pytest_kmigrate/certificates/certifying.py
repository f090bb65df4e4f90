"""Certifies: from a folder of runs to a signed certificate and the file of its evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pytest_kmigrate.certificates.bundle import WITHHELD, Packed, pack
from pytest_kmigrate.certificates.claims import claims_of
from pytest_kmigrate.certificates.envelope import sealed
from pytest_kmigrate.certificates.evidence_of_runs import complete_runs, session_files
from pytest_kmigrate.certificates.judging_again import Progress, differing
from pytest_kmigrate.certificates.keys import SigningKey
from pytest_kmigrate.certificates.results import results_file, results_of
from pytest_kmigrate.certificates.statement import (
    PREDICATE_TYPE,
    STATEMENT_TYPE,
    Claims,
    EvidenceFile,
    Implementation,
    Predicate,
    Signer,
    Statement,
)
from pytest_kmigrate.model.errors import RunFolderError, WrongUseError

CERTIFICATE, EVIDENCE = ".kmcert", ".kmevidence.zip"

LIMITS = (
    "The vendor ran the tests; a program can invent evidence that fits together, and nothing in it shows that.",
    "Runs of a folder that was removed with its sessions leave no trace; only a challenge by the reader answers that.",
    "The bound of a requirement holds for the topologies, seeds and machine of these runs.",
)


@dataclass(frozen=True)
class Order:
    """What to certify, and as whom."""

    runs: Path
    profile: str
    out: Path
    implementation: Implementation
    kafka: str | None = None
    nonce: str | None = None


def certify(order: Order, issuer: SigningKey, witnesses: Sequence[SigningKey], progress: Progress) -> Statement:
    """Judge all runs again, pack their evidence and sign what follows from it.

    WrongUseError when there is nothing to certify, RunFolderError for runs whose verdicts do not follow from their
    evidence, ClusterError for a challenge without its runs.
    """
    evidence = evidence_file(order.out)
    claims = claims_of(order.runs, order.profile, kafka=order.kafka, nonce=order.nonce)
    wanted = {each.run for each in claims.runs}
    folders = [each for each in complete_runs(order.runs) if each.path.name in wanted]
    if len(folders) != len(wanted):
        raise RunFolderError(f"{order.runs}: expected each run in a folder named by its id; do not rename folders")
    if wrong := differing(folders, progress, has_reports=True):
        more = f"; and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise RunFolderError(f"{wrong[0]}{more}: such evidence certifies nothing")
    packed = pack(order.runs, folders, session_files(order.runs), evidence)
    signers = [Signer(role="issuer", ed25519=issuer.public.hex())]
    signers += [Signer(role="witness", ed25519=each.public.hex()) for each in witnesses]
    statement = _statement(order, claims, packed, signers)
    order.out.write_bytes(sealed(statement.plain(), [issuer, *witnesses]))
    results_file(order.out).write_bytes(sealed(results_of(statement), [issuer, *witnesses]))
    return statement


def evidence_file(certificate: Path) -> Path:
    """Where the evidence of a certificate lies: beside it; WrongUseError if it is not named as one."""
    if certificate.suffix != CERTIFICATE:
        raise WrongUseError(f"--out: expected a file named *{CERTIFICATE}, got {certificate.name!r}")
    return certificate.with_suffix(EVIDENCE)


def conclusion(claims: Claims) -> str:
    """One sentence about the whole."""
    core, extended = claims.parts
    apart = f" ({claims.apache} where known deviations conform)" if claims.apache != claims.strict else ""
    left = sum(len(each.left_out) for each in claims.sessions)
    missing = f" {left} noted runs are left out." if left else "" if claims.sessions else " No session was noted."
    rare = f"; tests that ran less often than the plan asks for: {len(claims.untested)}" if claims.untested else ""
    counted = f"{sum(run.counts for run in claims.runs)} of {len(claims.runs)} runs count"
    return (
        f"{_artifact(claims)} on {claims.profile.id}: {claims.strict}{apart}; of {core.required} core requirements "
        f"{core.conforming_strict} conform ({core.conforming_apache} by the baseline of Apache Kafka), of "
        f"{extended.required} others {extended.conforming_strict}; {counted}{rare}.{missing}"
    )


def _artifact(claims: Claims) -> str:
    image = claims.artifact.image
    return f"{claims.artifact.name} in the image {image.name}" if image else claims.artifact.name


def _statement(order: Order, claims: Claims, packed: Packed, signers: Sequence[Signer]) -> Statement:
    predicate = Predicate(
        schema_version=1,
        issued_at=datetime.now(UTC).isoformat(timespec="seconds"),
        assurance="challenged" if claims.challenge else "self-run",
        limits=list(LIMITS),
        conclusion=conclusion(claims),
        implementation=order.implementation,
        claims=claims,
        evidence=EvidenceFile(
            file=evidence_file(order.out).name,
            sha256=packed.sha256,
            bytes=packed.size_bytes,
            withheld=list(WITHHELD),
        ),
        signers=list(signers),
    )
    return Statement.model_validate(
        {
            "_type": STATEMENT_TYPE,
            "subject": claims.artifact.subject(),
            "predicateType": PREDICATE_TYPE,
            "predicate": predicate,
        }
    )
