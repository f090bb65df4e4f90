"""Coverage, certificate and report are three readers of one tally: of the same folders they make the same words."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.catalogue import deviations, known_bug, requirements
from pytest_kmigrate.certificates.counting import rows_of
from pytest_kmigrate.certificates.evidence_of_runs import Evidence, RunEvidence
from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.judging.coverage import coverage
from pytest_kmigrate.judging.outcomes import outcomes_by_requirement
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.reading import read_header
from pytest_kmigrate.recording.recorder import write_manifest
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.verdicts import stored_verdicts
from pytest_kmigrate.reports.analyze import analyze
from tests.spark.run_folders import Line, verdict, write_run

PROFILE = "kip-866"
BUG = known_bug("kmigrate-7")
OWN = BUG.requirements[0]
DEVIATION = next(each for each in deviations(PROFILE) if each.class_ == "departure")
REMARK = next(
    each for each in deviations(PROFILE) if each.class_ == "remark" and each.requirement != DEVIATION.requirement
)
ROWS = [
    each.id
    for each in requirements(PROFILE)
    if each.covered_by is None and each.untestable is None
    if each.id not in {*BUG.requirements, DEVIATION.requirement, REMARK.requirement}
]
NEW, GREEN, OPEN, HIT, DOUBTED, UNSEEN, PART, ELSEWHERE, MIXED = ROWS[:9]


def about(requirement: str, outcome: str, kind: str | None = None, seen: int = 1) -> Line:
    """What one check shows about one requirement."""
    return {"requirement": requirement, "outcome": outcome, "kind": kind, "seen": seen, "summary": ""}


def shown(check: str, *rows: Line, known: Sequence[str] = ()) -> Line:
    """The verdict of a check about these."""
    worst = max((str(row["outcome"]) for row in rows), key=lambda name: Outcome[name])
    kind = next((row["kind"] for row in rows if row["outcome"] == worst), None)
    return verdict(check, worst, kind, about=list(rows), known_bugs=list(known))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs: a whole one, one that known bugs hit, and one with something new."""
    made = tmp_path_factory.mktemp("runs")
    green = [about(each, "CONFORMS") for each in (NEW, GREEN, HIT, DOUBTED, OWN)]
    open_one, unseen = about(OPEN, "INCONCLUSIVE", "HARNESS"), about(UNSEEN, "INCONCLUSIVE", "VACUOUS", 0)
    elsewhere = about(ELSEWHERE, "NOT_APPLICABLE", seen=0)
    write_run(made, "whole", [shown("a", *green, open_one, unseen), shown("g", elsewhere)], seed=1)
    by_bug = shown("b", about(OWN, "VIOLATES", "SAFETY"), about(HIT, "VIOLATES", "SAFETY"), known=[BUG.id])
    # Of two requirements that one check violates, the bug explains the one.
    in_part = {**about(PART, "VIOLATES", "SAFETY"), "known_bugs": []}
    of_two = shown("f", {**about(OWN, "VIOLATES", "SAFETY"), "known_bugs": [BUG.id]}, in_part, known=[BUG.id])
    departs = shown("c", about(DEVIATION.requirement, "VIOLATES", "SAFETY"), known=[DEVIATION.id])
    remarked = shown("h", about(REMARK.requirement, "VIOLATES", "SAFETY"), known=[REMARK.id])
    # Explained in one run, and new in another.
    explained = shown("i", about(MIXED, "VIOLATES", "SAFETY"), known=[BUG.id])
    ended_by_a_bug = shown("d", about(DOUBTED, "INCONCLUSIVE", "INFRA", 0))
    write_run(made, "hit", [by_bug, of_two, departs, remarked, explained, ended_by_a_bug], seed=2)
    new = shown("e", about(NEW, "VIOLATES", "LIVENESS")), shown("j", about(MIXED, "VIOLATES", "SAFETY"))
    write_run(made, "new", new, seed=3)
    for file in made.rglob("run.json"):
        header = json.loads(file.read_text())
        again = header.pop("reproduce")
        file.write_text(json.dumps({**header, "extra": {"reproduce": again}}))
        write_manifest(RunFolder(file.parent))
    return made


@pytest.mark.usefixtures("spark")
def test_the_three_readers_agree_on_every_requirement(runs: Path, tmp_path: Path, spark: SparkSession) -> None:
    """Word, violating runs and runs with an answer; a requirement that no run could violate is in no report."""
    covered = {row.requirement.id: row.tally for row in coverage(PROFILE, runs).counted}
    report = json.loads(analyze(str(runs), str(tmp_path / "report"), progress=lambda _: None).report.read_text())
    reported = {row["requirement"]: row for row in report["requirements"]}
    certified = {row.id: row for row in rows_of(PROFILE, _evidence(runs))}

    expected = {
        NEW: (Word.VIOLATION, 1, 2),
        PART: (Word.VIOLATION, 1, 1),
        OWN: (Word.DEFECT, 1, 2),
        MIXED: (Word.VIOLATION, 1, 1),
        DEVIATION.requirement: (Word.DEPARTURE, 1, 1),
        REMARK.requirement: (Word.REMARK, 1, 1),
        ELSEWHERE: (Word.NOT_APPLICABLE, 0, 0),
        GREEN: (Word.CONFORMS, 0, 1),
        HIT: (Word.CONFORMS, 0, 1),
        DOUBTED: (Word.CONFORMS, 0, 1),
        OPEN: (Word.INCONCLUSIVE, 0, 0),
        UNSEEN: (Word.NOT_JUDGED, 0, 0),
    }
    assert {row: (covered[row].word, covered[row].violating, covered[row].n) for row in expected} == expected
    assert {word for word, _, _ in expected.values()} == set(Word)
    for row, found in covered.items():
        if row in reported:
            mine = reported[row]
            assert (mine["word"], mine["k"], mine["n"]) == (found.word.name, found.violating, found.n), row
        else:
            assert found.word is Word.NOT_JUDGED, row
        if row in certified and certified[row].n >= certified[row].required:
            assert (certified[row].word, certified[row].counts.violates) == (found.word, found.violating), row
    assert report["requirements"]
    (asked,) = report["asked"]
    words = [found.word for found in covered.values()]
    assert {word: asked[word.name.lower()] for word in Word} == {word: words.count(word) for word in Word}


def _evidence(runs: Path) -> Evidence:
    folders = [RunFolder(each.parent) for each in sorted(runs.rglob("run.json"))]
    read = [
        RunEvidence(
            folder,
            read_header(folder),
            manifest="",
            outcome=Outcome.CONFORMS,
            rows=outcomes_by_requirement(stored_verdicts(folder)),
            red=(),
            known=frozenset(),
            streams={},
            facts={},
        )
        for folder in folders
    ]
    return Evidence(read, (), "3.9.1", "")
