"""Compares certificates: vendors by requirements, as a page and as Markdown."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.catalogue import profiles, requirements
from pytest_kmigrate.certificates.grading import BUT_FOR_DEFECTS, CONFORMS, DOES_NOT
from pytest_kmigrate.certificates.keys import fingerprint
from pytest_kmigrate.certificates.statement import Claims, Row, Statement
from pytest_kmigrate.certificates.verifying import read_of_any_release
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.pages.drawing import Cell, chip, folded, table, text
from pytest_kmigrate.reports.pages.markup import cell_code, escaped
from pytest_kmigrate.reports.pages.markup import table as markdown_table
from pytest_kmigrate.reports.pages.page import site_of
from pytest_kmigrate.reports.site.views import View, section

_SIGNATURES = (
    "Only the signatures were checked, by the keys in the certificates: names and figures are the vendors' own. "
    "`kmigrate verify` checks each with its evidence."
)
_GRADES = (
    "A grade is about the requirements of the level MUST and about safety. Each violation that nothing known explains "
    "is one too many; known defects of Apache Kafka of that release make the middle grade. Complete: nothing that the "
    "plan asks for is missing."
)
BASELINES = (
    "Runs: those that could have violated the requirement, of those that the plan asks for. At most: the share of runs "
    "that may violate it all the same, at 95 % confidence. By the document: what it says alone. By Apache's baseline: "
    "what Apache Kafka is known to do instead counts as conforming, and its known bugs as open."
)
"""What the heads of tables mean."""
_PLANS = "other tests, or another number of runs, may have been asked for, so compare outcomes rather than numbers."
_COLOUR = {CONFORMS: "CONFORMS", BUT_FOR_DEFECTS: "INCONCLUSIVE", DOES_NOT: "VIOLATES"}
_HEADS = ("Certificate", "Kafka", "Grade", "Complete", "Runs", "Assurance", "Signed by")


@dataclass(frozen=True)
class Column:
    """One certificate."""

    name: str
    statement: Statement

    @property
    def claims(self) -> Claims:
        """What it claims."""
        return self.statement.predicate.claims

    @property
    def signer(self) -> str:
        """The beginning of its issuer's fingerprint."""
        issuer = next(each for each in self.statement.predicate.signers if each.role == "issuer")
        return f"sha256:{fingerprint(bytes.fromhex(issuer.ed25519))[:16]}"

    @property
    def assurance(self) -> str:
        """How its runs came about; whose nonce it was, only the reader knows."""
        challenge = self.claims.challenge
        return f"challenged by {challenge.nonce}" if challenge else self.statement.predicate.assurance

    def row(self, requirement: str) -> Row | None:
        """What it states of a requirement."""
        return next((row for row in self.claims.rows if row.id == requirement), None)


def columns(files: Sequence[Path]) -> list[Column]:
    """The certificates in these files, of whatever release; WrongUseError unless all are of one profile."""
    statements = [read_of_any_release(file) for file in files]
    named = sorted({each.predicate.claims.profile.id for each in statements})
    if len(named) > 1:
        raise WrongUseError(f"expected certificates of one profile, got {', '.join(named)}: compare those of one")
    names = [_name(each) for each in statements]
    often = Counter(names)
    return [
        Column(f"{name} ({file.name})" if often[name] > 1 else name, statement)
        for file, name, statement in zip(files, names, statements, strict=True)
    ]


def comparison_page(compared: Sequence[Column]) -> str:
    """The comparison as one HTML file."""
    profile = compared[0].claims.profile.id
    title = f"{len(compared)} certificates of {profile}"
    introduction = " ".join(_introduction(compared)).replace("`", "")
    overview = table(_HEADS, [_certificate_cells(each) for each in compared])
    names = [each.name for each in compared]
    stated = {each.id: each.statement for each in (requirements(profile) if profile in profiles() else ())}
    matrix = table(("Requirement", *names), [_row_cells(row, stated.get(row), compared) for row in _ids(compared)])
    by = f"Each outcome is that by the document. {BASELINES}"
    views = [
        (
            "Overview",
            View("overview", title, introduction, overview + _conclusions(compared)),
        ),
        ("Requirements", View("requirements", "Requirements", by, matrix)),
    ]
    return site_of(title, views)


