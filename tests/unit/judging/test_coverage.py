"""Coverage shows the worst outcome and the number of runs of every requirement, and which was not judged."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import all_departures, requirements
from pytest_kmigrate.checkers.grading import graded
from pytest_kmigrate.checkers.tally import Word, exit_status
from pytest_kmigrate.judging.coverage import coverage, hidden_by_bugs
from pytest_kmigrate.judging.judge import judge_folder
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.exit_status import ExitStatus
from pytest_kmigrate.model.verdict import About, Kind, Outcome, Verdict, Violation, conforms, inconclusive, violates
from pytest_kmigrate.recording.recorder import write_manifest
from pytest_kmigrate.recording.run_folder import SCHEMA, RunFolder
from pytest_kmigrate.recording.verdicts import write_verdicts
from tests.unit.reports.recorded_runs import faulty_run

FIRST, SECOND = [each.id for each in requirements("kip-866") if each.covered_by is None][:2]


def recorded(path: Path, *verdicts: Verdict, is_whole: bool = True) -> None:
    """A run folder with these verdicts; without any it was interrupted."""
    path.mkdir(parents=True)
    texts = dict.fromkeys(("run_id", "test_id", "kafka", "topology", "provider", "started_at"), "a")
    header = {"schema": SCHEMA, **texts, "seed": 1, "profile": "kip-866", "requirements": []}
    (path / "run.json").write_text(json.dumps(header))
    if verdicts:
        write_verdicts(RunFolder(path), verdicts)
        if is_whole:
            write_manifest(RunFolder(path))


def test_states_and_runs_are_counted(tmp_path: Path) -> None:
    """Two verdicts of one run count as one run; runs may lie deeper."""
    green = conforms("all").by("a").speaking_for(FIRST, SECOND)
    doubted = inconclusive(Kind.HARNESS, "trouble").by("b").about_each([About(FIRST, Outcome.INCONCLUSIVE, seen=1)])
    vacuous = inconclusive(Kind.VACUOUS, "nothing").by("c").speaking_for(SECOND)
    recorded(tmp_path / "one", green, doubted, vacuous)
    recorded(tmp_path / "nightly" / "two", green)

    found = coverage("kip-866", tmp_path)
    states = {row.requirement.id: row.state for row in found.rows}
    assert states[FIRST] == "conforms (1), 1 inconclusive"
    assert states[SECOND] == "conforms (2)"
    assert found.runs == 2
    assert found.of(Word.CONFORMS) == 2
    assert found.of(Word.NOT_JUDGED) == len(found.counted) - 2


def test_a_row_says_why_nothing_judged_it_or_what_explains_its_violation(tmp_path: Path) -> None:
    """No opportunity in the runs that were judged for it, no test, a known bug for each violation, or not for each."""
    rows = [each for each in requirements("kip-866") if each.covered_by is None and each.untestable is None]
    known, unknown, unseen, untested = rows[:4]
    covered = next(each for each in requirements("kip-866") if each.covered_by)
    red = violates(Kind.SAFETY, [Violation("x", "y")]).by("a")
    excused = replace(red, known_bugs=("KAFKA-1",)).speaking_for(known.id, unknown.id)
    vacuous = inconclusive(Kind.VACUOUS, "nothing").by("b").speaking_for(unseen.id)
    recorded(tmp_path / "one", excused, red.speaking_for(unknown.id), vacuous)

    states = {row.requirement.id: row.state for row in coverage("kip-866", tmp_path).rows}
    assert [states[each.id] for each in (known, unknown, unseen, untested, covered)] == [
        "defect in 1 of 1: KAFKA-1 in 1",
        "new violation in 1 of 1: not explained in 1",
        "claimed, no opportunity in 1 run",
        "not asked",
        f"see {covered.covered_by}",
    ]


def test_a_row_that_only_bugs_of_other_rows_hit_names_them(tmp_path: Path) -> None:
    """It was asked, and nothing is known of it."""
    of_another = next(each for each in all_departures() if not graded(FIRST)(each.id).is_own)
    red = violates(Kind.SAFETY, [Violation("x", "y")]).by("a")
    recorded(tmp_path / "one", replace(red, known_bugs=(of_another.id,)).speaking_for(FIRST))
    (state,) = (row.state for row in coverage("kip-866", tmp_path).rows if row.requirement.id == FIRST)
    assert state == f"nothing shown, hit by {of_another.id} in 1"


def test_what_bugs_of_others_hide_is_counted_and_is_open_for_auditors(tmp_path: Path) -> None:
    """One that any other run shows is not hidden; without ``--strict`` the sentence is all."""
    of_another = next(each for each in all_departures() if not graded(FIRST, SECOND)(each.id).is_own)
    red = violates(Kind.SAFETY, [Violation("x", "y")]).by("a")
    recorded(tmp_path / "one", replace(red, known_bugs=(of_another.id,)).speaking_for(FIRST, SECOND))
    recorded(tmp_path / "two", conforms("all").by("a").speaking_for(SECOND))
    found = coverage("kip-866", tmp_path)
    assert hidden_by_bugs(found) == (
        f"nothing is shown of 1 requirement, as known bugs of others hit every run that asked: {FIRST}"
    )
    assert (exit_status(found.words), exit_status(found.words, is_strict=True)) == (ExitStatus.DONE, ExitStatus.OPEN)
    recorded(tmp_path / "three", conforms("all").by("a").speaking_for(FIRST))
    shown = coverage("kip-866", tmp_path)
    assert hidden_by_bugs(shown) == ""


def test_many_hidden_requirements_are_counted_and_the_first_named(tmp_path: Path) -> None:
    """A terminal has room for a few."""
    rows = [each.id for each in requirements("kip-866") if each.covered_by is None][:8]
    of_another = next(each for each in all_departures() if not graded(*rows)(each.id).is_own)
    red = violates(Kind.SAFETY, [Violation("x", "y")]).by("a")
    recorded(tmp_path / "one", replace(red, known_bugs=(of_another.id,)).speaking_for(*rows))
    reported = hidden_by_bugs(coverage("kip-866", tmp_path))
    assert reported.startswith("nothing is shown of 8 requirements, as known bugs of others hit every run that asked: ")
    assert reported.endswith(f"{rows[4]} and 3 more")


def test_a_run_without_verdicts_is_named_and_not_counted(tmp_path: Path) -> None:
    """An interrupted run covers nothing."""
    recorded(tmp_path / "cut")
    found = coverage("kip-866", tmp_path)
    assert found.runs == 0
    assert "no verdicts.jsonl" in found.unread[0]


def test_a_run_whose_manifest_does_not_fit_is_named_and_not_counted(tmp_path: Path) -> None:
    """A file that was changed or is gone: one line has file and folder."""
    for name in ("whole", "gone", "more"):
        recorded(tmp_path / name, conforms("all").by("a").speaking_for(FIRST), is_whole=False)
        (tmp_path / name / "history.jsonl").write_text("")
        write_manifest(RunFolder(tmp_path / name))
    for name in ("gone", "more"):
        (tmp_path / name / "history.jsonl").unlink()
    (tmp_path / "more" / "verdicts.jsonl").write_text("")
    found = coverage("kip-866", tmp_path)
    assert found.runs == 1
    assert [each.partition(": ")[2] for each in sorted(found.unread)] == [
        "1 file differs from manifest.json: history.jsonl",
        "2 files differ from manifest.json: history.jsonl, verdicts.jsonl",
    ]


def test_a_run_whose_verdicts_alone_were_changed_is_judged_again(tmp_path: Path) -> None:
    """The manifest vouches for its evidence; a verdict that was put in by hand covers nothing, and the run is named."""
    folder = faulty_run(tmp_path).end(3000)
    judge_folder(folder)
    write_manifest(folder)
    before = coverage("kip-866", tmp_path)
    write_verdicts(folder, [conforms("all").by("a").speaking_for(FIRST, SECOND)])
    after = coverage("kip-866", tmp_path)
    assert (before.doubtful, [row.state for row in after.rows]) == ((), [row.state for row in before.rows])
    assert after.doubtful == (f"{folder.path}: verdicts.jsonl differs from manifest.json: judged again",)


def test_nothing_conforms_in_a_run_without_a_manifest(tmp_path: Path) -> None:
    """It was interrupted, and nothing vouches for its evidence; what violates stays seen."""
    red = violates(Kind.SAFETY, [Violation("x", "y")]).by("b").speaking_for(SECOND)
    recorded(tmp_path / "cut", conforms("all").by("a").speaking_for(FIRST), red, is_whole=False)
    found = coverage("kip-866", tmp_path)
    words = {row.requirement.id: row.word for row in found.rows if row.requirement.id in (FIRST, SECOND)}
    assert words == {FIRST: Word.INCONCLUSIVE, SECOND: Word.VIOLATION}
    assert found.doubtful == (
        f"{tmp_path / 'cut'}: no manifest.json, so the run was interrupted: nothing of it conforms",
    )


def test_a_folder_without_runs_is_wrong_use(tmp_path: Path) -> None:
    """Nothing to read is a mistake of the caller, not zero coverage."""
    with pytest.raises(WrongUseError, match="at least one run folder"):
        coverage("kip-866", tmp_path)


OF_DRAFT = {row.id: row.same_as for row in requirements("kip-866-draft")}
ROLL, OPTIONAL = "K866D-PROC-roll", "K866D-CONF-controller-zk-optional"


def states_of_draft(runs: Path) -> dict[str, str]:
    """The states of its rows that are the same in the final document."""
    return {row.requirement.id: row.state for row in coverage("kip-866-draft", runs).rows if row.requirement.same_as}


def of_final(runs: Path, *verdicts: Verdict) -> None:
    """A run by the final document, with these verdicts."""
    folder = faulty_run(runs / "1").end(3000)
    write_verdicts(folder, verdicts)
    write_manifest(folder)


def test_what_is_said_of_a_row_is_said_of_the_same_one_of_another_document(tmp_path: Path) -> None:
    """With the known bugs that explain it; other rows are not asked."""
    red = replace(violates(Kind.SAFETY, [Violation("x", "y")]).by("a"), known_bugs=("KAFKA-1",))
    of_final(tmp_path, red.speaking_for(*OF_DRAFT[ROLL]))
    states = states_of_draft(tmp_path)
    assert states.pop(ROLL) == "defect in 1 of 1: KAFKA-1 in 1"
    assert set(states.values()) == {"not asked"}


@pytest.mark.parametrize(
    ("judged", "state"),
    [(OF_DRAFT[OPTIONAL], "conforms (1)"), (OF_DRAFT[OPTIONAL][1:], "not asked")],
    ids=["all", "three"],
)
def test_rows_that_say_the_same_together_conform_together(judged: tuple[str, ...], state: str, tmp_path: Path) -> None:
    """Of four settings each must be honoured."""
    of_final(tmp_path, conforms("all").by("a").speaking_for(*judged))
    assert states_of_draft(tmp_path)[OPTIONAL] == state


@pytest.mark.parametrize("header", ["[]", "{}", '{"schema": 1, "run_id"', '{"schema": 2}'])
def test_verdicts_beside_a_damaged_header_are_not_counted(tmp_path: Path, header: str) -> None:
    """Which test and which Kafka they are of cannot be known; the folder is named, as `kmigrate judge` does."""
    recorded(tmp_path / "one", conforms("all").by("a").speaking_for(FIRST))
    (tmp_path / "one" / "run.json").write_text(header)
    found = coverage("kip-866", tmp_path)
    assert found.runs == 0
    assert "run.json" in found.unread[0]


def test_one_of_several_rows_is_enough_to_violate(tmp_path: Path) -> None:
    """One setting that is not honoured decides."""
    of_final(tmp_path, violates(Kind.SAFETY, [Violation("x", "y")]).by("a").speaking_for(OF_DRAFT[OPTIONAL][0]))
    assert states_of_draft(tmp_path)[OPTIONAL] == "new violation in 1 of 1: not explained in 1"


def test_a_row_is_known_as_the_deviations_from_it_alone(tmp_path: Path) -> None:
    """Of a verdict about several rows, which is known as a deviation from each; a bug may explain all of them."""
    deviations = ("draft-name-of-the-lag", "draft-no-time-of-blocking", "KAFKA-1")
    lag, blocking = "K866D-METRIC-ZooKeeperWriteBehindLag", "K866D-METRIC-ZooKeeperBlockingKRaftMillis"
    red = replace(violates(Kind.SAFETY, [Violation("x", "y")]).by("a"), known_bugs=deviations)
    of_final(tmp_path, red.speaking_for(lag, blocking))
    states = {row.requirement.id: row.state for row in coverage("kip-866-draft", tmp_path).rows}
    assert states[lag] == "defect in 1 of 1: KAFKA-1 in 1; draft-name-of-the-lag in 1"
    assert states[blocking] == "defect in 1 of 1: KAFKA-1 in 1; draft-no-time-of-blocking in 1"


KNOWN = "departure in 1 of 1: draft-flag-in-stop-replica in 1"


def test_runs_of_the_document_it_builds_on_are_judged_again(tmp_path: Path) -> None:
    """By its own checks: what was stored says nothing of these rows."""
    run = faulty_run(tmp_path / "1")
    request = {"request": "StopReplica", "version": 4, "controller_id": 3000, "controller_epoch": 2, "is_kraft": True}
    run.at(2500, EventKind.CONTROL_REQUEST, "stub-9", **request, unread_bytes=0)
    write_verdicts(run.end(3000), [])
    found = {row.requirement.id: (row.state, row.checks) for row in coverage("kip-866-draft", tmp_path).rows}
    assert found["K866D-RPC-StopReplica-v4"] == (KNOWN, ("control_requests_are_those_of_the_draft",))
    assert coverage("kip-866", tmp_path).of(Word.NOT_JUDGED) == len(coverage("kip-866", tmp_path).counted)
