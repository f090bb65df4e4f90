"""Bounds and grades of a certificate."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import requirement
from pytest_kmigrate.certificates import counting
from pytest_kmigrate.certificates.claims import claims_of
from pytest_kmigrate.certificates.counting import bound, rows_of
from pytest_kmigrate.certificates.evidence_of_runs import Evidence, RunEvidence
from pytest_kmigrate.certificates.grading import BUT_FOR_DEFECTS, CONFORMS, DOES_NOT, defects_of, overall, parts_of
from pytest_kmigrate.certificates.statement import Counts, Red, Row
from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.judging.outcomes import RowOutcome
from pytest_kmigrate.model.capabilities import Capability, with_implied
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.sessions import Session, begin_session
from tests.unit.certificates.vendors import PLANNED, ROW, header_of, make_run, make_runs, plan_these

LINKED = "K866-FAIL-zk-heal-catch-up"


def row(word: Word, level: str = "MUST", n: int = 1) -> Row:
    """A requirement that stands there, by one of one runs."""
    counts = Counts(conforms=1, violates=0, inconclusive=0, not_applicable=0)
    part = "core" if level == "MUST" else "extended"
    outcomes = {"strict": "INCONCLUSIVE", "apache": "INCONCLUSIVE", "counts": counts, "n": n, "required": 1}
    named = {"id": "R", "level": level, "part": part, "reason": "", "deviations": [], "known_bugs": [], "bound": "1"}
    return Row.model_validate({**named, **outcomes, "word": word})


@pytest.mark.parametrize(
    ("violations", "n", "expected"),
    [(0, 0, "1.0000"), (0, 1, "0.9500"), (0, 59, "0.0495"), (1, 59, "0.0779"), (3, 3, "1.0000"), (1, 3, "0.8646")],
)
def test_bounds(violations: int, n: int, expected: str) -> None:
    """59 runs without a violation: at most 5 % at 95 %, as textbooks have it."""
    assert bound(violations, n) == expected


@pytest.mark.parametrize(
    ("rows", "grade", "is_complete"),
    [
        ([row(Word.CONFORMS)], CONFORMS, True),
        ([row(Word.CONFORMS), row(Word.DEPARTURE), row(Word.REMARK)], CONFORMS, True),
        ([row(Word.CONFORMS), row(Word.DEFECT), row(Word.DEPARTURE)], BUT_FOR_DEFECTS, True),
        ([row(Word.CONFORMS), row(Word.NOT_APPLICABLE, n=0)], CONFORMS, True),
        ([row(Word.CONFORMS), row(Word.INCONCLUSIVE)], CONFORMS, False),
        ([row(Word.CONFORMS, n=0)], CONFORMS, False),
        ([row(Word.DEFECT), row(Word.NOT_JUDGED)], BUT_FOR_DEFECTS, False),
        ([row(Word.DEFECT), row(Word.VIOLATION), row(Word.CONFORMS)], DOES_NOT, True),
        ([row(Word.CONFORMS), row(Word.VIOLATION, "SHOULD")], CONFORMS, True),
    ],
)
def test_grades_of_the_core_part(rows: list[Row], grade: str, *, is_complete: bool) -> None:
    """What nothing known explains decides; departures do not, nor what does not apply or is no MUST."""
    core, _ = parts_of(rows)
    assert (core.grade, core.is_complete) == (grade, is_complete)


@pytest.mark.parametrize(
    ("violations", "defects", "grade"),
    [(0, [], CONFORMS), (0, ["KAFKA-1"], BUT_FOR_DEFECTS), (1, ["KAFKA-1"], DOES_NOT)],
)
def test_violations_of_safety_count_without_a_requirement(violations: int, defects: list[str], grade: str) -> None:
    """No requirement of the document has them."""
    core, _ = parts_of([row(Word.CONFORMS)])
    red = Red(run="r", test="t", check="one_metadata_log", kind="SAFETY", summary="two logs differ")
    assert overall(core, [red] * violations, defects) == grade


@pytest.mark.parametrize("listed", ["deviations", "known_bugs"])
def test_a_defect_is_named_wherever_it_is_listed(listed: str) -> None:
    """A defect that breaks the document is listed with its deviations; a departure beside it is none."""
    known = ["negative-time-of-snapshots", "offset-written-after-its-batch"]
    met = row(Word.DEFECT).model_copy(update={listed: known})
    assert defects_of([met], Evidence([], [], "3.9.1", "")) == ["negative-time-of-snapshots"]


@pytest.mark.parametrize(("offered", "outcome"), [(["kill", "start"], "NOT_APPLICABLE"), (["links"], "INCONCLUSIVE")])
def test_what_no_provider_of_the_evidence_offers_is_not_applicable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, offered: list[str], outcome: str
) -> None:
    """A requirement whose only test is skipped at collection, with the sentence; the table stands beside it."""
    other = {**PLANNED, "test": f"{PLANNED['test']}_by_links", "requirements": [LINKED], "needs": ["links"]}
    plan_these(monkeypatch, tmp_path / "plans", PLANNED, other)
    runs = tmp_path / "runs"
    begin_session(runs, Session("s1", "", [PLANNED["test"]]))
    for seed in (1, 2, 3):
        header = header_of(seed)
        in_images = {"capabilities": offered, "images": {"3.6.0": f"sha256:{'ab' * 32}"}}
        make_run(runs, replace(header, provider="docker", extra={**header.extra, **in_images}))
    claims = claims_of(runs, "kip-866")
    (row,) = [each for each in claims.rows if each.id == LINKED]
    assert (row.strict, row.apache) == (outcome, outcome)
    assert ("needs what this provider does not offer: links" in row.reason) == (outcome == "NOT_APPLICABLE")
    (offer,) = claims.offers
    assert (offer.provider, frozenset(offer.offered), offer.runs) == ("docker", with_implied(offered), 3)
    assert len(offer.offered) + len(offer.lacking) == len(Capability)


def test_what_is_about_other_releases_is_not_applicable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its only test cannot be run with this Kafka; the row has that as its reason."""
    later = {**PLANNED, "test": f"{PLANNED['test']}_by_links", "requirements": [LINKED], "since": "3.7.0"}
    plan_these(monkeypatch, tmp_path / "plans", PLANNED, later)
    make_runs(tmp_path / "runs", 1)
    (row,) = [each for each in claims_of(tmp_path / "runs", "kip-866").rows if each.id == LINKED]
    assert (row.strict, row.apache) == ("NOT_APPLICABLE", "NOT_APPLICABLE")
    assert row.reason == "its tests are about Kafka since 3.7.0, and this is 3.6.0"


