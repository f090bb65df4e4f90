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

PRE, DURING, POST = 2, 1, 3
ROWS = ("STATE-PreMigration", "STATE-Migration", "STATE-PostMigration", "PROC-finalize-record")
FINALIZED = [
    phase(40_000, "FINALIZED"),
    event(EventKind.STATE, 40_000, "controller-3000", of="migration_state", state="POST_MIGRATION"),
]


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
    assert looked_at(recorded_states_mean_what_they_say.judge(run)) == dict.fromkeys(ROWS, "CONFORMS")
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


def test_what_was_under_way_may_still_be_seen_after_finalization() -> None:
    """Conforming: a moment later."""
    run = recorded(log(PRE, DURING, POST), place(41_000, 60), events=FINALIZED)
    assert recorded_states_mean_what_they_say.judge(run).outcome is Outcome.CONFORMS


def test_a_run_that_ends_with_finalization_does_not_show_that_zookeeper_is_left_alone() -> None:
    """Vacuous for that row: what was under way may still be written for 5 s."""
    events = [controller(), snapshot(44_000, "end-log"), *FINALIZED]
    run = history(events=events, znodes=[place(22, 55)], images={"end-log": log(PRE, DURING, POST)})
    rows = [each for each in ROWS if each != "STATE-PostMigration"]
    assert looked_at(recorded_states_mean_what_they_say.judge(run)) == dict.fromkeys(rows, "CONFORMS")


def test_without_a_state_nothing_is_proved() -> None:
    """Vacuous: a log without a migration, one of a cluster that was born in KRaft mode, or no log."""
    for run in (recorded(log()), recorded(log(0)), history(events=[controller()])):
        assert recorded_states_mean_what_they_say.judge(run).outcome is Outcome.INCONCLUSIVE