def comparison_markdown(compared: Sequence[Column]) -> str:
    """The comparison as a text for a wiki or a pull request; all requirements on which certificates differ."""
    rows = [[escaped(cell) for cell in _certificate(each)] for each in compared]
    ids = [row for row in _ids(compared) if len({_stated(each.row(row)) for each in compared}) > 1]
    differing = [[cell_code(row), *(escaped(_described(each.row(row))) for each in compared)] for row in ids]
    parts = [
        f"# {len(compared)} certificates of {escaped(compared[0].claims.profile.id)}",
        " ".join(_introduction(compared)),
        markdown_table(_HEADS, rows),
        f"## {len(differing)} requirements on which they differ",
        *(
            [BASELINES, markdown_table(("Requirement", *(each.name for each in compared)), differing)]
            if differing
            else ["None."]
        ),
        "## What no certificate proves",
        "\n".join(f"- {escaped(each)}" for each in _limits(compared)),
    ]
    return "\n\n".join(parts) + "\n"


def _introduction(compared: Sequence[Column]) -> Iterator[str]:
    """What a reader has to know first; plans of several releases count otherwise."""
    yield from (_SIGNATURES, _GRADES)
    plans = Counter(each.claims.profile.plan for each in compared)
    if len(plans) > 1:
        yield f"Their plans differ ({', '.join(each[:12] for each in plans)}): {_PLANS}"


def _limits(compared: Sequence[Column]) -> list[str]:
    """The limits of all of them, each once: releases may name others."""
    return list(dict.fromkeys(limit for each in compared for limit in each.statement.predicate.limits))


def _name(statement: Statement) -> str:
    vendor = statement.predicate.implementation
    return " ".join(filter(None, (vendor.organization, vendor.product))) or statement.predicate.claims.artifact.name


def _ids(compared: Sequence[Column]) -> list[str]:
    return list(dict.fromkeys(row.id for each in compared for row in each.claims.rows))


def _certificate(column: Column) -> list[str]:
    claims = column.claims
    release = "" if claims.artifact.is_release else " (no release)"
    counted = f"{sum(run.counts for run in claims.runs)} of {len(claims.runs)}"
    graded = [claims.grade, "no" if claims.missing else "yes", counted]
    return [
        column.name,
        f"{claims.artifact.name}{release}{f', members by {claims.members}' if claims.members else ''}",
        *graded,
        column.assurance,
        column.signer,
    ]


def _certificate_cells(column: Column) -> list[Cell]:
    name, kafka, grade, whole, *rest = _certificate(column)
    chips = [chip(_COLOUR[column.claims.grade], grade)]
    chips.append(chip("INCONCLUSIVE" if column.claims.missing else "CONFORMS", whole))
    return [Cell(each) for each in (text(name), text(kafka), *chips, *map(text, rest))]


def _row_cells(requirement: str, statement: str | None, compared: Sequence[Column]) -> list[Cell]:
    stated = folded("what it says", text(statement)) if statement else ""
    return [Cell(text(requirement) + stated, sort=requirement), *(_cell(each.row(requirement)) for each in compared)]


def _cell(row: Row | None) -> Cell:
    if row is None:
        return Cell(chip("NOT_APPLICABLE", "not in it"))
    known = ", ".join(row.known)
    described = f"{chip(row.strict)} {text(_counted(row))}{f' as {text(known)}' if known else ''}"
    return Cell(described + (folded("why", text(row.reason)) if row.reason else ""), sort=row.strict)


def _counted(row: Row) -> str:
    return f"{row.n} of {row.required}" + (f", at most {row.bound}" if row.n else "")


def _stated(row: Row | None) -> tuple[str, ...]:
    return () if row is None else (row.strict, *row.known)


def _described(row: Row | None) -> str:
    if row is None:
        return "not in it"
    known = ", ".join(row.known)
    return f"{row.strict}, {_counted(row)}" + (f", as {known}" if known else "")


def _conclusions(compared: Sequence[Column]) -> str:
    items = "".join(f"<li>{text(each.name)}: {text(each.statement.predicate.conclusion)}</li>" for each in compared)
    limits = "".join(f"<li>{text(each)}</li>" for each in _limits(compared))
    return section("Conclusions", f"<ul>{items}</ul>") + section("What no certificate proves", f"<ul>{limits}</ul>")