@pytest.mark.parametrize(
    ("other", "is_missed"),
    [
        ({}, True),
        ({"since": "3.6.0"}, True),
        ({"since": "3.7.0"}, False),
        ({"until": "3.6.0"}, False),
        ({"needs": ["thread-dumps"]}, False),
    ],
)
def test_without_a_test_of_the_plan_a_certificate_is_incomplete(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, other: dict[str, object], *, is_missed: bool
) -> None:
    """Its requirement conforms by another test; a test that neither release nor provider can run is not missed."""
    left_out = {**PLANNED, "test": f"{PLANNED['test']}_by_links", **other}
    plan_these(monkeypatch, tmp_path / "plans", PLANNED, left_out)
    monkeypatch.setattr(counting, "requirements", lambda _: [requirement(ROW)])
    monkeypatch.setattr(RunEvidence, "offered", frozenset({"kill", "start"}))
    make_runs(tmp_path / "runs", 1, 2, 3)
    claims = claims_of(tmp_path / "runs", "kip-866")
    assert (claims.grade, bool(claims.missing)) == (CONFORMS, is_missed)
    assert claims.untested == ([f"{left_out['test']}: 0 of 3"] if is_missed else [])


@pytest.mark.parametrize(("runs", "outcome"), [(1, "INCONCLUSIVE"), (3, "CONFORMS")])
def test_a_remark_conforms_by_as_many_runs_as_are_planned(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runs: int, outcome: str
) -> None:
    """As everything that conforms."""
    row, remark = "K866-META-not-modified", "directory-id-added-to-meta-properties"
    plan_these(monkeypatch, tmp_path / "plans", {**PLANNED, "requirements": [row], "runs": 3})
    seen = {row: RowOutcome(Outcome.VIOLATES, Kind.SAFETY, {"c"}, {remark})}
    folder, none = RunFolder(tmp_path), frozenset[str]()
    listed = [
        RunEvidence(folder, header_of(seed), "", Outcome.VIOLATES, seen, (), none, {}, frozenset())
        for seed in range(runs)
    ]
    (found,) = (each for each in rows_of("kip-866", Evidence(listed, [], "3.9.1", "")) if each.id == row)
    assert (found.word, found.n, found.strict, found.apache) == (Word.REMARK, runs, outcome, outcome)
