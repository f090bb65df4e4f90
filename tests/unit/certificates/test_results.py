"""The statement that tools of others read, beside the certificate."""

from pathlib import Path

import pytest

from pytest_kmigrate.certificates.envelope import opened, payload_of, sealed
from pytest_kmigrate.certificates.results import results_file, results_of
from pytest_kmigrate.certificates.statement import Statement
from pytest_kmigrate.model.errors import CertificateError
from tests.unit.certificates.vendors import TEST, certified, key_of, runs_of, verified
from tests.unit.judging.coherence.honest_runs import DIGEST


def test_what_it_states(out: Path) -> None:
    """The subject of the certificate, one result, and each test once."""
    certified(runs_of(out), out)
    stated = payload_of(opened(results_file(out)), "x")
    assert stated["_type"] == "https://in-toto.io/Statement/v1"
    assert stated["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert stated["subject"] == [{"name": "Apache Kafka 3.6.0", "digest": {"sha256": DIGEST}}]
    predicate = stated["predicate"]
    assert (predicate["result"], predicate["passedTests"], predicate["failedTests"]) == ("WARNED", [TEST], [])
    assert [each["name"] for each in predicate["configuration"]] == ["x.kmevidence.zip", "kip-866.json"]


@pytest.mark.parametrize(
    ("outcomes", "counts", "listed"),
    [
        (["CONFORMS", "CONFORMS", "VIOLATES"], True, "failedTests"),
        (["CONFORMS", "VIOLATES", "CONFORMS"], False, "failedTests"),
        (["CONFORMS", "INCONCLUSIVE", "CONFORMS"], True, "warnedTests"),
        (["CONFORMS", "CONFORMS", "CONFORMS"], False, "warnedTests"),
    ],
)
def test_a_test_passed_if_each_counted_run_conforms(out: Path, outcomes: list[str], counts: bool, listed: str) -> None:
    """A violation stands whether its run counts or not; what does not count is a warning."""
    plain = certified(runs_of(out), out).plain()
    for run, outcome in zip(plain["predicate"]["claims"]["runs"], outcomes, strict=True):
        run |= {"outcome": outcome, "counts": counts}
    predicate = results_of(Statement.model_validate(plain))["predicate"]
    assert {name: tests for name, tests in predicate.items() if name.endswith("Tests") and tests} == {listed: [TEST]}


def test_results_that_do_not_follow_are_refuted(out: Path) -> None:
    """By another key, or other than the certificate has it; without the file nothing is missed."""
    certified(runs_of(out), out)
    stated = payload_of(opened(results_file(out)), "x")
    stated["predicate"]["result"] = "PASSED"
    results_file(out).write_bytes(sealed(stated, [key_of(out.parent)]))
    with pytest.raises(CertificateError, match=r"expected the test results that follow from x\.kmcert, got others"):
        verified(out)
    results_file(out).write_bytes(sealed(stated, [key_of(out.parent, "another")]))
    with pytest.raises(CertificateError, match="expected signatures by"):
        verified(out)
    results_file(out).unlink()
    verified(out)
