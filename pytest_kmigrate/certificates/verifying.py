"""Verifies: whether a certificate is whole, signed, and what its evidence says."""

import secrets
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pytest_kmigrate.certificates.bundle import packed, unpack
from pytest_kmigrate.certificates.certifying import LIMITS, conclusion, evidence_file, too_early
from pytest_kmigrate.certificates.claims import claims_of
from pytest_kmigrate.certificates.envelope import opened, payload_of
from pytest_kmigrate.certificates.grading import following, status_of
from pytest_kmigrate.certificates.judging_again import Progress, differing
from pytest_kmigrate.certificates.keys import fingerprint
from pytest_kmigrate.certificates.results import must_follow
from pytest_kmigrate.certificates.statement import Claims, Predicate, Statement, statement_of
from pytest_kmigrate.judging.planning.plan import plan, with_suites
from pytest_kmigrate.model.errors import CertificateError, ClusterError, RunFolderError, WrongUseError
from pytest_kmigrate.model.exit_status import ExitStatus
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.sources import harness_digest

_ANOTHER = "verify it with the pytest-kmigrate that made it, from its publisher: an edited copy differs"
"""A vendor's own copy of the harness would find its own certificate true."""
_SKEW = timedelta(days=1)
"""How far the clocks of vendor and reader may be apart."""


@dataclass(frozen=True)
class Verified:
    """A certificate that no check refuted, and what is left open."""

    statement: Statement
    open: tuple[str, ...]
    """Sentences about what was not verified, or cannot be."""

    def status(self, *, allows_defects: bool = False) -> ExitStatus:
        """How verifying ends: open at best while anything is open."""
        return status_of(self.statement.predicate.claims, self.open, allows_defects=allows_defects)


def signed_statement(file: Path) -> Statement:
    """The statement of a certificate that the keys in it have signed, whichever release made it.

    CertificateError for another file, another signature, another schema, or a subject that is not what it claims.
    """
    envelope = opened(file)
    statement = statement_of(payload_of(envelope, str(file)), str(file))
    predicate = statement.predicate
    envelope.must_be_signed([bytes.fromhex(each.ed25519) for each in predicate.signers], str(file))
    artifact = predicate.claims.artifact
    if statement.subject != artifact.subject():
        raise CertificateError(f"{file}: subject: expected {artifact.name} with the digest of its claims, got another")
    return statement


def read_certificate(file: Path) -> Statement:
    """The statement of a signed certificate whose grade and conclusion follow from its claims, or CertificateError."""
    statement = signed_statement(file)
    predicate = statement.predicate
    _must_agree(file, predicate.claims)
    if predicate.conclusion != conclusion(predicate.claims) or predicate.limits != list(LIMITS):
        _must_be_of_this_release(file, predicate.claims)  # another one may conclude in other words
        raise CertificateError(f"{file}: conclusion: expected the sentences that follow from its claims, got others")
    return statement


def read_of_any_release(file: Path) -> Statement:
    """The statement of a signed certificate; what another release made is checked as far as no release may differ."""
    statement = signed_statement(file)
    if is_of_this_release(statement.predicate.claims):
        return read_certificate(file)
    issuers = [each.ed25519 for each in statement.predicate.signers if each.role == "issuer"]
    _must_be_possible(file, statement, fingerprint(bytes.fromhex(issuers[0])) if issuers else "")
    return statement


def _must_agree(file: Path, claims: Claims) -> None:
    """CertificateError for a grade that does not follow from the rows beside it."""
    for key, value in following(claims).items():
        if getattr(claims, key) != value:
            _must_be_of_this_release(file, claims)  # another one may grade otherwise
            raise CertificateError(f"{file}: claims.{key}: expected what follows from its rows, got something else")


def verify(
    file: Path,
    *,
    evidence: Path | None,
    key: str | None,
    nonce: str | None,
    sample: int | None,
    progress: Progress,
) -> Verified:
    """Verify a certificate against its evidence; CertificateError names the first thing that refutes it.

    ``evidence``: None: the file beside the certificate. ``key``: the fingerprint that the reader trusts. ``nonce``: the
    reader's challenge. ``sample``: so many runs, drawn anew, are judged again instead of all.
    """
    statement = read_certificate(file)
    predicate = statement.predicate
    open_ = [*_signer(file, predicate, key), *_challenge(file, predicate, nonce), *_time(file, predicate)]
    _must_be_of_this_plan(file, predicate.claims)
    archive = evidence or evidence_file(file)
    if evidence is None and not archive.is_file():
        open_.append(f"no evidence was read: {archive.name} is not beside it; give --evidence")
    else:
        open_ += _evidence(file, archive, predicate, sample, progress)
    must_follow(file, statement)
    return Verified(statement, tuple(open_))


