"""The page of a register: an overview of its certificates, and the facts of each, as Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pytest_kmigrate.certificates.certifying import CERTIFICATE
from pytest_kmigrate.certificates.grading import status_of
from pytest_kmigrate.certificates.keys import fingerprint
from pytest_kmigrate.certificates.statement import Statement
from pytest_kmigrate.certificates.summary import Summary, as_text, assured, in_words, summary_of
from pytest_kmigrate.reports.pages.markup import cell_code, escaped, literal, table

PAGE = "README.md"
_LEAD = (
    "`kmigrate register` writes this page from the certificates in this folder. Each is signed by a key of "
    "`register.toml`, and its grade follows from its rows. Whether these follow from the runs shows "
    "`kmigrate verify CERTIFICATE --evidence EVIDENCE` of the pytest-kmigrate that made it, which judges every run "
    "again. The evidence is known by its SHA-256."
)
_NONE = "No certificate is filed here."


@dataclass(frozen=True)
class Entry:
    """One certificate of a register."""

    place: PurePosixPath
    """Its path in the register, without suffix."""
    statement: Statement
    owner: str
    """Who owns the key that signed it, by the register."""
    harnesses: tuple[str, ...]
    """Where each harness that made its runs is to be had, by the register; empty: it does not say."""

    @property
    def summary(self) -> Summary:
        """Its facts."""
        return summary_of(self.statement, status_of(self.statement.predicate.claims))

    @property
    def product(self) -> str:
        """What the vendor calls the software, or what it is."""
        return self.statement.predicate.implementation.product or self.statement.predicate.claims.artifact.name


def register_page(entries: Sequence[Entry], badge: str) -> str:
    """The page of these certificates; ``badge``: the suffix of their badges."""
    heads = ("Product", "Version", "Document", "Grade", "Complete", "Issued", "Signed by")
    overview = table(heads, [_row(each) for each in entries]) if entries else _NONE
    sections = [_section(each, badge) for each in entries]
    return "\n\n".join(["# Certificates", _LEAD, overview, *sections]) + "\n"


def _row(entry: Entry) -> list[str]:
    found, claims = entry.summary, entry.statement.predicate.claims
    return [
        f"[{escaped(entry.product)}](#{_anchor(entry)})",
        escaped(claims.artifact.version),
        claims.profile.id,
        found.grade,
        "yes" if found.is_complete else "no",
        _day(found),
        escaped(entry.owner),
    ]


def _title(entry: Entry) -> str:
    return str(entry.place)


def _anchor(entry: Entry) -> str:
    """As forges make it of a heading: what is no letter, digit or dash goes."""
    return "".join(each for each in _title(entry) if each.isalnum() or each in "-_")


def _day(found: Summary) -> str:
    return found.issued_at.partition("T")[0]


def _section(entry: Entry, badge: str) -> str:
    found = entry.summary
    graded = in_words(found.grade, is_complete=found.is_complete)
    lines = [f"- {title}: {text}" for title, text in _facts(entry, found)]
    lines += [f"- missing: {literal(each)}" for each in found.missing]
    lines += [f"- finding: {literal(each)}" for each in found.findings]
    return "\n\n".join(
        [
            f"## {_title(entry)}",
            f"![{entry.statement.predicate.claims.profile.id}: {graded}]({entry.place}{badge})",
            literal(next(iter(as_text(found)))),
            "\n".join(lines),
        ]
    )


def _facts(entry: Entry, found: Summary) -> Iterator[tuple[str, str]]:
    predicate = entry.statement.predicate
    claims = predicate.claims
    yield "certificate", f"[{entry.place.name}{CERTIFICATE}]({entry.place}{CERTIFICATE}), issued {found.issued_at}"
    yield "software", f"{escaped(found.software.name)}, {cell_code(f'sha256:{found.software.sha256}')}"
    if found.software.image:
        image = found.software.image
        yield "image", f"{escaped(image.name)}, {cell_code(f'sha256:{image.sha256}')}"
    if claims.members:
        yield "members of groups", escaped(claims.members)
    yield "requirements of the level MUST", f"{found.must.required} ({_words(found.must.by_word)})"
    yield "others", f"{found.others.required} ({_words(found.others.by_word)})"
    for each in found.defects:
        yield f"defect {each.id}", escaped(", ".join(each.requirements) or "a check of safety")
    yield "runs", f"{found.runs_that_count} of {found.runs} count"
    yield "assurance", _assured(entry)
    yield "key", f"{escaped(entry.owner)}, {cell_code(found.signer)}"
    for harness, where in zip(claims.harness, entry.harnesses, strict=True):
        at = f", {escaped(where)}" if where else ""
        yield "harness", f"pytest-kmigrate {escaped(harness.version)}, {cell_code(f'sha256:{harness.sha256}')}{at}"
    evidence = predicate.evidence
    yield "evidence", f"{escaped(evidence.file)}, {evidence.bytes} bytes, {cell_code(f'sha256:{evidence.sha256}')}"


def _words(by_word: dict[str, int]) -> str:
    return ", ".join(f"{count} {word}" for word, count in by_word.items()) or "none"


def _assured(entry: Entry) -> str:
    """As for any reader, who did not give the nonce of a challenge."""
    signers = entry.statement.predicate.signers
    witnesses = [fingerprint(bytes.fromhex(each.ed25519)) for each in signers if each.role == "witness"]
    how = escaped(assured(entry.statement, None))
    return how + "".join(f", witnessed by {cell_code(f'sha256:{each}')}" for each in witnesses)
