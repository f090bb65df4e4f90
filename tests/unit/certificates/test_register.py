"""Registers: certificates by vendor and version, the keys that are trusted, a page and badges."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.certificates.badge import badge
from pytest_kmigrate.certificates.certifying import CERTIFICATE, evidence_file
from pytest_kmigrate.certificates.register import TRUSTED, Checked, checked, file_in, stale, trusted_by, write_page
from pytest_kmigrate.certificates.register_page import PAGE
from pytest_kmigrate.certificates.results import results_file
from pytest_kmigrate.certificates.verifying import signed_statement
from pytest_kmigrate.model.errors import CertificateError, WrongUseError
from tests.unit.certificates.vendors import ROW, command, graded_anew, key_of, runs_of, sign_anew

DOCS = Path(__file__).parents[3] / "docs" / "certificates"
PLACE = f"acme/3.6.0/kip-866{CERTIFICATE}"


@pytest.fixture
def register(certificate: Path) -> Path:
    """A register with the vendor's certificate, and its page."""
    folder = certificate.parent / "register"
    file_in(folder, certificate, replaces=False)
    write_page(folder, found(folder).entries)
    return folder


def found(register: Path, evidence: Path | None = None) -> Checked:
    """What a register comes to, by its own files unless others are named."""
    return checked(register, evidence or register, None, lambda *_: None)


def test_the_shipped_register_is_verified_and_its_page_is_current() -> None:
    """Every certificate in docs/certificates, without its evidence."""
    there = found(DOCS)
    assert there.problems == ()
    assert stale(DOCS, there.entries) == []


def test_a_certificate_is_filed_by_vendor_version_and_document(register: Path, certificate: Path) -> None:
    """With its test results, badge and page; evidence stays where it is."""
    files = sorted(path.relative_to(register).as_posix() for path in register.rglob("*") if path.is_file())
    stem = PLACE.removesuffix(CERTIFICATE)
    assert files == [PAGE, *(f"{stem}{each}" for each in (CERTIFICATE, ".svg", ".test-result.json")), TRUSTED]
    assert (register / PLACE).read_bytes() == certificate.read_bytes()
    there = found(register)
    assert (there.problems, stale(register, there.entries)) == ((), [])
    assert [each.partition(": ")[2] for each in there.notes] == [
        "no evidence was read: kip-866.kmevidence.zip is not beside it; give --evidence"
    ]


@pytest.mark.slow
def test_evidence_is_found_by_its_digest_and_judged_again(register: Path, certificate: Path) -> None:
    """Whatever it is called; another of that size is not taken for it."""
    folder = certificate.parent / "evidence" / "deep"
    folder.mkdir(parents=True)
    shutil.copy2(evidence_file(certificate), folder / "renamed.kmevidence.zip")
    assert found(register, folder.parent).notes == ()
    content = (folder / "renamed.kmevidence.zip").read_bytes()
    (folder / "renamed.kmevidence.zip").write_bytes(content[:-1] + b"x")
    assert len(found(register, folder.parent).notes) == 1


def test_the_page_has_the_facts_of_each_certificate(register: Path) -> None:
    """Product, version, grade, date, key, harness, digest, and what is missing; the badge has the grade in words."""
    page = (register / PAGE).read_text()
    statement = signed_statement(register / PLACE)
    claims = statement.predicate.claims
    facts = [claims.artifact.sha256, statement.predicate.issued_at, claims.harness[0].sha256, *claims.missing]
    assert [each for each in facts if each not in page] == []
    assert "INCOMPLETE, so far conforms: Acme Acme Stream by kip-866" in page
    assert f"({PLACE})" in page
    assert "kip-866: incomplete, so far conforms" in (register / PLACE).with_suffix(".svg").read_text()
    assert badge(statement) == badge(statement)


def with_another_harness(statement: dict[str, Any]) -> None:
    """As an earlier release wrote it: its own harness, plan and sentences."""
    claims = statement["predicate"]["claims"]
    claims["harness"][0]["sha256"] = "ab" * 32
    claims["profile"]["plan"] = "cd" * 32
    statement["predicate"] |= {"limits": ["A limit."], "conclusion": "In its own words."}


def name_the_harness(folder: Path) -> None:
    """What an owner of a register does who knows where that harness is to be had."""
    with (folder / TRUSTED).open("a") as more:
        more.write(f'{"ab" * 32} = "the commit 0123abc"\n')


