"""The statement that tools of others read, beside the certificate."""

import json
from pathlib import Path

import pytest

from pytest_kmigrate.certificates.certifying import conclusion
from pytest_kmigrate.certificates.claims import claims_of
from pytest_kmigrate.certificates.envelope import opened, payload_of, sealed
from pytest_kmigrate.certificates.grading import BUT_FOR_DEFECTS, DOES_NOT
from pytest_kmigrate.certificates.results import results_file, results_of
from pytest_kmigrate.certificates.statement import Statement
from pytest_kmigrate.model.errors import CertificateError
from tests.unit.certificates.vendors import TEST, certified, key_of, runs_of, verified
from tests.unit.judging.coherence.honest_runs import DIGEST


def test_what_it_states(certificate: Path) -> None:
    """The subject of the certificate, one result, and each test once."""
    stated = payload_of(opened(results_file(certificate)), "x")
    assert stated["_type"] == "https://in-toto.io/Statement/v1"
    assert stated["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert stated["subject"] == [{"name": "Apache Kafka 3.6.0", "digest": {"sha256": DIGEST}}]
    predicate = stated["predicate"]
    assert (predicate["result"], predicate["passedTests"], predicate["failedTests"]) == ("WARNED", [TEST], [])
    assert [each["name"] for each in predicate["configuration"]] == ["x.kmevidence.zip", "kip-866.json"]


@pytest.mark.parametrize(
    ("outcomes", "counts", "is_red", "listed"),
    [
        (["CONFORMS", "CONFORMS", "VIOLATES"], True, True, "failedTests"),
        (["CONFORMS", "VIOLATES", "CONFORMS"], False, True, "failedTests"),
        (["CONFORMS", "VIOLATES", "CONFORMS"], True, False, "warnedTests"),
        (["CONFORMS", "INCONCLUSIVE", "CONFORMS"], True, False, "warnedTests"),
        (["CONFORMS", "CONFORMS", "CONFORMS"], False, False, "warnedTests"),
        (["CONFORMS", "CONFORMS", "CONFORMS"], True, False, "passedTests"),
    ],
)
@pytest.mark.slow
def test_a_test_passed_if_each_counted_run_conforms(
    out: Path, outcomes: list[str], *, counts: bool, is_red: bool, listed: str
) -> None:
    """A violation stands whether its run counts or not; one that is explained, or what does not count, is a warning."""
    plain = certified(runs_of(out), out).plain()
    for run, outcome in zip(plain["predicate"]["claims"]["runs"], outcomes, strict=True):
        run |= {"outcome": outcome, "counts": counts, "is_red": is_red and outcome == "VIOLATES"}
    predicate = results_of(Statement.model_validate(plain))["predicate"]
    assert {name: tests for name, tests in predicate.items() if name.endswith("Tests") and tests} == {listed: [TEST]}


@pytest.mark.parametrize(("known", "grade"), [([], DOES_NOT), (["K-1"], BUT_FOR_DEFECTS)])
def test_a_violation_of_safety_counts_without_a_requirement(runs: Path, known: list[str], grade: str) -> None:
    """The grade and the second statement agree; one that is known makes the middle grade."""
    verdicts = next(runs.glob("*/verdicts.jsonl"))
    first, *others = [json.loads(line) for line in verdicts.read_text().splitlines()]
    changed = [{**first, "outcome": "VIOLATES", "kind": "SAFETY", "known_bugs": known, "about": []}, *others]
    verdicts.write_text("".join(json.dumps(line) + "\n" for line in changed))
    claims = claims_of(runs, "kip-866")
    (run,) = [each for each in claims.runs if each.run == verdicts.parent.name]
    assert (run.outcome, run.is_red) == ("VIOLATES", not known)
    assert (claims.grade, len(claims.violations), claims.defects) == (grade, int(not known), known)
    assert first["check"] in conclusion(claims) or known


@pytest.mark.slow
def test_results_that_do_not_follow_are_refuted(certificate: Path) -> None:
    """By another key, or other than the certificate has it; without the file nothing is missed."""
    stated = payload_of(opened(results_file(certificate)), "x")
    stated["predicate"]["result"] = "PASSED"
    results_file(certificate).write_bytes(sealed(stated, [key_of(certificate.parent)]))
    with pytest.raises(CertificateError, match=r"expected the test results that follow from x\.kmcert, got others"):
        verified(certificate)
    results_file(certificate).write_bytes(sealed(stated, [key_of(certificate.parent, "another")]))
    with pytest.raises(CertificateError, match="expected signatures by"):
        verified(certificate)
    results_file(certificate).unlink()
    verified(certificate)
