"""Check of what the recorded states mean, on images of the metadata log and what /migration held."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.states.meaning import recorded_states_mean_what_they_say
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import event, history, phase, snapshot
from tests.unit.documents.kip_866.checks.migrated import LOG
from tests.unit.documents.kip_866.checks.nodes import controller
from tests.unit.documents.kip_866.checks.outcomes import looked_at
from tests.unit.documents.kip_866.checks.znodes.test_controller_znodes import place
from tests.unit.documents.kip_866.diagnoses.naming import named

PRE, DURING, POST = 2, 1, 3
ROWS = ("STATE-PreMigration", "STATE-Migration", "STATE-PostMigration", "PROC-finalize-record")
FINALIZED = [
    phase(40_000, "FINALIZED"),
    event(EventKind.STATE, 40_000, "controller-3000", of="migration_state", state="POST_MIGRATION"),
]


def copied(*, state_at: int) -> MetadataImage:
    """A log in which topics are copied from offset 10 to the end of their transaction at 20, and MIGRATION is there."""
    states = [{"offset": 1, "number": PRE}, {"offset": state_at, "number": DURING}]
    transactions = [{"offset": 9, "event": "begin"}, {"offset": 20, "event": "end", "copied": {"TOPIC_RECORD": 2}}]
    held_back = [{"first": 10, "until": 20, "event": "end"}]
    extra = {"migration_states": states, "transactions": transactions, "topics_held_back": held_back, "brokers": {}}
    return replace(LOG, features={"metadata.version": 21}, extra=extra)


def log(*numbers: int, first: dict[str, int] | None = None) -> MetadataImage:
    """A log with these states; the first one came after this metadata."""
    states: list[dict[str, Any]] = [{"offset": at, "number": number} for at, number in enumerate(numbers)]
    if first:
        states[0]["outside"] = first
    return replace(LOG, extra={"migration_states": states, "transactions": [], "brokers": {}})


def recorded(image: MetadataImage, *znodes: ZnodeChange, events: list[Event] | None = None) -> History:
    """The log as it was looked at after 50 s."""
    nodes = [controller(), snapshot(50_000, "end-log"), *(events or [])]
    return history(events=nodes, znodes=znodes, images={"end-log": image})


def test_the_whole_way_conforms() -> None:
    """Conforming: all four, each by its own evidence."""
    run = recorded(log(PRE, DURING, POST), place(22, 55), events=FINALIZED)
    expected = dict.fromkeys([each for each in ROWS if each != "STATE-Migration"], "CONFORMS")
    assert looked_at(recorded_states_mean_what_they_say.judge(run)) == expected
    in_dual_write = recorded_states_mean_what_they_say.judge(recorded(log(PRE, DURING), place(22, 55)))
    assert looked_at(in_dual_write) == dict.fromkeys(ROWS[:2], "CONFORMS")


@pytest.mark.parametrize(
    ("run", "row"),
    [
        (recorded(log(PRE, first={"TOPIC_RECORD": 1})), "STATE-PreMigration"),
        (recorded(log(DURING)), "STATE-PreMigration"),
        (recorded(log(PRE), place(22, 55)), "STATE-Migration"),
        (recorded(log(PRE, DURING), events=FINALIZED[:1]), "PROC-finalize-record"),
        (recorded(log(PRE, POST)), "STATE-PostMigration"),
        (recorded(log(PRE, DURING, POST), place(46_000, 60), events=FINALIZED), "STATE-PostMigration"),
    ],
    ids=["metadata before", "none before", "written before", "not recorded", "not migrated", "written after"],
)
def test_a_state_that_does_not_fit_violates(run: History, row: str) -> None:
    """Violating: that row, and no other."""
    found = looked_at(recorded_states_mean_what_they_say.judge(run))
    assert {each for each, outcome in found.items() if outcome == "VIOLATES"} == {row}


def test_the_state_of_the_copy_covers_it() -> None:
    """Conforming: recorded before the first topic; violating: after it, as Kafka does, by a departure of that name."""
    covering = recorded_states_mean_what_they_say.judge(recorded(copied(state_at=9)))
    assert looked_at(covering)["STATE-Migration"] == "CONFORMS"
    late = recorded(copied(state_at=19))
    verdict = recorded_states_mean_what_they_say.judge(late)
    assert looked_at(verdict)["STATE-Migration"] == "VIOLATES"
    assert named(late, verdict) == ("state-of-the-copy-at-its-end",)


def test_a_copy_without_transactions_is_late_by_what_came_before_the_state() -> None:
    """Violating: the topics came first, and the release knows no transactions."""
    image = replace(copied(state_at=19), features={"metadata.version": 11})
    states = [{"offset": 1, "number": PRE}, {"offset": 19, "number": DURING, "outside": {"TOPIC_RECORD": 2}}]
    image = replace(image, extra={**image.extra, "migration_states": states})
    verdict = recorded_states_mean_what_they_say.judge(recorded(image))
    assert verdict.violations[0].observed.startswith("MIGRATION is recorded after the copy of 2 TOPIC_RECORD")


def test_zookeeper_that_is_written_on_in_the_last_state_violates() -> None:
    """Violating: POST_MIGRATION was in the log, and dual write went on. Vacuous: it did not."""
    written = place(22, 55), place(60_000, 60)
    verdict = recorded_states_mean_what_they_say.judge(recorded(log(PRE, DURING, POST), *written))
    assert looked_at(verdict)["STATE-Migration"] == "VIOLATES"
    quiet = recorded_states_mean_what_they_say.judge(recorded(log(PRE, DURING, POST), written[0]))
    assert "STATE-Migration" not in looked_at(quiet)


def test_what_was_under_way_may_still_be_seen_after_finalization() -> None:
    """Conforming: a moment later."""
    run = recorded(log(PRE, DURING, POST), place(41_000, 60), events=FINALIZED)
    assert recorded_states_mean_what_they_say.judge(run).outcome is Outcome.CONFORMS


def test_a_run_that_ends_with_finalization_does_not_show_that_zookeeper_is_left_alone() -> None:
    """Vacuous for that row: what was under way may still be written for 5 s."""
    events = [controller(), snapshot(44_000, "end-log"), *FINALIZED]
    run = history(events=events, znodes=[place(22, 55)], images={"end-log": log(PRE, DURING, POST)})
    rows = ("STATE-PreMigration", "PROC-finalize-record")
    assert looked_at(recorded_states_mean_what_they_say.judge(run)) == dict.fromkeys(rows, "CONFORMS")


def test_without_a_state_nothing_is_proved() -> None:
    """Vacuous: a log without a migration, one of a cluster that was born in KRaft mode, or no log."""
    for run in (recorded(log()), recorded(log(0)), history(events=[controller()])):
        assert recorded_states_mean_what_they_say.judge(run).outcome is Outcome.INCONCLUSIVE
