"""The migration states in their order, as events and samples of the controllers show."""

from collections.abc import Sequence

import pytest

from pytest_kmigrate.documents.kip_866.checks.states.migration_states import migration_state_moves_along_legal_edges
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import Sample
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, history, phase, sample
from tests.unit.documents.kip_866.checks.outcomes import looked_at

NUMBERS = {"NONE": 0.0, "MIGRATION": 1.0, "PRE_MIGRATION": 2.0, "POST_MIGRATION": 3.0, "not yet": -1.0}


def _state(at_ms: int, state: str, node: str | None = "controller-3000") -> Event:
    return event(EventKind.STATE, at_ms, node, of="migration_state", state=state)


def _started(at_ms: int, *nodes: str, role: str = "controller") -> list[Event]:
    return [event(EventKind.NODE_STARTED, at_ms, node, role=role) for node in nodes]


def _wiped(at_ms: int, *nodes: str) -> list[Event]:
    return [event(EventKind.NODE_WIPED, at_ms, node) for node in nodes]


def _told(at_ms: int, state: str, node: str = "controller-3000", *, leads: bool | None = True) -> Sample:
    active = None if leads is None else float(leads)
    return sample(at_ms, node, ActiveControllerCount=active, ZkMigrationState=NUMBERS[state])


def _leading(from_ms: int, to_ms: int, state: str, node: str = "controller-3000") -> list[Sample]:
    return [_told(at_ms, state, node) for at_ms in range(from_ms, to_ms, 500)]


def test_no_sighting_is_inconclusive() -> None:
    """Inconclusive: no state was ever seen, or only that of brokers in ZooKeeper mode."""
    of_a_broker = [*_started(0, "broker-1", role="broker"), _state(4, "ZK", node="broker-1")]
    for events in ([], of_a_broker):
        assert migration_state_moves_along_legal_edges.judge(history(events=events)).outcome is Outcome.INCONCLUSIVE


def test_states_along_the_legal_edges_conform() -> None:
    """Conforming: the whole way, with a lagging restarted controller and a broker in ZooKeeper mode beside it."""
    events = [
        *_started(0, "controller-3000", "controller-3001"),
        *_started(0, "broker-1", role="broker"),
        _state(1, "NONE"),
        _state(2, "PRE_MIGRATION"),
        _state(3, "MIGRATION"),
        _state(4, "ZK", node="broker-1"),
        _state(5, "PRE_MIGRATION", node="controller-3001"),
        _state(6, "MIGRATION", node="controller-3001"),
        *_started(7, "controller-3000"),
        _state(8, "PRE_MIGRATION"),
        _state(10, "POST_MIGRATION", node="controller-3001"),
        _state(11, "POST_MIGRATION"),
    ]
    verdict = migration_state_moves_along_legal_edges.judge(history(events=events))
    assert verdict.outcome is Outcome.CONFORMS, verdict.violations
    short = history(events=[_state(2, "PRE_MIGRATION"), _state(3, "MIGRATION")])
    assert (
        migration_state_moves_along_legal_edges.judge(short).summary
        == "ZkMigrationState went PRE_MIGRATION -> MIGRATION"
    )


def test_states_off_the_legal_edges_violate() -> None:
    """Violating: a skipped state, a reversed one, one that others had left."""
    skipped = [_state(1, "PRE_MIGRATION"), _state(2, "POST_MIGRATION")]
    reversed_ = [_state(1, "PRE_MIGRATION"), _state(2, "MIGRATION"), _state(3, "PRE_MIGRATION")]
    none_at_last = [_state(1, "MIGRATION"), _state(2, "NONE", node="controller-3001")]
    left_behind = [*reversed_[:2], _state(3, "PRE_MIGRATION", node="controller-3001")]
    for events in (skipped, reversed_, none_at_last, left_behind):
        verdict = migration_state_moves_along_legal_edges.judge(history(events=events))
        assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1), events
    reported = migration_state_moves_along_legal_edges.judge(
        history(events=[*skipped, phase(0, "PREPARING")])
    ).violations[0]
    assert reported.expected == "after PRE_MIGRATION comes MIGRATION"
    assert reported.observed == (
        "PRE_MIGRATION was followed by POST_MIGRATION on controller-3000 2 ms after the run began, in PREPARING"
    )


