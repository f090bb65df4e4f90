"""Certifies: from a folder of runs to a signed certificate and the file of its evidence."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pytest_kmigrate.certificates.bundle import WITHHELD, Packed, pack
from pytest_kmigrate.certificates.claims import claims_of
from pytest_kmigrate.certificates.envelope import sealed
from pytest_kmigrate.certificates.evidence_of_runs import (
    ON_A_CLUSTER_THAT_STANDS,
    RAN_A_MUTANT,
    complete_runs,
    session_files,
)
from pytest_kmigrate.certificates.grading import BUT_FOR_DEFECTS
from pytest_kmigrate.certificates.judging_again import Progress, differing
from pytest_kmigrate.certificates.keys import SigningKey, fingerprint
from pytest_kmigrate.certificates.results import results_file, results_of
from pytest_kmigrate.certificates.statement import (
    PREDICATE_TYPE,
    STATEMENT_TYPE,
    Claims,
    EvidenceFile,
    Implementation,
    PartResult,
    Predicate,
    Signer,
    Statement,
)
from pytest_kmigrate.certificates.summary import in_words
from pytest_kmigrate.documents import document
from pytest_kmigrate.model.errors import EnvironmentLackError, RunFolderError, WrongUseError
from pytest_kmigrate.recording.reading import read_header
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.writing import replace_text

CERTIFICATE, EVIDENCE = ".kmcert", ".kmevidence.zip"

_TIME_OF_RUN = len("20260301T101500")
"""The id of a run begins with its start."""

LIMITS = (
    "The vendor ran the tests; a program can invent evidence that fits together, and nothing in it shows that.",
    "So can a program that rewrites a whole run: every stream, every digest in its events, and its logs.",
    "So can one that changes what one stream alone has: metrics, answers, a producer's last record, a log line.",
    "Images of the metadata and transactions of ZooKeeper are such streams, too.",
    "So can one that changes what the harness alone has: ends of nodes, outcomes, times, mutants, trouble.",
    "Machine, provider, what it offered, digests of jars and classes, and the harness are as the vendor recorded them.",
    "Java, the environment and plugins of the vendor's pytest are in no digest: they may change Kafka, or the harness.",
    "A run that was removed with its lines of sessions.jsonl leaves no trace: seeds and outcomes may have been chosen.",
    "Only a challenge answers that: a nonce of the reader that is newer than the build.",
    "A test without clients shows nothing of its seed; a challenge asks for one only where a document has no other.",
    "Times are those of the vendor's clock.",
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

    def __post_init__(self) -> None:
        """WrongUseError for a document that is none, or that another one replaced: before a key is made."""
        if final := document(self.profile).replaced_by:
            got = f"{self.profile}, replaced by {final}"
            raise WrongUseError(f"--profile: expected a document in force, got {got}: take that")


def certify(order: Order, issuer: SigningKey, witnesses: Sequence[SigningKey], progress: Progress) -> Statement:
    """Judge all runs again, pack their evidence and sign what follows from it.

    WrongUseError when there is nothing to certify or a later text replaced the document, RunFolderError for runs whose
    verdicts do not follow from their evidence, ClusterError for a challenge without its runs.
    """
    evidence = evidence_file(order.out)
    _must_be_others(issuer, witnesses)
    claims = claims_of(order.runs, order.profile, kafka=order.kafka, nonce=order.nonce)
    wanted = {each.run for each in claims.runs}
    folders = _folders_of(order.runs, wanted)
    if wrong := differing(folders, progress, has_reports=True):
        more = f"; and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise RunFolderError(f"{wrong[0]}{more}: such evidence certifies nothing")
    packed = pack(order.runs, folders, session_files(order.runs), evidence)
    signers = [Signer(role="issuer", ed25519=issuer.public.hex())]
    signers += [Signer(role="witness", ed25519=each.public.hex()) for each in witnesses]
    statement = _statement(order, claims, packed, signers)
    for file, content in ((order.out, statement.plain()), (results_file(order.out), results_of(statement))):
        replace_text(file, sealed(content, [issuer, *witnesses]).decode())
    return statement


def evidence_file(certificate: Path) -> Path:
    """Where the evidence of a certificate lies: beside it; WrongUseError if it is not named as one."""
    if certificate.suffix != CERTIFICATE:
        raise WrongUseError(f"--out: expected a file named *{CERTIFICATE}, got {certificate.name!r}")
    return certificate.with_suffix(EVIDENCE)


def _must_be_others(issuer: SigningKey, witnesses: Sequence[SigningKey]) -> None:
    public = [each.public for each in (issuer, *witnesses)]
    if twice := [each for each in public if public.count(each) > 1]:
        raise WrongUseError(
            f"--witness: expected keys of other parties, each once, got sha256:{fingerprint(twice[0])} twice"
        )


def _folders_of(runs: Path, wanted: Collection[str]) -> list[RunFolder]:
    """The folder of each of these runs; RunFolderError if one was renamed, or is there twice."""
    found: dict[str, RunFolder] = {}
    for folder in complete_runs(runs):
        run = read_header(folder).run_id
        if run not in wanted:
            continue
        if run in found:
            raise RunFolderError(f"{folder.path}: expected run {run} once, got {found[run].path}, too: remove one")
        if folder.path.name != run:
            raise RunFolderError(
                f"{folder.path}: expected each run in a folder named by its id, got that of {run}: name it so again"
            )
        found[run] = folder
    return list(found.values())


def conclusion(claims: Claims) -> str:
    """The whole in a few sentences, the grade first."""
    return " ".join(_sentences(claims))


def _sentences(claims: Claims) -> Iterator[str]:
    core, extended = claims.parts
    named = f": {', '.join(claims.defects)}" if claims.defects and claims.grade == BUT_FOR_DEFECTS else ""
    graded = in_words(claims.grade, is_complete=not claims.missing)
    yield f"{_artifact(claims)} on {claims.profile.id}: {graded}{named}."
    if claims.violations:
        first = claims.violations[0]
        yield f"{len(claims.violations)} new violations, the first by {first.check} in {first.run}: {first.summary}."
    yield f"Of {core.required} requirements of the level MUST: {_words(core)}."
    yield f"Of {extended.required} others: {_words(extended)}."
    yield f"{sum(run.counts for run in claims.runs)} of {len(claims.runs)} runs count."
    if undecided := sum(run.counts and run.outcome == "INCONCLUSIVE" for run in claims.runs):
        yield f"Counted runs that are inconclusive, such as by trouble of the machine or the harness: {undecided}."
    if standing := sum(run.reason == ON_A_CLUSTER_THAT_STANDS for run in claims.runs):
        yield f"Runs on clusters that stand, whose software is not known and whose violations do not count: {standing}."
    if mutants := sum(run.reason == RAN_A_MUTANT for run in claims.runs):
        yield f"Runs of mutants of Kafka, whose violations do not count: {mutants}."
    if cut := sum(len(each.interrupted) for each in claims.sessions):
        yield f"Noted runs that were interrupted, so that their outcomes are unknown: {cut}."
    if claims.missing:
        yield f"Missing: {'; '.join(claims.missing)}."


def _words(part: PartResult) -> str:
    return ", ".join(f"{count} {word}" for word, count in part.by_word.items()) or "none"


def too_early(issued: datetime, claims: Claims) -> str:
    """What is wrong with a time of issue that is before the start of the last run; empty if it is not."""
    started = max((run.run[:_TIME_OF_RUN] for run in claims.runs), default="")
    if f"{issued.astimezone(UTC):%Y%m%dT%H%M%S}" >= started:
        return ""
    return f"expected a time after the last run began ({started}, UTC), got {issued.isoformat()}"


def _artifact(claims: Claims) -> str:
    artifact, image = claims.artifact, claims.artifact.image
    build = "" if artifact.is_release else " (no release of Apache Kafka)"
    members = f" with members by {claims.members}" if claims.members else ""
    return f"{artifact.name}{build}" + (f" in the image {image.name}" if image else "") + members


def _statement(order: Order, claims: Claims, packed: Packed, signers: Sequence[Signer]) -> Statement:
    issued = datetime.now(UTC)
    if early := too_early(issued, claims):
        raise EnvironmentLackError(
            f"{order.runs}: {early} by the clock of this machine: set it right, then certify again"
        )
    predicate = Predicate(
        schema_version=2,
        issued_at=issued.isoformat(timespec="seconds"),
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
