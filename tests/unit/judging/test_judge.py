"""Facts about judging a run: what is judged in every run."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.checkers.registry import general_checkers
from pytest_kmigrate.checkers.run.deaths import unexpected_deaths
from pytest_kmigrate.documents import document
from pytest_kmigrate.judging import checks
from pytest_kmigrate.judging import judge as judging
from pytest_kmigrate.judging.judge import judged, outcome_of
from pytest_kmigrate.model.checks import Check, by_name
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict
from pytest_kmigrate.probes.metadata_replay import image_from_records
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.recording.run_folder import RunFolder
from tests.unit.checkers.histories import Row, event, fault, history, read_back, sample, sent, snapshot, znode
from tests.unit.reports.recorded_runs import faulty_run, with_header

KNOWN = by_name([*general_checkers(), *document("kip-866").checks])
KEPT = [sent(0), read_back(0)]
LOST = [sent(0), sent(1), read_back(0)]


def _names(run: History) -> list[str]:
    """The checks of a run that say something, or always judge."""
    return [verdict.check for verdict in judged(run) if not verdict.is_vacuous or not verdict.standing]


def _judged(rows: list[Row], *events: Event) -> Verdict:
    return judging.judge(history(rows, events), [checks.no_acked_record_lost()], KNOWN)[0]


def test_what_the_test_asked_is_judged_first_then_what_always_is() -> None:
    """With its arguments; a check is judged once, as asked."""
    asked = [{"name": "phase_reached", "arguments": {"phase": "HYBRID"}}, {"name": "no_unexpected_death"}]
    verdicts = judged(history(events=[event(EventKind.CHECKS, checks=asked)]))
    names = [verdict.check for verdict in verdicts]
    assert names[:2] == ["phase_reached", "no_unexpected_death"]
    assert verdicts[0].summary.startswith("HYBRID not reached")
    assert names.count("no_unexpected_death") == names.count("steps_completed") == 1


def test_a_check_of_no_known_name_is_wrong_use() -> None:
    """A release that lacks it cannot judge the run."""
    with pytest.raises(WrongUseError, match='did you mean "no_acked_record_lost'):
        judging.judge(history(), [Check("no_acked_records_lost")], KNOWN)


def test_a_checker_that_raises_is_inconclusive() -> None:
    """The error is in the summary; wrong arguments count alike; neither is ever a pass."""
    [verdict] = [
        each
        for each in judging.judge(history(KEPT), [Check("no_acked_record_lost", {"strict": True})], KNOWN)
        if each.check == "no_acked_record_lost"
    ]
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.HARNESS)
    assert verdict.summary.startswith("the checker itself failed: TypeError: ")


def test_an_unwitnessed_fault_makes_conforming_verdicts_inconclusive() -> None:
    """A fault that did not bite proves nothing; the summary says so and what would have been said."""
    verdict = _judged(KEPT, *fault(1, "cut(a-b)", witnessed=False))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert verdict.summary == (
        "cut(a-b) was never witnessed to bite - so it proves nothing that none of 1 acknowledged record was lost"
    )
    assert _judged(KEPT, *fault(1, "cut(a-b)")).outcome is Outcome.CONFORMS


def test_trouble_and_deaths_make_conforming_verdicts_inconclusive() -> None:
    """Our own trouble is HARNESS, a node that died by itself INFRA."""
    trouble = event(EventKind.HARNESS_TROUBLE, 1, what="probe stopped", error="timed out")
    death = event(EventKind.NODE_DIED, 2, "broker-1", exit_code=1)
    assert _judged(KEPT, trouble, death).kind is Kind.HARNESS
    verdict = _judged(KEPT, death)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.INFRA)
    assert "broker-1 died by itself with exit code 1" in verdict.summary


BY_A_BUG = "Should not have ZK migrations enabled on a cluster running metadata.version 3.0-IV1"


@pytest.mark.parametrize("was_asked", [True, False], ids=["asked", "ended early"])
@pytest.mark.parametrize(("said", "is_vacuous"), [(BY_A_BUG, True), ("java.lang.OutOfMemoryError", False)])
def test_a_death_by_a_known_bug_is_no_doubt_about_other_runs(said: str, is_vacuous: bool, was_asked: bool) -> None:
    """The run is red by the bug; of what it did not violate it shows nothing. Any other death leaves it open."""
    started = event(EventKind.NODE_STARTED, 1, "controller-3000", role="controller")
    died = event(EventKind.NODE_DIED, 2, "controller-3000", exit_code=1, said=said)
    moved = event(EventKind.STATE, 3, of="migration_state", state="MIGRATION")
    asked = [event(EventKind.CHECKS, 4, checks=[])] if was_asked else []
    verdicts = judged(history(events=[started, died, moved, *asked]))
    doubted = [about for verdict in verdicts for about in verdict.about if about.summary]
    assert {(each.outcome, each.is_vacuous) for each in doubted} == {(Outcome.INCONCLUSIVE, is_vacuous)}


def test_a_violation_stands_whatever_else_happened() -> None:
    """No trouble explains a lost record away."""
    trouble = event(EventKind.HARNESS_TROUBLE, 1, what="probe stopped")
    verdict = _judged(LOST, trouble, *fault(1, witnessed=False))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.SAFETY)


def test_recorded_checks_are_those_of_all_events_once_each() -> None:
    """What a run asked for can be judged again from its history alone."""
    recorded = [{"name": "phase_reached", "arguments": {"phase": "HYBRID"}}, {"name": "no_phantom_record"}]
    events = [event(EventKind.CHECKS, at, checks=recorded[: at + 1]) for at in range(2)]
    assert judging.recorded_checks(history(events=events)) == [
        checks.phase_reached("HYBRID"),
        checks.no_phantom_record(),
    ]


def test_what_a_run_shows_is_judged_unasked() -> None:
    """States, /migration, images of the log, faults, rules and expectations bring their checks, asked for or not."""
    events = [
        event(EventKind.STATE, 1, of="migration_state", state="MIGRATION"),
        *fault(2),
        Event(0, 3_000_000, EventKind.EXPECTATION, None, {"name": "it", "met": True, "kind": "SAFETY"}),
    ]
    events.append(snapshot(4, "copied-log"))
    images = {"copied-log": image_from_records([])}
    seen = history(events=events, znodes=[znode(1, "/migration", "{}")], images=images)
    run = replace(seen, header=replace(seen.header, extra={"byteman": "RULE x"}))
    assert {verdict.check for verdict in judged(run)} >= {
        "one_active_controller_per_epoch",
        "controller_epoch_never_falls",
        "migration_state_moves_along_legal_edges",
        "migration_znode_never_moves_back",
        "controller_znodes_tell_who_and_how_far",
        "copy_is_one_transaction",
        "migration_metrics_agree_with_the_log",
        "every_fault_was_witnessed",
        "expectations_met",
        "mutant_was_in_force",
    }


def test_an_image_that_no_check_can_read_is_inconclusive() -> None:
    """A folder without a manifest may hold anything: the checks of the log say that they failed."""
    odd = MetadataImage("metadata-log", extra={"migration_states": 7})
    verdicts = judged(history(events=[snapshot(4, "copied-log")], images={"copied-log": odd}))
    reported = {verdict.check: verdict.summary for verdict in verdicts}
    assert reported["copy_is_one_transaction"].startswith("the checker itself failed: TypeError: ")


def test_a_quorum_without_znodes_is_judged_by_what_its_controllers_tell() -> None:
    """Controllers that were seen to lead in a known epoch make the check one of every run."""
    started = event(EventKind.NODE_STARTED, 0, "controller-3000", role="controller")
    led = [sample(at, "controller-3000", RaftCurrentEpoch=3, RaftCurrentState=6) for at in (1, 2, 3)]
    asked = event(EventKind.CHECKS, 9, checks=[])
    assert "one_active_controller_per_epoch" in _names(history(events=[started, asked], samples=led))
    assert "one_active_controller_per_epoch" not in _names(history(events=[started, asked]))


def test_a_fault_whose_trigger_never_fired_is_judged_too() -> None:
    """It never began, and still nothing that held in the run proves anything."""
    events = [
        event(EventKind.NODE_STARTED, 0, "broker-0"),
        event(EventKind.FAULT_NOT_WITNESSED, 1, fault_id="fault-1", fault="kill(x)", witness="never fired"),
    ]
    assert outcome_of(judged(history(events=events))) is Outcome.INCONCLUSIVE


def test_no_verdict_at_all_is_inconclusive() -> None:
    """Nothing judged is never a pass."""
    assert outcome_of([]) is Outcome.INCONCLUSIVE


def test_a_folder_is_judged_from_one_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Header, verdicts and known bugs come back together, so that a whole history is not read again."""
    folder = faulty_run(tmp_path).end(3000)
    read: list[RunFolder] = []
    monkeypatch.setattr(judging, "read_history", noting(read))

    judgement = judging.judge_folder(folder)

    assert [each.path for each in read] == [folder.path]
    assert judgement.header == read_history(folder).header
    assert judgement.outcome is outcome_of(judgement.verdicts)
    stored = [json.loads(line) for line in folder.verdicts.read_text().splitlines()]
    assert [row["check"] for row in stored] == [verdict.check for verdict in judgement.verdicts]
    assert [row["known_bugs"] for row in stored] == [list(each.known_bugs) for each in judgement.verdicts]


def noting(read: list[RunFolder]) -> Callable[[RunFolder], History]:
    """Reads a folder, and notes that it was read."""

    def noted(folder: RunFolder) -> History:
        read.append(folder)
        return read_history(folder)

    return noted


def test_a_node_ends_by_design_where_the_document_of_its_run_says_so(tmp_path: Path) -> None:
    """A controller that a fault keeps from its copy ends itself; in a run of another document it crashed."""
    of_kip_866 = faulty_run(tmp_path / "one")
    of_another = faulty_run(tmp_path / "two", with_header(profile="kip-500"))
    found = []
    for made in (of_kip_866, of_another):
        died = {"exit_code": 1, "said": "Aborting the ZK migration", "cause": None}
        made.at(2500, EventKind.NODE_DIED, "controller-3000", **died)
        history_of_run = judging.read_to_judge(made.end(3000))
        found.append(unexpected_deaths(history_of_run))
    assert [len(each) for each in found] == [0, 1]