def _evidence(file: Path, archive: Path, predicate: Predicate, sample: int | None, progress: Progress) -> list[str]:
    """What is open about the evidence; CertificateError for the first thing in it that refutes the certificate."""
    found = packed(archive)
    if found.sha256 != predicate.evidence.sha256 or found.size_bytes != predicate.evidence.bytes:
        raise CertificateError(
            f"{archive}: expected the evidence with SHA-256 {predicate.evidence.sha256}, got {found.sha256}: it was "
            "changed, or belongs to another certificate"
        )
    with tempfile.TemporaryDirectory(prefix="kmigrate-verify-") as folder:
        try:
            folders = unpack(archive, Path(folder))
            _must_follow(file, Path(folder), predicate.claims)
        except ClusterError as error:
            raise CertificateError(
                f"{file}: claims.challenge: expected all runs that the nonce asks for, but the evidence lacks some: "
                "the claims do not follow from the evidence"
            ) from error
        except (RunFolderError, WrongUseError) as error:
            raise CertificateError(_packed(str(error), folder, archive)) from error
        judged = folders if sample is None else _drawn(folders, sample)
        if wrong := differing(judged, progress, has_reports=False):
            more = f"; and {len(wrong) - 1} more" if len(wrong) > 1 else ""
            named = _packed(wrong[0], folder, archive)
            raise CertificateError(f"{archive}: {named}{more}: the verdicts do not follow from the evidence")
    if len(judged) == len(folders):
        return []
    missed = f"a single false run is missed with a probability of {1 - len(judged) / len(folders):.0%}"
    return [f"{len(judged)} of {len(folders)} runs were drawn and judged again: {missed}"]


def _packed(text: str, folder: str, archive: Path) -> str:
    """A sentence about unpacked evidence, by its place in the archive: the folder is gone when it is read."""
    return text.replace(f"{folder}/", f"{archive.name}: ").replace(folder, archive.name)


def _signer(file: Path, predicate: Predicate, key: str | None) -> list[str]:
    """What is open about who signed it; CertificateError for another key than the reader's."""
    issuers = [fingerprint(bytes.fromhex(each.ed25519)) for each in predicate.signers if each.role == "issuer"]
    if len(issuers) != 1:
        raise CertificateError(f"{file}: signers: expected one issuer, got {len(issuers)}")
    if twice := [each for each, times in Counter(each.ed25519 for each in predicate.signers).items() if times > 1]:
        raise CertificateError(
            f"{file}: signers: expected witnesses that are other parties, each once, got "
            f"sha256:{fingerprint(bytes.fromhex(twice[0]))} twice: give the key of another party"
        )
    if key is None:
        return [f"the signer is unknown: compare sha256:{issuers[0]} with the vendor's, and give it by --key"]
    if key != issuers[0]:
        raise CertificateError(
            f"{file}: expected the signature of sha256:{key}, got one by sha256:{issuers[0]}: another party signed it"
        )
    return []


def _challenge(file: Path, predicate: Predicate, nonce: str | None) -> list[str]:
    given = predicate.claims.challenge
    if (given is not None) != (predicate.assurance == "challenged"):
        raise CertificateError(f"{file}: assurance: expected what follows from its claims, got {predicate.assurance}")
    if nonce is None:
        return []
    if given is None or given.nonce != nonce:
        got = "none" if given is None else repr(given.nonce)
        raise CertificateError(
            f"{file}: expected an answer to the challenge {nonce!r}, got {got}: ask the vendor for one"
        )
    return []


def _time(file: Path, predicate: Predicate) -> list[str]:
    """What is open about when it was issued; CertificateError if that was before its own runs."""
    try:
        issued = datetime.fromisoformat(predicate.issued_at)
    except ValueError:
        issued = None
    if issued is None or issued.tzinfo is None:
        raise CertificateError(f"{file}: issued_at: expected a time with its zone, got {predicate.issued_at!r}")
    early = too_early(issued, predicate.claims)
    if early:
        raise CertificateError(f"{file}: issued_at: {early}: a clock was turned back")
    if issued <= datetime.now(UTC) + _SKEW:
        return []
    return [f"it was issued at {predicate.issued_at}, which is in the future by the clock of this machine"]