def test_a_revert_begins_states_anew() -> None:
    """Wiping all controllers ends a life; wiping one of several, or one after the other, does not."""
    nodes = ("controller-3000", "controller-3001")
    first = [*_started(0, *nodes), _state(1, "PRE_MIGRATION"), _state(2, "MIGRATION")]
    again = [_state(20, "PRE_MIGRATION"), _state(21, "MIGRATION")]
    reverted = history(events=[*first, *_wiped(5, *nodes), *_started(6, *nodes), *again])
    assert migration_state_moves_along_legal_edges.judge(reverted).outcome is Outcome.CONFORMS
    by_turns = [*_wiped(5, nodes[0]), *_started(6, nodes[0]), *_wiped(7, nodes[1]), *_started(8, nodes[1])]
    furthest_is_back = [*first, *by_turns, again[0]]
    assert migration_state_moves_along_legal_edges.judge(history(events=furthest_is_back)).outcome is Outcome.VIOLATES
    one_step = event(EventKind.STEP_ENDED, 5, step="deprovision-controllers", outcome="done")
    assert migration_state_moves_along_legal_edges.judge(history(events=[*first, one_step, *again])).facts["lives"] == 2


THREE = ("controller-3000", "controller-3001", "controller-3002")
COPIED = [*_started(0, *THREE), _state(1_000, "PRE_MIGRATION"), _state(20_000, "MIGRATION")]
SKIPPED = [*_started(0, *THREE), _state(1_000, "NONE"), _state(40_000, "MIGRATION")]


def test_a_leader_that_stays_behind_violates() -> None:
    """Violating: it has been up all the time, and long after it began to lead it reports what was over before."""
    events = [*COPIED, _state(60_000, "PRE_MIGRATION", THREE[1]), _state(100_000, "MIGRATION", THREE[1])]
    samples = _leading(60_000, 100_000, "PRE_MIGRATION", THREE[1])
    verdict = migration_state_moves_along_legal_edges.judge(history(events=events, samples=samples))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    (found,) = verdict.violations
    assert found.expected == "within 10.0 s a new leader reports the state that the log has come to"
    assert found.observed.startswith("controller-3001 was still in PRE_MIGRATION 10.5 s after it began to lead")


@pytest.mark.parametrize(
    "samples",
    [
        _leading(60_000, 69_000, "PRE_MIGRATION", THREE[1]),
        [*_leading(60_000, 70_000, "PRE_MIGRATION", THREE[1]), _told(71_000, "PRE_MIGRATION", THREE[1])],
        [_told(at, "PRE_MIGRATION", THREE[1], leads=False) for at in range(60_000, 100_000, 500)],
        _leading(60_000, 100_000, "not yet", THREE[1]),
        _leading(2_000, 100_000, "PRE_MIGRATION", THREE[1]),
        [*_leading(60_000, 100_000, "PRE_MIGRATION", THREE[1]), *_leading(65_000, 100_000, "MIGRATION", THREE[2])],
    ],
    ids=["for a short time", "a single reading", "a standby", "no number", "one cut off before", "one overtaken"],
)
def test_a_leader_that_catches_up_conforms(samples: Sequence[Sample]) -> None:
    """Conforming: it lags for a moment, does not lead, or was cut off and does not know that it leads no more."""
    events = [*COPIED, _state(60_000, "PRE_MIGRATION", THREE[1]), _state(69_000, "MIGRATION", THREE[1])]
    verdict = migration_state_moves_along_legal_edges.judge(history(events=events, samples=samples))
    assert verdict.outcome is Outcome.CONFORMS, verdict.violations


def test_a_leader_of_a_new_log_is_not_behind_the_former_one() -> None:
    """Conforming: the state of the log before a revert does not count."""
    revert = [*_wiped(50_000, *THREE), *_started(51_000, *THREE), _state(60_000, "PRE_MIGRATION")]
    run = history(events=[*COPIED, *revert], samples=_leading(55_000, 99_000, "PRE_MIGRATION"))
    assert migration_state_moves_along_legal_edges.judge(run).outcome is Outcome.CONFORMS


