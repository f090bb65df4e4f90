"""What a certificate comes to: the same facts as a text of a minute and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_kmigrate.catalogue import find_bug
from pytest_kmigrate.certificates.grading import BUT_FOR_DEFECTS, DOES_NOT, first_few
from pytest_kmigrate.certificates.keys import fingerprint
from pytest_kmigrate.certificates.statement import Claims, ContainerImage, Grade, Model, Red, Statement
from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.model.exit_status import ExitStatus

_SHOWN = 5
_TITLE = 90


class Software(Model):
    """What was tested."""

    name: str
    sha256: str
    """One SHA-256 over its jars, as ``kmigrate digest`` prints it."""
    is_release: bool
    """Whether these are the jars of the Apache release of that name."""
    image: ContainerImage | None
    also_called: list[str]


class Defect(Model):
    """A known defect of Apache Kafka that runs met."""

    id: str
    title: str
    requirements: list[str]
    """The requirements of the level MUST that it violates."""


class Counted(Model):
    """How many requirements of the level MUST stand where."""

    required: int
    by_word: dict[str, int]


class Summary(Model):
    """The facts of one certificate."""

    schema_version: int = 1
    grade: Grade
    is_complete: bool
    missing: list[str]
    """Why it is incomplete, in sentences."""
    vendor: str
    software: Software
    profile: str
    plan: str
    release: str
    """The release of pytest-kmigrate that made it."""
    must: Counted
    others: Counted
    defects: list[Defect]
    violations: list[Red]
    """Violations of SAFETY or of no requirement, that nothing known explains."""
    violated: list[str]
    """Requirements of the level MUST that are violated by what nothing known explains."""
    findings: list[str]
    """What is wrong with evidence."""
    runs: int
    runs_that_count: int
    issued_at: str
    assurance: str
    signer: str
    """The fingerprint of the issuer's key."""
    limits: list[str]
    """What no reader can conclude from any certificate."""
    open: list[str]
    """What verifying left open; empty where nothing was verified."""
    exit_status: int


def summary_of(
    statement: Statement, status: ExitStatus, open_: Sequence[str] = (), nonce: str | None = None
) -> Summary:
    """The facts of a certificate; ``status``: how the command ends. ``nonce``: the reader's own challenge."""
    predicate, claims = statement.predicate, statement.predicate.claims
    core, extended = claims.parts
    vendor = predicate.implementation
    issuer = next(each for each in predicate.signers if each.role == "issuer")
    return Summary(
        grade=claims.grade,
        is_complete=not claims.missing,
        missing=claims.missing,
        vendor=" ".join(filter(None, (vendor.organization, vendor.product))),
        software=Software(**{key: getattr(claims.artifact, key) for key in Software.model_fields}),
        profile=claims.profile.id,
        plan=claims.profile.plan,
        release=claims.profile.release,
        must=Counted(required=core.required, by_word=core.by_word),
        others=Counted(required=extended.required, by_word=extended.by_word),
        defects=[_defect(each, claims) for each in claims.defects],
        violations=claims.violations,
        violated=[row.id for row in claims.rows if row.part == "core" and row.word is Word.VIOLATION],
        findings=claims.findings,
        runs=len(claims.runs),
        runs_that_count=sum(run.counts for run in claims.runs),
        issued_at=predicate.issued_at,
        assurance=assured(statement, nonce),
        signer=f"sha256:{fingerprint(bytes.fromhex(issuer.ed25519))}",
        limits=predicate.limits,
        open=list(open_),
        exit_status=int(status),
    )


def assured(statement: Statement, nonce: str | None) -> str:
    """A challenge says something to the reader who gave its nonce alone: a vendor can choose one as well."""
    challenge = statement.predicate.claims.challenge
    if challenge is None or challenge.nonce == nonce:
        return statement.predicate.assurance
    return f"self-run, unless you gave the vendor the nonce {challenge.nonce!r}: then give it by --challenge"


def _defect(known: str, claims: Claims) -> Defect:
    bug = find_bug(known)
    rows = [row.id for row in claims.rows if row.part == "core" and known in row.known]
    return Defect(id=known, title=bug.consequence if bug else "", requirements=rows)


def headline(grade: Grade, *, is_complete: bool) -> str:
    """The grade, and that it is not the last word where anything is missing; one violation is enough for the lowest."""
    if is_complete:
        return f"{grade.upper()}, complete"
    return f"{grade.upper()}, incomplete" if grade == DOES_NOT else f"INCOMPLETE, so far {grade}"


def in_words(grade: Grade, *, is_complete: bool) -> str:
    """The same in small letters, for the middle of a line."""
    if is_complete:
        return f"{grade}, complete"
    return f"{grade}, incomplete" if grade == DOES_NOT else f"incomplete, so far {grade}"


def as_text(found: Summary) -> Iterator[str]:
    """The lines that somebody reads in a minute; the first has the grade."""
    graded = headline(found.grade, is_complete=found.is_complete)
    yield f"{graded}: {found.vendor or found.software.name} by {found.profile}"
    yield from _facts(found)
    for title, listed in (("finding", found.findings), ("missing", found.missing), ("open", found.open)):
        yield from (f"{title}: {each}" for each in listed)


def _facts(found: Summary) -> Iterator[str]:
    software = found.software
    image = f", image {software.image.name} (sha256:{software.image.sha256})" if software.image else ""
    release = "" if software.is_release else " (no release of Apache Kafka)"
    yield f"software: {software.name}{release}, sha256:{software.sha256}{image}"
    if software.also_called:
        yield f"runs call the same jars: {', '.join(software.also_called)}, too"
    yield f"requirements of the level MUST: {_counted(found.must)}; others: {_counted(found.others)}"
    for each in found.violations[:_SHOWN]:
        yield f"violation ({each.kind}): {each.check} in {each.run}: {_short(each.summary)}"
    if found.violated:
        yield f"violated: {first_few(found.violated)}"
    if found.defects and found.grade == BUT_FOR_DEFECTS:
        yield "Apache Kafka of this release has these defects as well:"
    for defect in found.defects:
        rows = f" ({first_few(defect.requirements)})" if defect.requirements else ""
        yield f"defect {defect.id}: {_short(defect.title)}{rows}"
    yield f"runs: {found.runs_that_count} of {found.runs} count"


def _counted(counted: Counted) -> str:
    words = ", ".join(f"{count} {word}" for word, count in counted.by_word.items())
    return f"{counted.required} ({words})" if words else f"{counted.required}"


def _short(text: str) -> str:
    return text if len(text) <= _TITLE else f"{text[: _TITLE - 3]}..."


def schema() -> dict[str, Any]:
    """The JSON schema of a summary."""
    return Summary.model_json_schema()
