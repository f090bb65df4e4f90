"""One rule of exit status: each command ends alike about the same run, by ``checkers.tally.exit_status``."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_kmigrate.catalogue import deviations, known_bug
from pytest_kmigrate.checkers.tally import Word, exit_status
from pytest_kmigrate.cli import attaching, main
from pytest_kmigrate.cli.runs import status_of
from pytest_kmigrate.judging import rejudge
from pytest_kmigrate.judging.rejudge import JudgedAgain
from pytest_kmigrate.model.exit_status import ExitStatus
from pytest_kmigrate.model.verdict import (
    About,
    Kind,
    Outcome,
    Verdict,
    Violation,
    conforms,
    inconclusive,
    merged,
    violates,
)
from pytest_kmigrate.recording.recorder import write_manifest
from pytest_kmigrate.reports import analyze as analyzing
from pytest_kmigrate.reports.summary.words import words_of, words_of_requirements
from pytest_kmigrate.running import replaying
from tests.unit.plugin.conftest import TEST, Plant
from tests.unit.reports.recorded_runs import HEADER, faulty_run

pytest_plugins = ["pytester"]

KAFKA = "3.9.1"
DEFECT = known_bug("kmigrate-7")
ROW, OTHER = DEFECT.requirements[0], "K866-TEST-happy-path"
DEPARTURE = next(each for each in deviations("kip-866") if each.class_ == "departure")
GREEN = conforms("all").by("a").speaking_for(ROW)
RED = violates(Kind.SAFETY, [Violation("x", "y")]).by("b").speaking_for(ROW)
BY_DEFECT = replace(RED, about=(), known_bugs=(DEFECT.id,)).speaking_for(ROW)
BY_DEPARTURE = replace(RED, about=(), known_bugs=(DEPARTURE.id,)).speaking_for(DEPARTURE.requirement)
OPEN = inconclusive(Kind.HARNESS, "trouble").by("c").about_each([About(OTHER, Outcome.INCONCLUSIVE, seen=1)])

RUNS = {
    "conforms": ([GREEN], ExitStatus.DONE, ExitStatus.DONE),
    "a known defect": ([GREEN, BY_DEFECT], ExitStatus.DONE, ExitStatus.VIOLATED),
    "a departure": ([GREEN, BY_DEPARTURE], ExitStatus.DONE, ExitStatus.VIOLATED),
    "a known one, unasked": ([GREEN, replace(BY_DEFECT, standing=True)], ExitStatus.DONE, ExitStatus.VIOLATED),
    "a known one that ended the run": ([BY_DEFECT, OPEN], ExitStatus.DONE, ExitStatus.VIOLATED),
    "a new violation": ([GREEN, RED], ExitStatus.VIOLATED, ExitStatus.VIOLATED),
    "a new one beside a known": ([BY_DEFECT, RED], ExitStatus.VIOLATED, ExitStatus.VIOLATED),
    "left open": ([GREEN, OPEN], ExitStatus.OPEN, ExitStatus.OPEN),
    "nothing judged": ([], ExitStatus.OPEN, ExitStatus.OPEN),
}
"""What a run shows, how a command ends with it, and how with ``--strict``."""

each_run = pytest.mark.parametrize(("verdicts", "status", "strict"), RUNS.values(), ids=RUNS)

Invoke = Callable[..., int]


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``kmigrate`` with these words; returns the exit status."""

    def invoked(*words: object) -> int:
        monkeypatch.setattr(sys, "argv", ["kmigrate", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    return invoked


def judged(verdicts: list[Verdict]) -> JudgedAgain:
    """A whole run that was judged so."""
    return JudgedAgain(
        HEADER, verdicts, HEADER.profile, is_complete=True, is_sealed=True, has_stored=True, differences=()
    )


@each_run
def test_judge(
    verdicts: list[Verdict], status: int, strict: int, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run, judged again."""
    monkeypatch.setattr(rejudge, "judge_again", lambda *_: judged(verdicts))
    assert (invoke("judge", "run"), invoke("judge", "run", "--strict")) == (status, strict)


@each_run
def test_replay(
    verdicts: list[Verdict],
    status: int,
    strict: int,
    invoke: Invoke,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """As judge of the run that it made."""
    run = faulty_run(tmp_path).end(3).path
    monkeypatch.setattr(rejudge, "judge_again", lambda *_: judged(verdicts))
    monkeypatch.setattr(replaying, "replay_command", lambda *_: ["pytest"])
    monkeypatch.setattr(replaying, "replay", lambda *_: None)
    monkeypatch.setattr(replaying, "runs_of", lambda *_: [run])
    assert (invoke("replay", run), invoke("replay", run, "--strict")) == (status, strict)


@each_run
def test_attach(verdicts: list[Verdict], status: int, strict: int) -> None:
    """What was observed at a cluster that stands ends by the function that judge ends by."""
    assert attaching.status_of is status_of
    assert (status_of([judged(verdicts)]), status_of([judged(verdicts)], is_strict=True)) == (status, strict)


@each_run
@pytest.mark.slow
def test_coverage(verdicts: list[Verdict], status: int, strict: int, invoke: Invoke, tmp_path: Path) -> None:
    """Each row has a word of its own, so what another row leaves open counts; one that no run judged, for auditors."""
    write_manifest(faulty_run(tmp_path / "one").end(3, *(verdicts or [replace(GREEN, about=())])))
    wanted = ("requirements", "--coverage", tmp_path)
    assert invoke(*wanted) == (ExitStatus.OPEN if status == ExitStatus.DONE and OPEN in verdicts else status)
    assert invoke(*wanted, "--strict") == (strict or ExitStatus.OPEN)


@each_run
def test_analyze(
    verdicts: list[Verdict], status: int, strict: int, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many runs, with the words that the summary makes of the tables."""
    outcome = merged(each.outcome for each in verdicts if each.counts)
    counted = [each for each in verdicts if each.counts and each.outcome is Outcome.VIOLATES]
    known = {bug for each in counted for bug in each.known_bugs} if all(each.known_bugs for each in counted) else set()
    attempts = [{"outcome": outcome.name, "known_bugs": sorted(known)}] * bool(verdicts)
    by_row = [{"requirement": ROW, "word": word.name} for word in _words(verdicts)]
    result = SimpleNamespace(
        words=words_of(attempts, is_doubtful=False),
        requirements=words_of_requirements(by_row, [{"id": ROW, "covered_by": None}]),
    )
    monkeypatch.setattr(analyzing, "analyze", lambda *_: result)
    monkeypatch.setattr("pytest_kmigrate.cli.runs._show_analysis", lambda *_: None)
    wanted = ("analyze", "runs", "--out", "report")
    assert (invoke(*wanted), invoke(*wanted, "--strict")) == (status, strict)


def _words(verdicts: list[Verdict]) -> list[Word]:
    red = [each for each in verdicts if each.outcome is Outcome.VIOLATES]
    return [Word.DEFECT if each.known_bugs else Word.VIOLATION for each in red] or [Word.CONFORMS] * (GREEN in verdicts)


@each_run
def test_pytest(verdicts: list[Verdict], status: int, strict: int, pytester: pytest.Pytester, plant: Plant) -> None:
    """A session of pytest has numbers of its own: a test that is left open has failed, too."""
    pytester.makepyfile(TEST)
    for expected, words in ((status, ()), (strict, ("--kmigrate-strict",))):
        plant(*verdicts, kafka=KAFKA)
        result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--kmigrate-kafka", KAFKA, *words)
        assert result.ret == (pytest.ExitCode.OK if expected == ExitStatus.DONE else pytest.ExitCode.TESTS_FAILED)


@pytest.mark.parametrize(
    ("words", "status", "strict"),
    [
        ([Word.CONFORMS, Word.REMARK], ExitStatus.DONE, ExitStatus.VIOLATED),
        ([Word.CONFORMS, Word.NOT_JUDGED], ExitStatus.DONE, ExitStatus.OPEN),
        ([Word.NOT_JUDGED], ExitStatus.OPEN, ExitStatus.OPEN),
        ([Word.NOT_APPLICABLE], ExitStatus.DONE, ExitStatus.DONE),
        ([Word.INCONCLUSIVE, Word.VIOLATION], ExitStatus.VIOLATED, ExitStatus.VIOLATED),
        ([Word.INCONCLUSIVE, Word.DEFECT], ExitStatus.OPEN, ExitStatus.VIOLATED),
        ([], ExitStatus.OPEN, ExitStatus.OPEN),
    ],
)
def test_the_rule(words: list[Word], status: int, strict: int) -> None:
    """New decides, then open; what is known and what was never judged count for auditors."""
    assert (exit_status(words), exit_status(words, is_strict=True)) == (status, strict)


@pytest.mark.parametrize(
    "words",
    [
        ("judge", "nowhere"),
        ("replay", "nowhere"),
        ("requirements", "--coverage", "nowhere"),
        ("requirements", "--profile", "nonsense"),
        ("analyze", "nowhere", "--out", "report"),
        ("certify", "nowhere", "--profile", "kip-866", "--out", "x.kmcert"),
        ("verify", "nowhere.kmcert"),
        ("compare", "nowhere.kmcert", "--out", "page"),
        ("bugs", "--kafka", "1.2.3"),
    ],
)
def test_bad_input_is_wrong_use(
    words: tuple[str, ...], invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the command."""
    monkeypatch.chdir(tmp_path)
    assert invoke(*words) == ExitStatus.WRONG_USE