def test_a_certificate_of_an_earlier_release_is_filed(certificate: Path) -> None:
    """Signature and grade are checked, and the note names the pytest-kmigrate that verifies the rest."""
    folder = certificate.parent / "register"
    sign_anew(certificate, with_another_harness)
    results_file(certificate).unlink()
    with pytest.raises(CertificateError, match=r"expected runs by a pytest-kmigrate that .* names, got some by ababab"):
        file_in(folder, certificate, replaces=False)
    assert [each.name for each in folder.rglob("*")] == [TRUSTED]
    name_the_harness(folder)
    file_in(folder, certificate, replaces=False)
    there = found(folder)
    assert (there.problems, [each.place.as_posix() for each in there.entries]) == ((), ["acme/3.6.0/kip-866"])
    assert "only signature and grade, without evidence, were checked: pytest-kmigrate 0.1.0 (abababab" in there.notes[0]
    write_page(folder, there.entries)
    assert "the commit 0123abc" in (folder / PAGE).read_text()


def better(statement: dict[str, Any]) -> None:
    """A grade that a violated row excludes."""
    with_another_harness(statement)
    for row in statement["predicate"]["claims"]["rows"]:
        if row["id"] == ROW:
            row |= {"word": "new violation", "strict": "VIOLATES"}


def test_no_release_may_grade_a_violation_as_good(certificate: Path) -> None:
    """Also where the sentences of another release are not known."""
    sign_anew(certificate, better)
    with pytest.raises(CertificateError, match=r"claims\.parts: expected what follows from its rows"):
        file_in(certificate.parent / "register", certificate, replaces=False)


def second_of_one_name(register: Path, certificate: Path) -> None:
    """The same in another folder."""
    shutil.copytree(register / "acme" / "3.6.0", register / "acme" / "3.6")


def moved(register: Path, certificate: Path) -> None:
    """In a folder of another version, where it would pass for that one's."""
    (register / "acme" / "3.6.0").rename(register / "acme" / "4.0.0")


def of_an_earlier_schema(register: Path, certificate: Path) -> None:
    """As the first release wrote certificates."""
    _signed_in(register, lambda statement: statement["predicate"].update(schema_version=1), certificate)


def of_an_unknown_schema(register: Path, certificate: Path) -> None:
    """No release has a schema of that name."""
    _signed_in(register, lambda statement: statement["predicate"].update(schema_version="2"), certificate)


def by_an_unknown_key(register: Path, certificate: Path) -> None:
    """The list of the register has another one."""
    (register / TRUSTED).write_text(f'[keys]\n"sha256:{"12" * 32}" = "Blue"\n')


def with_a_private_key(register: Path, certificate: Path) -> None:
    """Left there by mistake."""
    shutil.copy2(certificate.with_name("vendor.key"), register / "acme" / "x.key")


def with_a_link(register: Path, certificate: Path) -> None:
    """To a file elsewhere, which may change."""
    (register / PLACE).unlink()
    (register / PLACE).symlink_to(certificate)


def with_other_results(register: Path, certificate: Path) -> None:
    """Of another certificate."""
    results_file(register / PLACE).write_text("{}\n")


def _signed_in(register: Path, change: Callable[[dict[str, Any]], Any], certificate: Path) -> None:
    sign_anew(register / PLACE, change, key_of(certificate.parent))


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (second_of_one_name, "expected one certificate of this name, got 2: .*remove all but one"),
        (moved, r"acme/4\.0\.0/kip-866\.kmcert: expected the certificate of acme/3\.6\.0/kip-866 at .*: move it there"),
        (of_an_earlier_schema, "schema_version: expected 2, got 1: an earlier release of pytest-kmigrate wrote it"),
        (of_an_unknown_schema, r"predicate\.schema_version: Input should be 2: this is no certificate"),
        (by_an_unknown_key, r"expected a signature by a key of .*register\.toml, got one by sha256:.*: add it under"),
        (with_a_private_key, r"x\.key: expected files of certificates in a register, got another: take it out"),
        (
            lambda register, _: (register / "acme" / "x.kmcert").mkdir(),
            r"x\.kmcert: expected a certificate, got a folder: take it out",
        ),
        (with_a_link, r"kip-866\.kmcert: expected a file of the register, got a link"),
        (with_other_results, r"kip-866\.test-result\.json: expected a certificate in a DSSE envelope"),
    ],
)
def test_what_does_not_belong_is_one_sentence(
    register: Path, certificate: Path, spoil: Callable[[Path, Path], None], named: str
) -> None:
    """Each names the file, what was expected and what to do."""
    spoil(register, certificate)
    (problem,) = found(register).problems
    assert re.search(named, problem), problem
    assert "\n" not in problem


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("[keys", "register.toml: expected TOML, got"),
        ("[key]\n", "expected the tables keys and harnesses, got 'key'"),
        ("keys = 7\n", "keys: expected a table, got 7"),
        ('[keys]\nabc = "Acme"\n', r"keys: expected sha256:\.\.\. = a name, got 'abc' = 'Acme'"),
        (f'[harnesses]\n{"ab" * 32} = ""\n', "harnesses: expected 64 hexadecimal digits = a name"),
    ],
)
def test_a_list_of_keys_is_read_strictly(register: Path, content: str, named: str) -> None:
    """With a misspelled table or fingerprint no key would be trusted."""
    (register / TRUSTED).write_text(content)
    with pytest.raises(WrongUseError, match=named):
        trusted_by(register)


