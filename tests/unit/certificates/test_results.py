"""The statement that tools of others read, beside the certificate."""

import json
from pathlib import Path

import pytest

from pytest_kmigrate.certificates.claims import claims_of
from pytest_kmigrate.certificates.envelope import opened, payload_of, sealed
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
    ("outcomes", "counts", "is_known", "listed"),
    [
        (["CONFORMS", "CONFORMS", "VIOLATES"], True, False, "failedTests"),
        (["CONFORMS", "VIOLATES", "CONFORMS"], False, False, "failedTests"),
        (["CONFORMS", "VIOLATES", "CONFORMS"], True, True, "warnedTests"),
        (["CONFORMS", "INCONCLUSIVE", "CONFORMS"], True, True, "warnedTests"),
        (["CONFORMS", "CONFORMS", "CONFORMS"], False, True, "warnedTests"),
        (["CONFORMS", "CONFORMS", "CONFORMS"], True, True, "passedTests"),
    ],
)
def test_a_test_passed_if_each_counted_run_conforms(
    out: Path, outcomes: list[str], *, counts: bool, is_known: bool, listed: str
) -> None:
    """A violation stands whether its run counts or not; one that is explained, or what does not count, is a warning."""
    plain = certified(runs_of(out), out).plain()
    for run, outcome in zip(plain["predicate"]["claims"]["runs"], outcomes, strict=True):
        run |= {"outcome": outcome, "counts": counts, "is_known": is_known}
    predicate = results_of(Statement.model_validate(plain))["predicate"]
    assert {name: tests for name, tests in predicate.items() if name.endswith("Tests") and tests} == {listed: [TEST]}


@pytest.mark.parametrize(("known", "is_known"), [([], False), (["K-1"], True)])
def test_what_a_run_violates_is_known_if_all_of_it_is_explained(
    runs: Path, known: list[str], *, is_known: bool
) -> None:
    """By bugs and deviations that its verdicts name."""
    verdicts = next(runs.glob("*/verdicts.jsonl"))
    first, *others = [json.loads(line) for line in verdicts.read_text().splitlines()]
    changed = [{**first, "outcome": "VIOLATES", "kind": "SAFETY", "known_bugs": known}, *others]
    verdicts.write_text("".join(json.dumps(line) + "\n" for line in changed))
    (run,) = [each for each in claims_of(runs, "kip-866").runs if each.run == verdicts.parent.name]
    assert (run.outcome, run.is_known) == ("VIOLATES", is_known)


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
