"""The second statement of a certificate: in-toto's ``test-result``, which tools of others read.

It is thinner than the certificate: names of tests, and one result. It is signed by the same keys and lies beside it.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any

from pytest_kmigrate.certificates.envelope import opened, payload_of
from pytest_kmigrate.certificates.grading import status_of
from pytest_kmigrate.certificates.statement import STATEMENT_TYPE, Statement
from pytest_kmigrate.model.errors import CertificateError
from pytest_kmigrate.model.exit_status import ExitStatus

PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
SUFFIX = ".test-result.json"
_RESULTS = {ExitStatus.DONE: "PASSED", ExitStatus.OPEN: "WARNED", ExitStatus.VIOLATED: "FAILED"}


def results_file(certificate: Path) -> Path:
    """Where the second statement of a certificate lies: beside it."""
    return certificate.with_suffix(SUFFIX)


def results_of(statement: Statement) -> dict[str, Any]:
    """What follows from a certificate, by its grade: it has failed if a test has, and passed if nothing is missing.

    A test has failed if one of its runs violates what counts for the grade and nothing known explains, and passed if
    all conform. What is explained, inconclusive or does not count is a warning.
    """
    predicate, outcomes = statement.predicate, defaultdict[str, set[str]](set)
    for run in predicate.claims.runs:
        is_passed = run.outcome == "CONFORMS" and run.counts
        outcomes[run.test].add("VIOLATES" if run.is_red else "CONFORMS" if is_passed else "INCONCLUSIVE")
    failed = sorted(test for test, seen in outcomes.items() if "VIOLATES" in seen)
    passed = sorted(test for test, seen in outcomes.items() if seen == {"CONFORMS"})
    configuration = [
        {"name": predicate.evidence.file, "digest": {"sha256": predicate.evidence.sha256}},
        {"name": f"{predicate.claims.profile.id}.json", "digest": {"sha256": predicate.claims.profile.plan}},
    ]
    return {
        "_type": STATEMENT_TYPE,
        "subject": [each.model_dump() for each in statement.subject],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": _RESULTS[status_of(predicate.claims)],
            "configuration": configuration,
            "passedTests": passed,
            "warnedTests": sorted(outcomes.keys() - {*failed, *passed}),
            "failedTests": failed,
        },
    }


def must_follow(certificate: Path, statement: Statement) -> None:
    """CertificateError if the second statement lies there and is not what follows from the first, by its signers."""
    file = results_file(certificate)
    if not file.is_file():
        return
    envelope = opened(file)
    envelope.must_be_signed([bytes.fromhex(each.ed25519) for each in statement.predicate.signers], str(file))
    if payload_of(envelope, str(file)) != results_of(statement):
        raise CertificateError(f"{file}: expected the test results that follow from {certificate.name}, got others")