def test_a_taken_name_needs_to_be_replaced_on_purpose(register: Path, certificate: Path) -> None:
    """Filing the same again changes nothing."""
    file_in(register, certificate, replaces=False)
    sign_anew(certificate, lambda statement: statement["predicate"]["implementation"].update(url="https://acme"))
    with pytest.raises(WrongUseError, match=r"expected a name that is free, got .*give --replace"):
        file_in(register, certificate, replaces=False)
    file_in(register, certificate, replaces=True)
    assert (register / PLACE).read_bytes() == certificate.read_bytes()


def test_a_harness_that_is_not_named_takes_no_place(register: Path, certificate: Path) -> None:
    """Neither a free one nor that of a certificate which shall be replaced."""
    filed = register / PLACE
    before = filed.read_bytes() if filed.exists() else b""

    def of_another_harness(statement: dict[str, Any]) -> None:
        statement["predicate"]["claims"]["harness"][0]["sha256"] = "0" * 64
        statement["predicate"]["claims"]["profile"]["plan"] = "0" * 64

    sign_anew(certificate, of_another_harness)
    results_file(certificate).unlink()
    with pytest.raises(CertificateError, match="expected runs by a pytest-kmigrate that"):
        file_in(register, certificate, replaces=True)
    assert (filed.read_bytes() if filed.exists() else b"") == before


def test_names_of_others_stay_in_the_register(register: Path, certificate: Path) -> None:
    """An organization or a version is no path."""

    def climbing(statement: dict[str, Any]) -> None:
        statement["predicate"]["implementation"]["organization"] = "../../Blue/.."

    sign_anew(certificate, climbing)
    assert file_in(register, certificate, replaces=False) == register / "blue" / "3.6.0" / "kip-866.kmcert"


def test_a_release_has_a_folder_and_a_build_needs_its_organization(register: Path, certificate: Path) -> None:
    """Without an organization a release of Apache Kafka is its own vendor."""

    def without(statement: dict[str, Any]) -> None:
        statement["predicate"]["implementation"]["organization"] = ""

    def as_build(statement: dict[str, Any]) -> None:
        name = "a build of Kafka 3.6.0+x"
        statement["predicate"]["claims"]["artifact"] |= {"is_release": False, "name": name}
        statement["subject"][0]["name"] = name
        graded_anew(statement)

    sign_anew(certificate, without)
    assert file_in(register, certificate, replaces=False).parts[-3:] == ("apache-kafka", "3.6.0", "kip-866.kmcert")
    sign_anew(certificate, as_build)
    results_file(certificate).unlink()
    with pytest.raises(WrongUseError, match="expected the organization that certifies a build, got none"):
        file_in(register, certificate, replaces=False)


def test_the_command_files_verifies_and_compares(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, certificate: Path
) -> None:
    """A new register trusts the key of its first certificate; a changed page is found."""
    folder = certificate.parent / "register"
    status, printed = command(capfd, monkeypatch, "register", folder, certificate)
    assert (status, f"filed: {folder / PLACE}" in printed) == (0, True)
    assert command(capfd, monkeypatch, "register", folder, "--check")[0] == 0
    (folder / PAGE).write_text("# Certificates\n")
    status, printed = command(capfd, monkeypatch, "register", folder, "--check")
    assert (status, "README.md: expected what the register's certificates make" in printed) == (2, True)
    by_an_unknown_key(folder, certificate)
    status, printed = command(capfd, monkeypatch, "register", folder)
    assert (status, "expected a signature by a key of" in printed) == (2, True)
    status, printed = command(capfd, monkeypatch, "register", certificate.parent / "none")
    assert (status, "file a first certificate in it" in printed) == (2, True)


