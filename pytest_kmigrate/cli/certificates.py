"""Commands about certificates: ``certify``, ``verify``, ``compare``."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_kmigrate.certificates.keys import SigningKey
    from pytest_kmigrate.certificates.statement import Claims, Row, Statement
    from pytest_kmigrate.certificates.summary import Summary

_ALLOW = "apache-defects: defects that Apache Kafka of that release has as well end with 0."
_KEY = "The vendor's Ed25519 key as PEM (default: a new one beside the certificate)."
_WITNESS = "The key of another party that saw the runs. May be given again."
_CHALLENGE = "A reader's nonce: runs of the tests and seeds that follow from it are needed."
_JSON = "Print the facts as JSON, and nothing else, on standard output."
_MOST_ROWS = 30
"""Requirements listed on the terminal; the certificate has all."""


def certify(
    runs: Annotated[Path, typer.Argument(help="A folder of runs.", metavar="RUNS", readable=False)],
    *,
    profile: Annotated[str, typer.Option(help="The document.", metavar="PROFILE")],
    out: Annotated[Path, typer.Option(help="The certificate, *.kmcert; its evidence goes beside it.", metavar="FILE")],
    key: Annotated[Path | None, typer.Option(help=_KEY, metavar="FILE", readable=False)] = None,
    witness: Annotated[list[Path] | None, typer.Option(help=_WITNESS, metavar="FILE", readable=False)] = None,
    kafka: Annotated[str | None, typer.Option(help="Which of several Kafkas.", metavar="VERSION")] = None,
    challenge: Annotated[str | None, typer.Option(help=_CHALLENGE, metavar="NONCE")] = None,
    secrets: Annotated[Path | None, typer.Option(help="Values for no evidence, one a line.", metavar="FILE")] = None,
    register: Annotated[
        Path | None, typer.Option(help="File it in this register, which trusts the key, or is new.", metavar="DIR")
    ] = None,
    organization: Annotated[str, typer.Option(help="Who certifies.", metavar="TEXT")] = "",
    product: Annotated[str, typer.Option(help="What is certified, in the vendor's words.", metavar="TEXT")] = "",
    url: Annotated[str, typer.Option(help="Where to read more about it.", metavar="URL")] = "",
    allow: Annotated[str | None, typer.Option(help=_ALLOW, metavar="apache-defects")] = None,
    as_json: Annotated[bool, typer.Option("--json", help=_JSON)] = False,
) -> None:
    """Judge runs again and sign what they show of a document, with their evidence in a second file."""
    from pytest_kmigrate.certificates.certifying import Order
    from pytest_kmigrate.certificates.certifying import certify as certified
    from pytest_kmigrate.certificates.grading import status_of
    from pytest_kmigrate.certificates.keys import signing_key
    from pytest_kmigrate.certificates.scanning import learn_secrets
    from pytest_kmigrate.certificates.statement import Implementation
    from pytest_kmigrate.certificates.summary import summary_of
    from pytest_kmigrate.cli.registers import file_now

    allows = _allowed(allow)
    _must_be_folder(runs)
    learn_secrets(secrets)
    _make(out.parent)
    order = Order(
        runs, profile, out, Implementation(organization=organization, product=product, url=url), kafka, challenge
    )
    with _issuer(out, key, register) as issuer:
        statement = certified(
            order, issuer, [signing_key(each, "--witness") for each in witness or ()], _bar("judged again")
        )
    status = status_of(statement.predicate.claims, allows_defects=allows)
    _report(statement, summary_of(statement, status, nonce=challenge), as_json=as_json)
    file_now(register, out)
    if not as_json:
        _show_files(out, issuer)
    raise typer.Exit(status)


def _must_be_folder(runs: Path) -> None:
    from pytest_kmigrate.model.errors import WrongUseError

    if not runs.is_dir():
        raise WrongUseError(f"{runs}: expected a folder of runs, got none; give the folder of --kmigrate-runs")


def _show_files(out: Path, issuer: "SigningKey") -> None:
    """What certifying has written, and whose key signed it."""
    from pytest_kmigrate.certificates.certifying import evidence_file
    from pytest_kmigrate.certificates.keys import fingerprint
    from pytest_kmigrate.cli.console import say

    say(f"certificate: {out}")
    say(f"evidence: {evidence_file(out)}")
    say(f"key: sha256:{fingerprint(issuer.public)}")


def verify(
    certificate: Annotated[Path, typer.Argument(help="A certificate, *.kmcert.", metavar="FILE", readable=False)],
    *,
    evidence: Annotated[
        Path | None, typer.Option(help="Its evidence (default: the file beside it).", metavar="FILE")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="The vendor's public key, or its fingerprint.", metavar="FILE|FINGERPRINT")
    ] = None,
    challenge: Annotated[str | None, typer.Option(help="The nonce that you gave the vendor.", metavar="NONCE")] = None,
    sample: Annotated[
        int | None, typer.Option(help="Judge so many runs again, drawn at random (default: all).", metavar="N", min=0)
    ] = None,
    software: Annotated[
        str | None,
        typer.Option(help="What you have: it must be what was tested.", metavar="DIR|image:NAME|sha256:..."),
    ] = None,
    allow: Annotated[str | None, typer.Option(help=_ALLOW, metavar="apache-defects")] = None,
    as_json: Annotated[bool, typer.Option("--json", help=_JSON)] = False,
) -> None:
    """Verify a certificate: signature, evidence, claims, and every run judged again."""
    from pytest_kmigrate.certificates.keys import pinned
    from pytest_kmigrate.certificates.software import must_be_of
    from pytest_kmigrate.certificates.summary import summary_of
    from pytest_kmigrate.certificates.verifying import verify as verified
    from pytest_kmigrate.cli.console import plain, say

    allows = _allowed(allow)
    found = verified(
        certificate,
        evidence=evidence,
        key=pinned(key) if key is not None else None,
        nonce=challenge,
        sample=sample,
        progress=_bar("judged again"),
    )
    if software is not None:
        must_be_of(software, found.statement.predicate.claims.artifact, str(certificate))
    predicate, status = found.statement.predicate, found.status(allows_defects=allows)
    facts = summary_of(found.statement, status, found.open, challenge)
    _report(found.statement, facts, as_json=as_json)
    if not as_json:
        say(f"issued: {predicate.issued_at}")
        say(f"assurance: {plain(facts.assurance)}{_witnessed(found.statement)}")
        for sentence in predicate.limits:
            say(f"limit: {sentence}")
        say(f"verified: its statements follow from its evidence{', but for what is open' if found.open else ''}")
    raise typer.Exit(status)


def digest(
    software: Annotated[
        str, typer.Argument(help="A Kafka: unpacked, a release or an image.", metavar="DIR|image:NAME")
    ],
) -> None:
    """Print the SHA-256 of a Kafka, as certificates name it, and that of its classes."""
    from pytest_kmigrate.certificates.software import digests_of_software
    from pytest_kmigrate.cli.console import say

    found = digests_of_software(software)
    say(f"sha256:{found.sha256}")
    say(f"classes: sha256:{found.classes}")
    if found.image:
        say(f"image: sha256:{found.image}")


def compare(
    certificates: Annotated[list[Path], typer.Argument(help="Certificates of one profile.", metavar="FILE...")],
    *,
    out: Annotated[Path, typer.Option(help="Where the page goes.", metavar="DIR")],
) -> None:
    """Compare certificates, vendors by requirements, as a page and as Markdown."""
    from pytest_kmigrate.certificates.comparison import columns, comparison_markdown, comparison_page
    from pytest_kmigrate.cli.console import say
    from pytest_kmigrate.recording.writing import replace_text

    compared = columns(certificates)
    _make(out)
    for name, content in (("comparison.md", comparison_markdown(compared)), ("index.html", comparison_page(compared))):
        replace_text(out / name, content)
        say(f"{name}: {out / name}")


def _make(folder: Path) -> None:
    from pytest_kmigrate.model.errors import WrongUseError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUseError(f"--out: expected {folder} as a folder, got {error.strerror}; name another") from error


@contextmanager
def _issuer(out: Path, key: Path | None, register: Path | None) -> "Iterator[SigningKey]":
    """The key of the vendor; without one a new one is made, or the one that was made before is used.

    None is made for a certificate of a wrong name or for a register that would not trust it, and none stays of an
    attempt that made no certificate.
    """
    from pytest_kmigrate.certificates.certifying import evidence_file
    from pytest_kmigrate.certificates.keys import new_key, public_file, signing_key, taken_back
    from pytest_kmigrate.certificates.register import must_be_new, must_take
    from pytest_kmigrate.cli.console import notify

    evidence_file(out)
    made = out.with_suffix(".key")
    if key is not None or made.exists():
        issuer = signing_key(key or made)
        if register is not None:
            must_take(register, issuer.public, out)
        yield issuer
        return
    if register is not None:
        must_be_new(register)
    issuer = new_key(made)
    with taken_back(made, public_file(made)):
        yield issuer
    notify(f"{made}: a new key; keep it to yourself, and publish {public_file(made)}")


def _allowed(allow: str | None) -> bool:
    """Whether the middle grade is good enough; WrongUseError for anything else that shall be."""
    from pytest_kmigrate.certificates.grading import APACHE_DEFECTS
    from pytest_kmigrate.model.errors import WrongUseError

    if allow not in (None, APACHE_DEFECTS):
        raise WrongUseError(f"--allow: expected {APACHE_DEFECTS}, got {allow!r}")
    return allow is not None


def _report(statement: "Statement", summary: "Summary", *, as_json: bool) -> None:
    """The facts of a certificate, as text or as JSON."""
    from pytest_kmigrate.certificates.summary import as_text
    from pytest_kmigrate.cli.console import plain, say

    if as_json:
        print(summary.model_dump_json(indent=1))  # noqa: T201 - a result that programs read
        return
    for line in as_text(summary):
        say(plain(line))
    _show(statement)


def _witnessed(statement: "Statement") -> str:
    from pytest_kmigrate.certificates.keys import fingerprint

    keys = [bytes.fromhex(each.ed25519) for each in statement.predicate.signers if each.role == "witness"]
    compare = "; compare it with the key of a party that you trust" if keys else ""
    return "".join(f", witnessed by sha256:{fingerprint(each)}" for each in keys) + compare


def _show(statement: "Statement") -> None:
    from pytest_kmigrate.certificates.comparison import BASELINES
    from pytest_kmigrate.cli.console import plain, say, show

    predicate = statement.predicate
    vendor, claims = predicate.implementation, predicate.claims
    named = plain(" ".join(filter(None, (vendor.organization, vendor.product))) or claims.artifact.name)
    rows = sorted((row for row in claims.rows if row.strict != "CONFORMS"), key=_worst_first)
    heads = ("requirement", "part", "word", "by the document", "runs", "known as, or why")
    listed = [
        (
            row.id,
            row.part,
            row.word.value,
            row.strict,
            f"{row.n} of {row.required}",
            _known_or_why(row),
        )
        for row in rows[:_MOST_ROWS]
    ]
    if listed:
        show(heads, listed, title=f"{named}: {claims.artifact.name}, {claims.profile.id}: what does not conform")
        say(BASELINES)
    if len(rows) > len(listed):
        say(f"{len(rows) - len(listed)} more requirements that do not conform are in the certificate")
    _show_what_made_it(claims)


def _worst_first(row: "Row") -> tuple[int, ...]:
    """Violations that nothing explains, then all others, before what is open: the first rows are listed only."""
    from pytest_kmigrate.checkers.tally import Word
    from pytest_kmigrate.model.verdict import Outcome

    return (row.word != Word.VIOLATION, row.word != Word.DEFECT, -Outcome[row.strict], row.part != "core")


def _known_or_why(row: "Row") -> str:
    from textwrap import shorten

    return ", ".join([*row.deviations, *row.known_bugs]) or shorten(row.reason, 120)


def _show_what_made_it(claims: "Claims") -> None:
    from pytest_kmigrate.cli.console import plain, say

    for host in claims.hosts:
        machine = f"{host.cores} cores, {host.memory_mb} MB, kernel {host.kernel}"
        say(plain(f"made by the provider {host.provider} on a machine with {machine}: {host.runs} runs"))
    for harness in claims.harness:
        say(plain(f"made and judged by pytest-kmigrate {harness.version} ({harness.sha256[:12]}): {harness.runs} runs"))
    for offer in claims.offers:
        if offer.lacking:
            lacking = f"{', '.join(offer.lacking)} ({offer.runs} runs)"
            say(f"not offered by the provider {plain(offer.provider)}, so not tested there: {lacking}")
    _show_what_did_not_run(claims)


def _show_what_did_not_run(claims: "Claims") -> None:
    from pytest_kmigrate.cli.console import plain, say

    for session in claims.sessions:
        for what, runs in (("left out", session.left_out), ("interrupted", session.interrupted)):
            if runs:
                say(plain(f"session {session.session[:12]}: {what}: {', '.join(runs)}"))
    not_counted = [run for run in claims.runs if not run.counts]
    for run in not_counted[:_MOST_ROWS]:
        say(plain(f"does not count: {run.run}: {run.reason}"))
    if len(not_counted) > _MOST_ROWS:
        say(f"{len(not_counted) - _MOST_ROWS} more runs that do not count are in the certificate")
    for test in claims.untested[:_MOST_ROWS]:
        say(plain(f"ran less often than the plan asks for: {test}"))
    if len(claims.untested) > _MOST_ROWS:
        say(f"{len(claims.untested) - _MOST_ROWS} more tests that ran less often are in the certificate")


def _bar(what: str) -> "Callable[[int, int], None]":
    """A line on standard error that counts, with the time that is left."""
    import sys
    import time

    began = time.monotonic()

    def progress(done: int, of: int) -> None:
        if sys.stderr.isatty():
            left = (time.monotonic() - began) / done * (of - done)
            print(f"\r{done} of {of} runs {what}, {left:.0f} s left ", end="", file=sys.stderr)  # noqa: T201 - a bar
            print("\n" if done == of else "", end="", file=sys.stderr, flush=True)  # noqa: T201 - as above

    return progress
