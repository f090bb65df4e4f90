"""A vendor who owns the key changes the statement: what does not follow from the evidence is found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.certificates import verifying
from pytest_kmigrate.certificates.certifying import evidence_file
from pytest_kmigrate.certificates.envelope import canonical
from pytest_kmigrate.certificates.grading import DOES_NOT
from pytest_kmigrate.judging.planning import planned
from pytest_kmigrate.model.errors import KmigrateError
from tests.unit.certificates.vendors import (
    certified,
    header_of,
    key_of,
    make_run,
    runs_of,
    sign_anew,
    verified,
)


def edited(*path: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    """Change one value of a statement."""

    def change(statement: dict[str, Any]) -> None:
        at: Any = statement["predicate"]
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = to

    return change


def all_conform(statement: dict[str, Any]) -> None:
    """Each row is said to conform."""
    for row in statement["predicate"]["claims"]["rows"]:
        row |= {"strict": "CONFORMS", "apache": "CONFORMS", "reason": ""}


def of_another_release(statement: dict[str, Any]) -> None:
    """Honest, but made by a release with another plan, which concludes in other words."""
    statement["predicate"]["claims"]["profile"]["plan"] = "00" * 32
    statement["predicate"]["conclusion"] += " All in all."


def other_subject(statement: dict[str, Any]) -> None:
    """A policy engine would find the certificate for other software."""
    statement["subject"][0]["digest"]["sha256"] = "00" * 32


SIGNED: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "24 inconclusive rows as conforming": (all_conform, "but the evidence has"),
    "a certificate of another release": (of_another_release, "verify it with the pytest-kmigrate that made it"),
    "27 another plan": (edited("claims", "profile", "plan", to="00" * 32), "expected the plan"),
    "+9 a lower bound": (edited("claims", "rows", 0, "bound", to="0.0001"), "claims.rows[0].bound: stated '0.0001'"),
    "+10 more runs": (edited("claims", "rows", 0, "n", to=59), "claims.rows[0].n: stated 59, but the evidence has"),
    "+11 a run that does not count": (edited("claims", "runs", 0, "seed", to=8), "claims.runs[0].seed: stated 8"),
    "+12 a nicer conclusion": (edited("conclusion", to="All is well."), "conclusion: expected the sentences"),
    "+13 no limits": (edited("limits", to=[]), "expected the sentences that follow from its claims"),
    "+14 challenged": (edited("assurance", to="challenged"), "assurance: expected what follows from its claims"),
    "+15 another subject": (other_subject, "subject: expected Apache Kafka 3.6.0 with the digest of its claims"),
    "+16 no sessions": (edited("claims", "sessions", to=[]), "claims.missing: expected what follows from its rows"),
    "+17 another grade": (edited("claims", "grade", to=DOES_NOT), "claims.grade: expected what follows from its rows"),
    "+18 an unknown key": (edited("claims", "rows", 0, "note", to="x"), "Extra inputs are not permitted"),
    "+19 a witness that did not sign": (
        lambda statement: statement["predicate"]["signers"].append({"role": "witness", "ed25519": "aa" * 32}),
        "expected signatures by",
    ),
}
"""Statements that the vendor changed and signed again."""


@pytest.mark.parametrize("cheat", SIGNED)
@pytest.mark.slow
def test_a_statement_that_does_not_follow_from_its_evidence_is_found(certificate: Path, cheat: str) -> None:
    """Although its signature is right."""
    change, named = SIGNED[cheat]
    sign_anew(certificate, change)
    with pytest.raises(KmigrateError) as refuted:
        verified(certificate)
    assert named in str(refuted.value)


def test_another_harness_is_named_before_any_claim(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a reader's later release no run of an honest vendor counts; that refutes nothing."""
    for module in (planned, verifying):
        monkeypatch.setattr(module, "harness_digest", lambda: "00" * 32)
    with pytest.raises(
        KmigrateError, match=r"got some of another .*: verify it with the pytest-kmigrate that made it, from its pub"
    ):
        verified(certificate)


def test_another_signer_is_found(certificate: Path) -> None:
    """25: the certificate is signed again by another key, which it names as its own."""
    other = key_of(certificate.parent, "other")
    sign_anew(certificate, edited("signers", 0, "ed25519", to=other.public.hex()), other)
    with pytest.raises(KmigrateError, match="another party signed it"):
        verified(certificate)


@pytest.mark.slow
def test_another_evidence_is_found(certificate: Path) -> None:
    """+20: that of another certificate of the same vendor."""
    other = certificate.with_name("y.kmcert")
    make_run(runs_of(certificate), header_of(4))
    certified(runs_of(certificate), other)
    with pytest.raises(KmigrateError, match="belongs to another certificate"):
        verified(certificate, evidence=evidence_file(other))


@pytest.mark.parametrize(
    "respell",
    [
        lambda text: text.replace(b'","', b'", "', 1),
        lambda text: text + b"\n",
        lambda text: text[:-1],
        lambda text: json.dumps(json.loads(text), sort_keys=False, indent=1).encode() + b"\n",
        lambda text: text.replace(b'"keyid":"', b'"keyid":"A', 1),
        lambda text: text.replace(b'"payload"', b'"payloa\\u0064"', 1),
        lambda text: text[:-1].replace(b"}", b',"x":1}', 1) + b"\n",
    ],
)
def test_another_spelling_is_found(certificate: Path, respell: Callable[[bytes], bytes]) -> None:
    """26: the same values in other bytes."""
    certificate.write_bytes(respell(certificate.read_bytes()))
    with pytest.raises(KmigrateError, match=r"x\.kmcert: expected"):
        verified(certificate)


@pytest.mark.parametrize("of", ["payload", "signature"])
@pytest.mark.slow
def test_a_signature_is_of_its_contents(certificate: Path, of: str) -> None:
    """Another product in a well written payload, and the signature of another certificate by the same key."""
    other = certificate.with_name("y.kmcert")
    certified(runs_of(certificate), other)
    sign_anew(other, edited("implementation", "product", to="Acme Stream 8"))
    mine, theirs = json.loads(certificate.read_text()), json.loads(other.read_text())
    mine |= {"payload": theirs["payload"]} if of == "payload" else {"signatures": theirs["signatures"]}
    certificate.write_bytes(canonical(mine) + b"\n")
    with pytest.raises(KmigrateError, match="it was changed after it was signed; do not trust it"):
        verified(certificate)