def _must_be_of_this_plan(file: Path, claims: Claims) -> None:
    if claims.profile.id not in with_suites():
        raise CertificateError(
            f"{file}: profile: expected one of {', '.join(with_suites())}, got {claims.profile.id!r} of release "
            f"{claims.profile.release}: {_ANOTHER}"
        )
    planned = plan(claims.profile.id)
    if claims.profile.plan != planned.digest:
        raise CertificateError(
            f"{file}: expected the plan {planned.digest[:12]} of {planned.profile}, got {claims.profile.plan[:12]} of "
            f"release {claims.profile.release}: {_ANOTHER}"
        )


def _must_be_of_this_release(file: Path, claims: Claims) -> None:
    """CertificateError unless this very pytest-kmigrate has the plan of a certificate, and made its runs."""
    _must_be_of_this_plan(file, claims)
    if others := _other_harnesses(claims):
        raise CertificateError(
            f"{file}: expected runs of this pytest-kmigrate ({harness_digest()[:12]}), got some of another "
            f"({', '.join(sorted(each[:12] for each in others))}): {_ANOTHER}"
        )


def _other_harnesses(claims: Claims) -> set[str]:
    return {each.sha256 for each in claims.harness} - {harness_digest()}


def is_of_this_release(claims: Claims) -> bool:
    """Whether this very pytest-kmigrate has the plan of a certificate, and made its runs."""
    profile = claims.profile
    is_planned = profile.id in with_suites() and plan(profile.id).digest == profile.plan
    return is_planned and not _other_harnesses(claims)


def must_hold_together(file: Path, statement: Statement, key: str) -> None:
    """CertificateError for what no release may state: another signer, a grade that its rows exclude, an early issue.

    Sentences may be those of another release, and are not compared; ``key``: the fingerprint that the reader trusts.
    """
    _must_be_possible(file, statement, key)
    must_follow(file, statement)


def _must_be_possible(file: Path, statement: Statement, key: str) -> None:
    predicate, claims = statement.predicate, statement.predicate.claims
    _signer(file, predicate, key)
    _challenge(file, predicate, None)
    _time(file, predicate)
    found = following(claims)
    wrong = [each for each in ("parts", "grade") if getattr(claims, each) != found[each]]
    if not wrong and bool(claims.missing) != bool(found["missing"]):
        wrong = ["missing"]
    if wrong:
        raise CertificateError(f"{file}: claims.{wrong[0]}: expected what follows from its rows, got something else")


def _must_follow(file: Path, folder: Path, stated: Claims) -> None:
    """CertificateError names the first claim that does not follow from the evidence."""
    nonce = stated.challenge.nonce if stated.challenge else None
    found = claims_of(folder, stated.profile.id, kafka=stated.artifact.sha256, nonce=nonce)
    difference = _first_difference("claims", stated.model_dump(), found.model_dump())
    if difference:
        # By another release these runs counted; by this one they do not, which is no lie of the vendor's.
        _must_be_of_this_release(file, stated)
        raise CertificateError(f"{file}: {difference}: the claims do not follow from the evidence")


def _first_difference(place: str, stated: Any, found: Any) -> str:
    if stated == found:
        return ""
    if isinstance(stated, dict) and isinstance(found, dict) and stated.keys() == found.keys():
        return next(
            _first_difference(f"{place}.{key}", stated[key], found[key]) for key in stated if stated[key] != found[key]
        )
    if isinstance(stated, list) and isinstance(found, list) and len(stated) == len(found):
        pairs = enumerate(zip(stated, found, strict=True))
        return next(_first_difference(f"{place}[{at}]", one, other) for at, (one, other) in pairs if one != other)
    return f"{place}: stated {_short(stated)}, but the evidence has {_short(found)}"


def _short(value: Any) -> str:
    text = f"{len(value)} entries" if isinstance(value, list | dict) else repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _drawn(folders: Sequence[RunFolder], sample: int) -> list[RunFolder]:
    """Runs that the vendor could not foresee."""
    return secrets.SystemRandom().sample(list(folders), min(sample, len(folders)))
