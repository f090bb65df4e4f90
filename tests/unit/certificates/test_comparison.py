"""Several certificates side by side."""

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.certificates.comparison import columns, comparison_markdown, comparison_page
from pytest_kmigrate.certificates.grading import DOES_NOT
from pytest_kmigrate.certificates.verifying import read_certificate
from pytest_kmigrate.model.errors import CertificateError, WrongUseError
from tests.unit.certificates.vendors import (
    ROW,
    certified,
    command,
    graded_anew,
    header_of,
    make_run,
    runs_of,
    sign_anew,
)


@pytest.fixture
def two(certificate: Path) -> list[Path]:
    """Certificates of three runs and of a vendor who has one run only."""
    other = certificate.with_name("y.kmcert")
    certified(runs_of(certificate), other)

    def with_less(statement: dict[str, Any]) -> None:
        statement["predicate"]["implementation"] |= {"organization": "Big", "product": "<b>Blue</b>|"}
        for row in statement["predicate"]["claims"]["rows"]:
            if row["id"] == ROW:
                row |= {
                    "word": "departure",
                    "strict": "VIOLATES",
                    "n": 1,
                    "reason": "a record was lost",
                    "deviations": ["dev-1"],
                }
        graded_anew(statement)

    sign_anew(other, with_less)
    return [certificate, other]


@pytest.mark.slow
def test_the_page_has_each_vendor_and_each_requirement(two: list[Path]) -> None:
    """Outcome, count, bound, deviation and reason; what a vendor writes is text."""
    compared = columns(two)
    page = comparison_page(compared)
    assert "Acme Acme Stream" in page
    assert "Big &lt;b&gt;Blue&lt;/b&gt;|" in page
    assert "<b>Blue" not in page
    assert all(row.id in page for row in compared[0].claims.rows)
    assert "a record was lost" in page
    assert "3 of 3, at most 0.6316" in page
    assert "What no certificate proves" in page
    assert "names and figures are the vendors&#x27; own" in page
    assert "what it says" in page


@pytest.mark.slow
def test_markdown_has_what_differs(two: list[Path]) -> None:
    """One row here; a bar or markup in a name breaks no table."""
    text = comparison_markdown(columns(two))
    assert "## 1 requirements on which they differ" in text
    (line,) = [line for line in text.splitlines() if ROW in line]
    assert "CONFORMS, 3 of 3" in line
    assert "VIOLATES, 1 of 3" in line
    assert "as dev-1" in line
    assert "At most: the share of runs that may violate it all the same, at 95 % confidence." in text
    assert "- The vendor ran the tests; a program can invent evidence" in text
    assert "Big \\<b\\>Blue\\</b\\>\\|" in text


@pytest.mark.slow
def test_a_challenge_is_named_by_its_nonce(two: list[Path]) -> None:
    """The reader of a page knows whether the nonce is their own; the vendor may have chosen it."""

    def challenged(statement: dict[str, Any]) -> None:
        statement["predicate"]["assurance"] = "challenged"
        statement["predicate"]["claims"]["challenge"] = {"nonce": "dice of a vendor", "sample": []}

    sign_anew(two[1], challenged)
    (_, row) = [line for line in comparison_markdown(columns(two)).splitlines() if "Apache Kafka 3.6.0" in line]
    assert " challenged by dice of a vendor " in row


@pytest.mark.slow
def test_vendors_of_one_name_are_named_with_their_files(certificate: Path) -> None:
    """Two certificates of one product."""
    make_run(runs_of(certificate), header_of(4))
    certified(runs_of(certificate), certificate.with_name("later.kmcert"))
    names = [each.name for each in columns([certificate, certificate.with_name("later.kmcert")])]
    assert names == ["Acme Acme Stream (x.kmcert)", "Acme Acme Stream (later.kmcert)"]


def of_another_release(statement: dict[str, Any]) -> None:
    """As a release with another plan and other limits makes it."""
    statement["predicate"]["claims"]["profile"].update(plan="0" * 64, release="0.9")
    statement["predicate"]["limits"] = ["Only that release knows this limit."]


def test_certificates_of_two_releases_are_compared(two: list[Path]) -> None:
    """The plans are named as they count otherwise, and the limits of both are listed."""
    sign_anew(two[1], of_another_release)
    compared = columns(two)
    for text in (comparison_page(compared), comparison_markdown(compared)):
        assert "Their plans differ (" in text
        assert "000000000000): other tests, or another number of runs, may have been asked for" in text
        assert "Only that release knows this limit." in text
        assert "The vendor ran the tests; a program can invent evidence" in text


def test_a_grade_of_another_release_follows_from_its_rows(two: list[Path]) -> None:
    """No release may state one that they exclude."""

    def graded_up(statement: dict[str, Any]) -> None:
        of_another_release(statement)
        statement["predicate"]["claims"]["grade"] = DOES_NOT

    sign_anew(two[1], graded_up)
    with pytest.raises(CertificateError, match=r"claims\.grade: expected what follows from its rows"):
        columns(two)


def test_other_limits_of_this_release_are_forged(two: list[Path]) -> None:
    """Its limits are known."""
    sign_anew(two[1], lambda statement: statement["predicate"].update(limits=["None at all."]))
    with pytest.raises(CertificateError, match="conclusion: expected the sentences that follow from its claims"):
        columns(two)


def test_another_profile_is_not_compared(two: list[Path]) -> None:
    """It has other requirements."""
    sign_anew(two[1], lambda statement: statement["predicate"]["claims"]["profile"].update(id="kip-9"))
    with pytest.raises(WrongUseError, match="expected certificates of one profile, got kip-866, kip-9: compare"):
        columns(two)


@pytest.mark.slow
def test_a_forged_certificate_is_not_compared(two: list[Path]) -> None:
    """Its signature is looked at, as everywhere."""
    content = json.loads(two[0].read_text())
    content["signatures"][0]["sig"] = content["signatures"][0]["sig"][::-1]
    two[0].write_text(json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n")
    with pytest.raises(CertificateError):
        read_certificate(two[0])


@pytest.mark.slow
def test_the_command_writes_both(
    two: list[Path], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page and a text, in a folder that is made."""
    folder = two[0].parent / "side" / "by-side"
    status, _ = command(capfd, monkeypatch, "compare", *two, "--out", folder)
    assert status == 0
    assert sorted(each.name for each in folder.iterdir()) == ["comparison.md", "index.html"]


@pytest.mark.parametrize("words", [("compare", "x.kmcert", "--out", "y"), ("certify", "runs", "--out", "y/x.kmcert")])
def test_an_out_that_is_no_folder_is_named(
    certificate: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Not by a number of the system."""
    monkeypatch.chdir(certificate.parent)
    Path("y").write_text("")
    profile = ("--profile", "kip-866") if words[0] == "certify" else ()
    status, printed = command(capfd, monkeypatch, *words, *profile)
    assert (status, printed) == (2, "--out: expected y as a folder, got File exists; name another\n")
