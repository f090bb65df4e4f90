"""The typed contents of a certificate: an in-toto statement about the software under test."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.model.errors import CertificateError

SCHEMA = 2
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:pytest-kmigrate:certificate:v2"

RELEASE_OF_APACHE, BUILD = "Apache Kafka ", "a build of Kafka "
"""What the name of the software begins with; its version follows."""

OutcomeName = Literal["CONFORMS", "VIOLATES", "INCONCLUSIVE", "NOT_APPLICABLE"]
Grade = Literal["conforms", "conforms but for defects that Apache Kafka has as well", "does not conform"]
Part = Literal["core", "extended"]


class Model(BaseModel):
    """Frozen, with no keys but its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ContainerImage(Model):
    """The container image that nodes ran in."""

    name: str
    sha256: str
    """Its id."""


class Artifact(Model):
    """What nodes ran."""

    name: str
    sha256: str
    """One SHA-256 over all jars."""
    classes: str
    """One SHA-256 over their classes, whatever else is in the jars; empty if the runs have none."""
    also_called: list[str]
    """Other names that runs have for these very jars, such as those of other folders."""
    is_release: bool
    """Whether these are the jars of the Apache release of that name."""
    image: ContainerImage | None = None
    """Where the jars come in an image."""

    @property
    def version(self) -> str:
        """The release, or the release and the tag of a build."""
        return self.name.removeprefix(RELEASE_OF_APACHE).removeprefix(BUILD)

    def subject(self) -> "list[Subject]":
        """What a statement about it is about: the jars, and the image that they are in."""
        found = [Subject(name=self.name, digest={"sha256": self.sha256})]
        if self.image is not None:
            found.append(Subject(name=self.image.name, digest={"sha256": self.image.sha256}))
        return found


class Counts(Model):
    """Counted runs by what they say of one requirement."""

    conforms: int
    violates: int
    inconclusive: int
    not_applicable: int


class Row(Model):
    """One requirement."""

    id: str
    level: Literal["MUST", "SHOULD", "MAY"]
    part: Part
    word: Annotated[Word, Field(strict=False)]
    """Where it stands: a defect, a departure or a remark where known ones explain all that violates it."""
    strict: OutcomeName
    """The outcome by the document alone."""
    apache: OutcomeName
    """The outcome where what Apache Kafka is known to do instead counts as conforming."""
    counts: Counts
    n: int
    """Runs that could have violated it and have an answer."""
    required: int
    """Runs that the plan asks for."""
    bound: str
    """Upper bound of the share of violating runs, at 95 %."""
    deviations: list[str]
    """Known deviations of Apache Kafka that were seen."""
    known_bugs: list[str]
    """Known bugs of Apache Kafka that were seen."""
    reason: str
    """Why it does not conform; empty if it does, by both baselines."""

    @property
    def known(self) -> list[str]:
        """All that Apache Kafka is known for and that was seen: a defect may be listed as a deviation, too."""
        return [*self.deviations, *self.known_bugs]


class PartResult(Model):
    """The MUST rows (core), or all others (extended)."""

    part: Part
    required: int
    by_word: dict[str, int]
    """The number of requirements by their word."""
    grade: Grade
    is_complete: bool
    """Whether each of them is decided by as many runs as the plan asks for, or does not apply."""


class TestedRun(Model):
    """One run of the evidence."""

    run: str
    test: str
    seed: int
    outcome: OutcomeName
    is_red: bool
    """Whether it violates what counts for the grade, and nothing known explains that."""
    manifest: str
    """SHA-256 of its manifest."""
    counts: bool
    reason: str
    """Why it does not count; empty if it does."""


class Red(Model):
    """A violation that counts for the grade whether a requirement has it or not, and that nothing known explains."""

    run: str
    test: str
    check: str
    kind: str
    summary: str


class NotedSession(Model):
    """One call of pytest that the folder of runs noted."""

    session: str
    tests: int
    runs: list[str]
    interrupted: list[str]
    """Runs that did not end."""
    left_out: list[str]
    """Runs that ended and are not in the evidence."""
    ended: bool


