"""What `kmigrate verify` shows to a reader who never saw the vendor."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.certificates.certifying import evidence_file
from pytest_kmigrate.certificates.challenge import tasks
from pytest_kmigrate.certificates.results import results_file
from pytest_kmigrate.judging.planning.plan import plan
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.recording.sources import harness_digest
from tests.unit.certificates.vendors import (
    certified,
    command,
    graded_anew,
    header_of,
    make_run,
    runs_of,
    sign_anew,
)
from tests.unit.judging.coherence.honest_runs import CLASSES

NONCE = "a nonce that the vendor chose"


@pytest.mark.slow
def test_a_nonce_of_the_vendors_assures_no_reader(
    out: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vendor draws until the tests are easy ones; only the reader who gave the nonce knows whose it was."""
    (task,) = tasks(plan("kip-866").tests, NONCE, CLASSES)
    make_run(runs_of(out), header_of(task.seed))
    certified(runs_of(out), out, nonce=NONCE)
    _, printed = command(capfd, monkeypatch, "verify", out)
    assert (
        f"assurance: self-run, unless you gave the vendor the nonce {NONCE!r}: then give it by --challenge" in printed
    )
    _, printed = command(capfd, monkeypatch, "verify", out, "--challenge", NONCE)
    assert "assurance: challenged\n" in printed


@pytest.mark.slow
def test_words_of_a_vendor_are_words(
    certificate: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of their own, what clears the screen, and markup of the terminal's library."""
    words = {"organization": "Acme [red]", "product": "x[/blue]\n\x1b[2Jverified: CONFORMS\n\u202e"}
    sign_anew(certificate, lambda statement: statement["predicate"]["implementation"].update(words))
    status, printed = command(capfd, monkeypatch, "verify", certificate)
    assert (status, "\x1b" in printed, "\u202e" in printed) == (3, False, False)
    assert printed.startswith(
        "INCOMPLETE, so far conforms: Acme [red] x[/blue]\\n\\x1b[2Jverified: CONFORMS\\n\\u202e by"
    )
    assert "\nverified: CONFORMS" not in printed


def test_violations_are_listed_first(
    certificate: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty rows are listed; those that are open would hide them."""
    rows: list[str] = []

    def violated(statement: dict[str, Any]) -> None:
        for row, word in zip(statement["predicate"]["claims"]["rows"][-2:], ("defect", "new violation"), strict=True):
            row |= {"strict": "VIOLATES", "word": word}
            rows.append(row["id"])
        graded_anew(statement)

    sign_anew(certificate, violated)
    evidence_file(certificate).unlink()
    results_file(certificate).unlink()
    _, printed = command(capfd, monkeypatch, "verify", certificate)
    listed = [line.split()[1] for line in printed.splitlines() if line.startswith("│ K866-")][:2]
    assert listed == rows[::-1]


def of_a_build(header: RunHeader) -> RunHeader:
    """A run of jars that are no release's, on a provider that has no links."""
    more = {"distribution_digests": {"/opt/acme": "cd" * 32}, "capabilities": ["kill", "start"]}
    return replace(header, kafka="3.6.0+acme.cdcdcdcd", extra={**header.extra, **more})


def test_a_build_and_what_was_not_offered_are_shown(
    out: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A buyer would take the name for that of a release, and a provider without links for one with them."""
    shutil.rmtree(runs_of(out))
    make_run(runs_of(out), of_a_build(header_of(1)))
    certified(runs_of(out), out)
    _, printed = command(capfd, monkeypatch, "verify", out)
    assert f"software: a build of Kafka 3.6.0+acme.cdcdcdcd (no release of Apache Kafka), sha256:{'cd' * 32}" in printed
    (line,) = [line for line in printed.splitlines() if line.startswith("not offered by the provider process")]
    assert ", links, " in line
    assert "made by the provider process on a machine with " in printed
    assert f"made and judged by pytest-kmigrate 0.1.0 ({harness_digest()[:12]}): 1 runs" in printed
