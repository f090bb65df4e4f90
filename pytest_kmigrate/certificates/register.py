"""Registers: folders of certificates by vendor and version, with the keys that they trust and a page of all."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_kmigrate.certificates.badge import badge
from pytest_kmigrate.certificates.bundle import packed
from pytest_kmigrate.certificates.certifying import CERTIFICATE, EVIDENCE
from pytest_kmigrate.certificates.judging_again import Progress
from pytest_kmigrate.certificates.keys import fingerprint
from pytest_kmigrate.certificates.register_page import PAGE, Entry, register_page
from pytest_kmigrate.certificates.results import SUFFIX, results_file
from pytest_kmigrate.certificates.statement import Statement
from pytest_kmigrate.certificates.verifying import is_of_this_release, must_hold_together, signed_statement, verify
from pytest_kmigrate.model.errors import CertificateError, EnvironmentLackError, WrongUseError
from pytest_kmigrate.recording.writing import replace_text

TRUSTED, BADGE = "register.toml", ".svg"
_BEGINNING = "# The keys whose certificates this register takes, and where each harness that made runs is to be had."
_APACHE = "apache-kafka"
_FINGERPRINT, _DIGEST = re.compile("sha256:[0-9a-f]{64}"), re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Trusted:
    """What a register believes."""

    keys: Mapping[str, str]
    """Who owns a key, by its fingerprint."""
    harnesses: Mapping[str, str]
    """Where the pytest-kmigrate of a digest is to be had."""

    def must_have(self, issuers: Sequence[bytes], file: Path, register: Path) -> str:
        """The fingerprint of the one issuer; CertificateError if it is not a key of this register."""
        found = [fingerprint(each) for each in issuers]
        if len(found) != 1 or found[0] not in self.keys:
            got = ", ".join(f"sha256:{each}" for each in found) or "none"
            raise CertificateError(
                f"{file}: expected a signature by a key of {register / TRUSTED}, got one by {got}: add it under "
                "[keys] if you trust its owner"
            )
        return found[0]

    def must_name_harnesses(self, statement: Statement, file: Path, register: Path) -> None:
        """CertificateError for runs by a harness that is neither this one nor one of the register.

        No reader could verify them, and a vendor could name one that never was.
        """
        claims = statement.predicate.claims
        unknown = [each.sha256 for each in claims.harness if each.sha256 not in self.harnesses]
        if unknown and not is_of_this_release(claims):
            raise CertificateError(
                f"{file}: expected runs by a pytest-kmigrate that {register / TRUSTED} names, got some by "
                f"{unknown[0]}: add it under [harnesses] with where it is to be had, if its publisher made it"
            )


@dataclass(frozen=True)
class Checked:
    """A register, as it was found."""

    entries: tuple[Entry, ...]
    problems: tuple[str, ...]
    """A sentence for each certificate or file that does not belong in it."""
    notes: tuple[str, ...]
    """What was not verified, a sentence for each certificate."""


def trusted_by(register: Path) -> Trusted:
    """The keys and harnesses of a register; WrongUseError for a file that is missing or has anything else."""
    file = register / TRUSTED
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongUseError(
            f"{file}: expected the keys that the register trusts, got {error.strerror}; file a first certificate in "
            "it, or give the folder of a register"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WrongUseError(f"{file}: expected TOML, got {error}; mend it") from error
    if unknown := sorted(content.keys() - {"keys", "harnesses"}):
        raise WrongUseError(f"{file}: expected the tables keys and harnesses, got {unknown[0]!r}; take it out")
    keys = _named(file, content, "keys", _FINGERPRINT, "sha256:...")
    harnesses = _named(file, content, "harnesses", _DIGEST, "64 hexadecimal digits")
    return Trusted({each.removeprefix("sha256:"): owner for each, owner in keys.items()}, harnesses)


def _named(file: Path, content: Mapping[str, Any], table: str, form: re.Pattern[str], expected: str) -> dict[str, str]:
    found = content.get(table, {})
    if not isinstance(found, dict):
        raise WrongUseError(f"{file}: {table}: expected a table, got {found!r}; mend it")
    for key, value in found.items():
        if not form.fullmatch(key) or not isinstance(value, str) or not value:
            raise WrongUseError(f"{file}: {table}: expected {expected} = a name, got {key!r} = {value!r}; mend it")
    return found


def place_of(statement: Statement, file: Path) -> PurePosixPath:
    """Where a certificate lies in a register, without suffix: VENDOR/VERSION/DOCUMENT, and how its runs were made.

    The vendor is the organization that certifies. A release of Apache Kafka has its own where none is named.
    WrongUseError for a build without organization.
    """
    predicate, claims = statement.predicate, statement.predicate.claims
    vendor = _slug(predicate.implementation.organization) or (_APACHE if claims.artifact.is_release else "")
    version = _slug(claims.artifact.version)
    if not vendor or not version:
        raise WrongUseError(
            f"{file}: expected the organization that certifies a build, got none: certify with --organization"
        )
    ways = [claims.profile.id, *(["image"] if claims.artifact.image else [])]
    return PurePosixPath(vendor, version, "-".join([*ways, *(["challenged"] if claims.challenge else [])]))


def _slug(name: str) -> str:
    """A name for a folder of any file system."""
    return re.sub(r"[^a-z0-9.+]+", "-", name.lower()).strip("-.")


def checked(register: Path, evidence: Path, sample: int | None, progress: Progress) -> Checked:
    """All certificates of a register, each verified; errors of the register itself as of ``trusted_by``.

    ``evidence``: a folder with their evidence, which is found by its digest, wherever in it. What this release made is
    judged again; of others, signature, schema, grade and digest of the evidence are checked.
    """
    trusted = trusted_by(register)
    if not evidence.is_dir():
        raise WrongUseError(f"--evidence: expected a folder with evidence, got none at {evidence}; give its folder")
    files = sorted(file for file in register.rglob(f"*{CERTIFICATE}") if file.is_file())
    at: dict[PurePosixPath, list[Path]] = defaultdict(list)
    entries, problems, notes = list[Entry](), list(_foreign(register)), list[str]()
    for file in files:
        try:
            key = trusted.must_have(_issuers(statement := signed_statement(file)), file, register)
            place = place_of(statement, file)
            trusted.must_name_harnesses(statement, file, register)
            notes += _verified(file, statement, key, _evidence_of(statement, evidence), sample, progress)
        except (CertificateError, WrongUseError) as error:
            problems.append(str(error))
            continue
        at[place].append(file)
        entries.append(Entry(place, statement, trusted.keys[key], _harnesses(statement, trusted)))
    problems += _misplaced(register, at)
    return Checked(tuple(sorted(entries, key=lambda each: each.place)), tuple(problems), tuple(notes))


def _harnesses(statement: Statement, trusted: Trusted) -> tuple[str, ...]:
    made = [each.sha256 for each in statement.predicate.claims.harness]
    return tuple(trusted.harnesses.get(each, "") for each in made)


def _foreign(register: Path) -> Iterator[str]:
    """Files that no register has: a private key, evidence of no certificate, a link to elsewhere."""
    for path in sorted(register.rglob("*")):
        name = path.relative_to(register).as_posix()
        if path.is_symlink():
            yield f"{path}: expected a file of the register, got a link: put the file itself there"
        elif path.is_dir() and path.name.endswith(CERTIFICATE):
            yield f"{path}: expected a certificate, got a folder: take it out"
        elif path.is_file() and name not in (PAGE, TRUSTED) and not _is_of_certificate(path):
            yield f"{path}: expected files of certificates in a register, got another: take it out"


def _is_of_certificate(path: Path) -> bool:
    if path.name.endswith(CERTIFICATE):
        return True
    stem = next((path.name.removesuffix(each) for each in (BADGE, SUFFIX, EVIDENCE) if path.name.endswith(each)), "")
    return bool(stem) and path.with_name(f"{stem}{CERTIFICATE}").is_file()


def _misplaced(register: Path, at: Mapping[PurePosixPath, Sequence[Path]]) -> Iterator[str]:
    for place, files in sorted(at.items()):
        expected = register / f"{place}{CERTIFICATE}"
        if len(files) > 1:
            got = " and ".join(map(str, files))
            yield f"{expected}: expected one certificate of this name, got {len(files)}: {got}: remove all but one"
        elif files[0] != expected:
            yield f"{files[0]}: expected the certificate of {place} at {expected}: move it there"


def _evidence_of(statement: Statement, folder: Path) -> Path | None:
    """The file with the evidence of a certificate, wherever below a folder, by its digest."""
    wanted = statement.predicate.evidence
    named = (file for file in sorted(folder.rglob(f"*{EVIDENCE}")) if file.stat().st_size == wanted.bytes)
    return next((file for file in named if packed(file).sha256 == wanted.sha256), None)


def _verified(
    file: Path, statement: Statement, key: str, evidence: Path | None, sample: int | None, progress: Progress
) -> Iterator[str]:
    """What is left open of a certificate; CertificateError for what refutes it."""
    claims = statement.predicate.claims
    must_hold_together(file, statement, key)
    if is_of_this_release(claims):
        nonce = claims.challenge.nonce if claims.challenge else None
        found = verify(file, evidence=evidence, key=key, nonce=nonce, sample=sample, progress=progress)
        yield from (f"{file}: {each}" for each in found.open)
        return
    release = ", ".join(f"{each.version} ({each.sha256[:12]})" for each in claims.harness)
    known = "signature, grade and digest of its evidence" if evidence else "signature and grade, without evidence,"
    yield f"{file}: only {known} were checked: pytest-kmigrate {release} made it, and verifies the rest"


def file_in(register: Path, certificate: Path, *, replaces: bool) -> Path:
    """Put a certificate into a register, with its badge and test results, and return its place.

    The key of the first certificate of a new register is trusted. CertificateError for a certificate that the register
    does not take, WrongUseError where it has another one of that name, unless that shall be replaced.
    """
    statement = signed_statement(certificate)
    if not (register / TRUSTED).exists():
        _begin(register, statement)
    trusted = trusted_by(register)
    key = trusted.must_have(_issuers(statement), certificate, register)
    must_hold_together(certificate, statement, key)
    trusted.must_name_harnesses(statement, certificate, register)
    filed = register / f"{place_of(statement, certificate)}{CERTIFICATE}"
    content = certificate.read_text(encoding="utf-8")
    if filed.is_file() and filed.read_text(encoding="utf-8") != content and not replaces:
        raise WrongUseError(
            f"{certificate}: expected a name that is free, got {filed}, another certificate of the same vendor, "
            "version and document: give --replace to put this one in its place"
        )
    _make(filed.parent)
    replace_text(filed, content)
    results = results_file(certificate)
    if results.is_file():
        replace_text(results_file(filed), results.read_text(encoding="utf-8"))
    else:
        results_file(filed).unlink(missing_ok=True)
    return filed


def must_take(register: Path, issuer: bytes, certificate: Path) -> None:
    """CertificateError for a key that an existing register does not trust: before a certificate is made.

    WrongUseError for what can be no register.
    """
    _must_be_folder(register)
    if (register / TRUSTED).exists():
        trusted_by(register).must_have([issuer], certificate, register)


def must_be_new(register: Path) -> None:
    """WrongUseError for a register that trusts keys already, as no new one is among them, or for what can be none."""
    _must_be_folder(register)
    if (register / TRUSTED).exists():
        raise WrongUseError(
            f"--register {register}: expected --key with a key of {register / TRUSTED}, got none; give it"
        )


def _must_be_folder(register: Path) -> None:
    if register.exists() and not register.is_dir():
        raise WrongUseError(f"--register {register}: expected a folder, got a file; name a register, or a new one")


def _issuers(statement: Statement) -> list[bytes]:
    return [bytes.fromhex(each.ed25519) for each in statement.predicate.signers if each.role == "issuer"]


def _begin(register: Path, statement: Statement) -> None:
    predicate = statement.predicate
    owner = predicate.implementation.organization or "the issuer of the first certificate"
    keys = "".join(f'"sha256:{fingerprint(each)}" = {_quoted(owner)}\n' for each in _issuers(statement))
    _make(register)
    replace_text(register / TRUSTED, f"{_BEGINNING}\n[keys]\n{keys}\n[harnesses]\n")


def _quoted(name: str) -> str:
    plain = "".join(each if each.isprintable() else " " for each in name)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentLackError(f"{folder}: it cannot be made: {error.strerror}; name another register") from error


def written(entries: Sequence[Entry]) -> dict[str, str]:
    """The files that follow from the certificates of a register, by path in it: its page and the badges."""
    badges = {f"{each.place}{BADGE}": badge(each.statement) for each in entries}
    return {PAGE: register_page(entries, BADGE), **badges}


def stale(register: Path, entries: Sequence[Entry]) -> list[str]:
    """Paths of those files that are missing, or have another text."""
    found = []
    for name, text in written(entries).items():
        file = register / name
        if not file.is_file() or file.read_bytes() != text.encode():
            found.append(name)
    return found


def write_page(register: Path, entries: Sequence[Entry]) -> None:
    """Write the page and the badges of a register."""
    for name, text in written(entries).items():
        replace_text(register / name, text)
