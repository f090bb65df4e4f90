"""Bounds and grades of a certificate."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import requirement
from pytest_kmigrate.certificates import counting
from pytest_kmigrate.certificates.claims import claims_of
from pytest_kmigrate.certificates.counting import bound, parts_of, rows_of
from pytest_kmigrate.certificates.evidence_of_runs import Evidence, RunEvidence
from pytest_kmigrate.certificates.statement import Counts, OutcomeName, Row
from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.judging.outcomes import RowOutcome
from pytest_kmigrate.model.capabilities import Capability, with_implied
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.sessions import Session, begin_session
from tests.unit.certificates.vendors import PLANNED, ROW, header_of, make_run, make_runs, plan_these

LINKED = "K866-FAIL-zk-heal-catch-up"


def row(strict: OutcomeName, apache: OutcomeName, level: str = "MUST") -> Row:
    """A requirement of this outcome."""
    counts = Counts(conforms=1, violates=0, inconclusive=0, not_applicable=0)
    known: list[str] = []
    part = "core" if level == "MUST" else "extended"
    word = {"CONFORMS": "conforms", "VIOLATES": "new violation"}.get(strict, "inconclusive")
    named = {"id": "R", "level": level, "part": part, "reason": "", "deviations": known, "known_bugs": known}
    named["word"] = word
    return Row.model_validate(
        {**named, "strict": strict, "apache": apache, "counts": counts, "n": 1, "required": 1, "bound": "1"}
    )


@pytest.mark.parametrize(
    ("violations", "n", "expected"),
    [(0, 0, "1.0000"), (0, 1, "0.9500"), (0, 59, "0.0495"), (1, 59, "0.0779"), (3, 3, "1.0000"), (1, 3, "0.8646")],
)
def test_bounds(violations: int, n: int, expected: str) -> None:
    """59 runs without a violation: at most 5 % at 95 %, as textbooks have it."""
    assert bound(violations, n) == expected


@pytest.mark.parametrize(
    ("rows", "strict", "apache"),
    [
        ([row("CONFORMS", "CONFORMS")], "success", "success"),
        ([row("CONFORMS", "CONFORMS"), row("VIOLATES", "CONFORMS")], "failed", "success"),
        ([row("VIOLATES", "INCONCLUSIVE")], "failed", "partial"),
        ([row("CONFORMS", "CONFORMS"), row("NOT_APPLICABLE", "NOT_APPLICABLE")], "partial", "partial"),
        ([row("INCONCLUSIVE", "INCONCLUSIVE"), row("VIOLATES", "VIOLATES")], "failed", "failed"),
        ([row("CONFORMS", "CONFORMS"), row("VIOLATES", "VIOLATES", "SHOULD")], "success", "success"),
    ],
)
def test_grades_of_the_core_part(rows: list[Row], strict: str, apache: str) -> None:
    """A violation fails it, an open row makes it partial, and what is no MUST does not count."""
    core, _ = parts_of(rows)
    assert (core.strict, core.apache) == (strict, apache)


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
        make_run(runs, replace(header, extra={**header.extra, "capabilities": offered}))
    claims = claims_of(runs, "kip-866")
    (row,) = [each for each in claims.rows if each.id == LINKED]
    assert (row.strict, row.apache) == (outcome, outcome)
    assert ("needs what this provider does not offer: links" in row.reason) == (outcome == "NOT_APPLICABLE")
    (offer,) = claims.offers
    assert (offer.provider, frozenset(offer.offered), offer.runs) == ("process", with_implied(offered), 3)
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
    ("other", "grade"),
    [
        ({}, "partial"),
        ({"since": "3.6.0"}, "partial"),
        ({"since": "3.7.0"}, "success"),
        ({"until": "3.6.0"}, "success"),
        ({"needs": ["thread-dumps"]}, "success"),
    ],
)
def test_without_a_test_of_the_plan_there_is_no_success(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, other: dict[str, object], grade: str
) -> None:
    """Its requirement conforms by another test; a test that neither release nor provider can run is not missed."""
    left_out = {**PLANNED, "test": f"{PLANNED['test']}_by_links", **other}
    plan_these(monkeypatch, tmp_path / "plans", PLANNED, left_out)
    monkeypatch.setattr(counting, "requirements", lambda _: [requirement(ROW)])
    monkeypatch.setattr(RunEvidence, "offered", frozenset({"kill", "start"}))
    make_runs(tmp_path / "runs", 1, 2, 3)
    claims = claims_of(tmp_path / "runs", "kip-866")
    assert (claims.strict, claims.apache) == (grade, grade)
    assert claims.untested == ([f"{left_out['test']}: 0 of 3"] if grade == "partial" else [])


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
        RunEvidence(folder, header_of(seed), "", Outcome.VIOLATES, seen, True, none, frozenset())  # noqa: FBT003
        for seed in range(runs)
    ]
    (found,) = (each for each in rows_of("kip-866", Evidence(listed, [], "3.9.1", "")) if each.id == row)
    assert (found.word, found.n, found.strict, found.apache) == (Word.REMARK, runs, outcome, outcome)