def test_a_state_that_passed_while_nobody_looked_is_left_undecided() -> None:
    """Undecided: the observer stood still; samples were far apart, or of a standby that says nothing of looks."""
    far = [_told(1_500, "NONE"), _told(5_000, "NONE"), _told(39_900, "NONE", THREE[1], leads=False)]
    for samples in ([], far, [_told(30_000, "MIGRATION", leads=None)]):
        verdict = migration_state_moves_along_legal_edges.judge(history(events=SKIPPED, samples=samples))
        assert (verdict.outcome, verdict.requirements) == (Outcome.CONFORMS, ("K866-STATE-None-not-reachable",))
        assert verdict.summary.endswith("; what came between NONE and MIGRATION, 39.0 s later, was not seen")


@pytest.mark.parametrize("leads", [True, False, None])
def test_a_state_that_only_samples_saw_was_not_skipped(leads: bool | None) -> None:
    """Conforming: from any controller, and however short it was."""
    for events in (SKIPPED, [*_started(0, *THREE), _state(29_900, "NONE"), _state(30_100, "MIGRATION")]):
        run = history(events=events, samples=[_told(30_000, "PRE_MIGRATION", THREE[1], leads=leads)])
        verdict = migration_state_moves_along_legal_edges.judge(run)
        assert (verdict.outcome, looked_at(verdict)["STATE-order"]) == (Outcome.CONFORMS, "CONFORMS")
        assert verdict.summary == "ZkMigrationState went NONE -> MIGRATION"


def test_a_state_skipped_between_two_samples_violates() -> None:
    """Violating: they are close together, though the observer came to look much later."""
    samples = [*_leading(1_500, 9_500, "NONE"), *_leading(9_500, 50_000, "MIGRATION")]
    verdict = migration_state_moves_along_legal_edges.judge(history(events=SKIPPED, samples=samples))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)


def test_the_last_word_of_a_life_counts_though_a_state_was_not_seen() -> None:
    """Violating: what was missed in between excuses no controller that ends behind."""
    events = [*SKIPPED, _state(60_000, "NONE", THREE[1])]
    verdict = migration_state_moves_along_legal_edges.judge(history(events=events))
    assert (verdict.outcome, verdict.count) == (Outcome.VIOLATES, 1)
    assert verdict.violations[0].observed.startswith("MIGRATION was followed by NONE on controller-3001")


def test_each_requirement_is_looked_at_by_its_own_evidence() -> None:
    """Conforming: one state is no order; a leader that began later proves a failover."""
    alone = history(events=[*_started(0, *THREE), _state(1_000, "MIGRATION")], samples=_leading(0, 9_000, "MIGRATION"))
    assert looked_at(migration_state_moves_along_legal_edges.judge(alone)) == {"STATE-None-not-reachable": "CONFORMS"}
    successor = [*_leading(0, 9_000, "MIGRATION"), *_leading(9_000, 20_000, "MIGRATION", THREE[1])]
    states = [_state(1_000, "PRE_MIGRATION"), _state(2_000, "MIGRATION"), _state(9_000, "MIGRATION", THREE[1])]
    verdict = migration_state_moves_along_legal_edges.judge(
        history(events=[*_started(0, *THREE), *states], samples=successor)
    )
    assert looked_at(verdict) == dict.fromkeys(
        ("STATE-order", "STATE-None-not-reachable", "METRIC-ZkMigrationState-failover"), "CONFORMS"
    )


def test_none_after_a_migration_began_violates_its_own_requirement() -> None:
    """Violating: order is another's."""
    events = [*_started(0, *THREE), _state(1_000, "PRE_MIGRATION"), _state(2_000, "MIGRATION"), _state(3_000, "NONE")]
    assert looked_at(migration_state_moves_along_legal_edges.judge(history(events=events))) == {
        "STATE-order": "CONFORMS",
        "STATE-None-not-reachable": "VIOLATES",
    }