def test_certifying_files_at_once(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, certificate: Path
) -> None:
    """By a key that the register trusts; another one is refused before anything is judged."""
    folder, runs = certificate.parent / "register", runs_of(certificate)
    words = ("certify", runs, "--profile", "kip-866", "--organization", "Acme", "--register", folder)
    keyed = ("--key", certificate.with_name("vendor.key"), "--out", certificate.with_name("y.kmcert"))
    monkeypatch.setattr("pytest_kmigrate.certificates.certifying.differing", lambda *_, **__: [])
    assert command(capfd, monkeypatch, *words, *keyed)[0] == 3
    assert hashlib.sha256((folder / PLACE).read_bytes()).digest() == hashlib.sha256(keyed[3].read_bytes()).digest()
    status, printed = command(capfd, monkeypatch, *words, "--out", certificate.with_name("z.kmcert"))
    assert (status, "expected --key with a key of" in printed) == (2, True)
    assert list(certificate.parent.glob("z.*")) == []
    key_of(certificate.parent, "blue")
    status, printed = command(capfd, monkeypatch, *words, "--key", certificate.with_name("blue.key"), *keyed[2:])
    assert (status, "expected a signature by a key of" in printed) == (2, True)


@pytest.mark.slow
def test_a_new_key_stays_only_with_a_certificate(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, runs: Path
) -> None:
    """Runs that cannot be used leave nothing beside ``--out``; a key that was there before stays."""
    out = runs.parent / "x.kmcert"
    run = min(runs.glob("*/run.json"))
    run.write_text(json.dumps({**json.loads(run.read_text()), "seed": 77}))
    assert command(capfd, monkeypatch, "certify", runs, "--profile", "kip-866", "--out", out)[0] == 2
    assert list(out.parent.glob("x.*")) == []
    key_of(out.parent, "x")
    assert command(capfd, monkeypatch, "certify", runs, "--profile", "kip-866", "--out", out)[0] == 2
    assert sorted(each.name for each in out.parent.glob("x.*")) == ["x.key", "x.key.pub"]


def test_a_folder_of_evidence_that_is_none_is_named(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, register: Path
) -> None:
    """Nothing would be found in it, and a note would pass for all that was wanted."""
    status, printed = command(capfd, monkeypatch, "register", register, "--evidence", register / "nowhere")
    assert (status, "--evidence: expected a folder with evidence, got none at" in printed) == (2, True)


def test_a_register_that_is_a_file_is_refused_before_anything_is_judged(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, certificate: Path
) -> None:
    """With a key and without one."""
    words = ("certify", runs_of(certificate), "--profile", "kip-866", "--register", certificate)
    key = ("--key", certificate.with_name("vendor.key"))
    for more in (key, ()):
        status, printed = command(capfd, monkeypatch, *words, "--out", certificate.with_name("y.kmcert"), *more)
        assert (status, "expected a folder, got a file; name a register" in printed) == (2, True)
        assert list(certificate.parent.glob("y.*")) == []


def test_the_page_says_of_a_challenge_what_its_readers_know(certificate: Path) -> None:
    """They did not give the nonce, and the vendor may have chosen it."""

    def challenged(statement: dict[str, Any]) -> None:
        with_another_harness(statement)
        statement["predicate"]["assurance"] = "challenged"
        statement["predicate"]["claims"]["challenge"] = {"nonce": "a nonce of somebody's", "sample": []}

    folder = certificate.parent / "register"
    sign_anew(certificate, challenged)
    results_file(certificate).unlink()
    with pytest.raises(CertificateError, match=r"add it under .harnesses. with where it is to be had"):
        file_in(folder, certificate, replaces=False)
    name_the_harness(folder)
    file_in(folder, certificate, replaces=False)
    write_page(folder, found(folder).entries)
    assert "- assurance: self-run, unless you gave the vendor the nonce " in (folder / PAGE).read_text()