class Sampled(Model):
    """One test that the challenge chose, and the run of it with the seed that the challenge derived."""

    test: str
    seed: int
    run: str


class Challenge(Model):
    """A nonce of the reader, and what followed from it."""

    nonce: str
    sample: list[Sampled]


class Harness(Model):
    """A pytest-kmigrate that made evidence."""

    version: str
    sha256: str
    """Digest of the files of the package that make evidence and verdicts."""
    runs: int


class Host(Model):
    """A machine that runs were made on."""

    boot: str
    kernel: str
    cores: int
    memory_mb: int
    provider: str
    runs: int


class Offer(Model):
    """What a provider of the evidence could do to its clusters, and what it could not, by capability."""

    provider: str
    offered: list[str]
    lacking: list[str]
    runs: int


class Profile(Model):
    """The document and the plan."""

    id: str
    release: str
    """The release of pytest-kmigrate whose plan it is."""
    plan: str
    """SHA-256 of the plan and the sources of its tests."""


class Claims(Model):
    """All that follows from the evidence, and is computed again from it."""

    profile: Profile
    artifact: Artifact
    members: str | None
    """What ran the members of groups, where the document is about them; None: it is not."""
    harness: list[Harness]
    hosts: list[Host]
    offers: list[Offer]
    parts: list[PartResult]
    rows: list[Row]
    untestable: dict[str, str]
    """Requirements that no run can judge, with the reason."""
    untested: list[str]
    """Tests of the plan that this Kafka can run, with fewer counted runs than it asks for."""
    runs: list[TestedRun]
    sessions: list[NotedSession]
    violations: list[Red]
    """Violations by checks, of SAFETY or of no requirement, in any run, also in one that does not count."""
    findings: list[str]
    """What is wrong with evidence: runs that share evidence, and the like."""
    defects: list[str]
    """Known defects of Apache Kafka of this release that core requirements, or checks of SAFETY, met."""
    grade: Grade
    missing: list[str]
    """Why the certificate is incomplete; empty: it is complete."""
    challenge: Challenge | None


class Implementation(Model):
    """What the vendor says of itself; nothing checks it."""

    organization: str
    product: str
    url: str


class EvidenceFile(Model):
    """The second file."""

    file: str
    sha256: str
    bytes: int
    withheld: list[str]
    """What was left out of each run: reports that can be made again."""


class Signer(Model):
    """A public key that signs the certificate."""

    role: Literal["issuer", "witness"]
    ed25519: str = Field(pattern="^[0-9a-f]{64}$")


class Predicate(Model):
    """The contents of a certificate."""

    schema_version: Literal[2]
    issued_at: str
    assurance: Literal["self-run", "challenged"]
    limits: list[str]
    """What no reader can conclude from the certificate, in sentences."""
    conclusion: str
    implementation: Implementation
    claims: Claims
    evidence: EvidenceFile
    signers: list[Signer]


class Subject(Model):
    """What policy engines look up."""

    name: str
    digest: dict[str, str]


class Statement(BaseModel):
    """An in-toto statement, version 1."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)

    type: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: list[Subject]
    predicate_type: Literal["urn:pytest-kmigrate:certificate:v2"] = Field(alias="predicateType")
    predicate: Predicate

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return self.model_dump(by_alias=True)


def statement_of(content: Any, where: str) -> Statement:
    """The statement in a payload; CertificateError names the first key that is wrong."""
    predicate = content.get("predicate") if isinstance(content, dict) else None
    schema = predicate.get("schema_version") if isinstance(predicate, dict) else None
    if isinstance(schema, int) and schema != SCHEMA:
        which = "a later" if schema > SCHEMA else "an earlier"
        raise CertificateError(
            f"{where}: schema_version: expected {SCHEMA}, got {schema}: {which} release of pytest-kmigrate wrote it; "
            "verify it with that one"
        )
    try:
        return Statement.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "payload"
        raise CertificateError(
            f"{where}: {place}: {first['msg']}: this is no certificate of pytest-kmigrate {PREDICATE_TYPE}"
        ) from error
