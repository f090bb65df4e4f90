"""Facts about judging a run: what is judged in every run, and red checks named after known bugs of the release."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.judging import judge as judging
from pytest_kmigrate.judging.judge import checks_of, judged, outcome_of, with_known_bugs
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Violation, conforms, violates
from pytest_kmigrate.probes.metadata_replay import image_from_records
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.recording.run_folder import RunFolder
from tests.unit.checkers.histories import event, fault, history, sample, snapshot, znode
from tests.unit.reports.recorded_runs import faulty_run

ASKED = [{"name": "phase_reached", "arguments": {"phase": "HYBRID"}}]


def test_what_the_test_asked_is_judged_first_then_what_always_is() -> None:
    """A run that shows no migration and no fault is judged by the two standing checks."""
    checks = checks_of(history(events=[event(EventKind.CHECKS, checks=ASKED)]))
    assert [check.name for check in checks] == ["phase_reached", "no_unexpected_death", "steps_completed"]
    assert checks[0].arguments == {"phase": "HYBRID"}


def test_what_a_run_shows_is_judged_unasked() -> None:
    """States, /migration, images of the log, faults, rules and expectations bring their checks, asked for or not."""
    events = [
        event(EventKind.MIGRATION_STATE, 1, state="MIGRATION"),
        *fault(2),
        event(EventKind.EXPECTATION, 3, name="it", met=True),
    ]
    events.append(snapshot(4, "copied-log"))
    images = {"copied-log": image_from_records([])}
    seen = history(events=events, znodes=[znode(1, "/migration", "{}")], images=images)
    run = replace(seen, header=replace(seen.header, extra={"byteman": "RULE x"}))
    names = {check.name for check in checks_of(run)}
    assert names >= {
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
    told = {verdict.check: verdict.summary for verdict in verdicts}
    assert told["copy_is_one_transaction"].startswith("the checker itself failed: TypeError: ")


def test_who_claims_the_controller_znodes_is_judged_where_there_are_znodes() -> None:
    """Controllers born in KRaft mode report a migration state, too; asked of them, the check could prove nothing."""
    names = {check.name for check in checks_of(history(events=[event(EventKind.MIGRATION_STATE, 1, state="NONE")]))}
    assert "migration_state_moves_along_legal_edges" in names
    assert not names & {"one_active_controller_per_epoch", "controller_epoch_never_falls"}


def test_a_quorum_without_znodes_is_judged_by_what_its_controllers_tell() -> None:
    """Controllers that were seen to lead in a known epoch make the check one of every run."""
    started = event(EventKind.NODE_STARTED, 0, "controller-3000", role="controller")
    led = [sample(at, "controller-3000", RaftCurrentEpoch=3, RaftCurrentState=6) for at in (1, 2, 3)]
    assert "one_active_controller_per_epoch" in {
        check.name for check in checks_of(history(events=[started], samples=led))
    }
    assert "one_active_controller_per_epoch" not in {check.name for check in checks_of(history(events=[started]))}


def test_a_fault_whose_trigger_never_fired_is_judged_too() -> None:
    """It never began, and still nothing that held in the run proves anything."""
    events = [
        event(EventKind.NODE_STARTED, 0, "broker-0"),
        event(EventKind.FAULT_NOT_WITNESSED, 1, fault_id="fault-1", fault="kill(x)", witness="never fired"),
    ]
    assert outcome_of(judged(history(events=events))) is Outcome.INCONCLUSIVE


def test_a_check_is_not_judged_twice() -> None:
    """A standing check that the test asked for is judged once, as asked."""
    asked = event(EventKind.CHECKS, checks=[{"name": "no_unexpected_death", "arguments": {}}])
    assert [check.name for check in checks_of(history(events=[asked]))] == ["no_unexpected_death", "steps_completed"]


def test_only_releases_that_have_a_bug_are_named_after_it() -> None:
    """The same red signature is a known bug on a broken release and none on a fixed one."""
    red = violates("expectations_met", Kind.SAFETY, [Violation("a", "b")], signatures=["pending-deletion-resurrected"])
    green = conforms("expectations_met", "all", signatures=["pending-deletion-resurrected"])
    assert [each.known_bugs for each in with_known_bugs([green, red], "3.6.0")] == [(), ("KAFKA-15605",)]
    assert [each.known_bugs for each in with_known_bugs([green, red], "3.9.1")] == [(), ()]


@pytest.mark.parametrize(
    ("reproduce", "bugs"),
    [
        ("pytest t --kmigrate-kafka 3.6.0", ("KAFKA-15605",)),
        ("pytest t --kmigrate-kafka /opt/kafka-3.6.0", ()),
        (None, ("KAFKA-15605",)),
    ],
)
def test_no_bug_excuses_a_distribution_given_by_path(
    reproduce: str | None, bugs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever release its jars name: what it was built from is not known. Folders that do not tell are as before."""
    red = violates("expectations_met", Kind.SAFETY, [Violation("a", "b")], signatures=["pending-deletion-resurrected"])
    monkeypatch.setattr(judging, "judge", lambda *_: [red])
    of_360 = replace(history().header, kafka="3.6.0", extra={"reproduce": reproduce} if reproduce else {})
    assert [each.known_bugs for each in judged(replace(history(), header=of_360))] == [bugs]


def test_no_verdict_at_all_is_inconclusive() -> None:
    """Nothing judged is never a pass."""
    assert outcome_of([]) is Outcome.INCONCLUSIVE


def test_a_folder_is_judged_from_one_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Header, verdicts and known bugs come back together, so that nobody has to read a whole history again."""
    folder = faulty_run(tmp_path).end(3000)
    read: list[RunFolder] = []
    monkeypatch.setattr(judging, "read_history", noting(read))

    judgement = judging.judge_folder(folder)

    assert read == [folder]
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
