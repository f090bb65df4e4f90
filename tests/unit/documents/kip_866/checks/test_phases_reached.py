"""Checks of how far a migration came."""

import pytest

from pytest_kmigrate.documents.kip_866.checks.phases_reached import phase_not_reached, phase_reached
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, fault, history, phase, snapshot, znode

FAILED_STEP = event(EventKind.STEP_ENDED, 9000, step="await-dual-write", outcome="failed", reason="not within 60 s")


def test_a_reached_phase_conforms() -> None:
    """Conforming: an edge into the phase was recorded, whatever came after it."""
    verdict = phase_reached.judge(history(events=[phase(1, "COPYING"), phase(2500, "HYBRID"), FAILED_STEP]), "HYBRID")
    assert (verdict.outcome, verdict.summary) == (Outcome.CONFORMS, "HYBRID reached 2.5 s after the run began")


@pytest.mark.parametrize("reached", ["HYBRID", "ALL_KRAFT", "FINALIZED"])
def test_the_gauge_alone_does_not_show_a_copy(reached: str) -> None:
    """Inconclusive where ZooKeeper was watched and has no position of the log; before the copy there is none."""
    events, watched = [phase(1, "COPYING"), phase(2500, reached)], znode(2, "/controller", "{}")
    begun, held = (znode(at, "/migration", f'{{"kraft_metadata_offset":{at}}}') for at in (-1, 120))
    for znodes, outcome in (((watched, begun), Outcome.INCONCLUSIVE), ((watched, held), Outcome.CONFORMS)):
        assert phase_reached.judge(history(events=events, znodes=znodes), reached).outcome is outcome
    early = history(events=events, znodes=(watched,))
    assert phase_reached.judge(early, "COPYING").outcome is Outcome.CONFORMS
    extra = {"migration_states": [{"offset": 9, "number": 1}], "transactions": [], "brokers": {}}
    image = {"a-log": MetadataImage("metadata-log", extra=extra)}
    logged = history(events=[*events, snapshot(9000, "a-log")], znodes=(watched,), images=image)
    assert phase_reached.judge(logged, reached).outcome is Outcome.CONFORMS


def test_a_phase_not_reached_because_a_step_failed_violates() -> None:
    """Violating: the step was tried and the cluster did not follow; the message names the phase it stayed in."""
    verdict = phase_reached.judge(history(events=[phase(1, "PREPARING"), FAILED_STEP]), "HYBRID")
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.summary == (
        "HYBRID was not reached: stayed in PREPARING; step await-dual-write failed 9.0 s after the run began, "
        "in PREPARING: not within 60 s"
    )


def test_a_phase_nobody_went_for_is_inconclusive() -> None:
    """Inconclusive: no step failed, or the harness had trouble of its own."""
    stopped = event(EventKind.STEP_ENDED, 9, step="roll-brokers", outcome="stopped")
    verdict = phase_reached.judge(history(events=[stopped]), "HYBRID")
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    trouble = event(EventKind.HARNESS_TROUBLE, 8, what="probe", error="no answer")
    verdict = phase_reached.judge(history(events=[FAILED_STEP, trouble]), "HYBRID")
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.HARNESS)


def test_a_phase_not_reached_under_a_fault_is_inconclusive() -> None:
    """Inconclusive: the fault may have been one that no cluster has to survive; healed in time, it is no excuse."""
    began, bit = fault(8000)
    verdict = phase_reached.judge(history(events=[phase(1, "PREPARING"), began, bit, FAILED_STEP]), "HYBRID")
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert verdict.summary == (
        "HYBRID not reached, stayed in PREPARING; await-dual-write failed while a fault was in force"
    )
    healed = event(EventKind.FAULT_HEALED, 8500, fault_id=began.data["fault_id"])
    verdict = phase_reached.judge(history(events=[phase(1, "PREPARING"), began, bit, healed, FAILED_STEP]), "HYBRID")
    assert verdict.outcome is Outcome.VIOLATES


def test_an_unknown_phase_is_wrong_use() -> None:
    """A phase that does not exist is the caller's mistake, and the message lists those that do."""
    with pytest.raises(WrongUseError, match=r"expected one of ZOOKEEPER, PREPARING.*got 'DUAL_WRITE'"):
        phase_reached.judge(history(), "DUAL_WRITE")


def test_a_phase_that_was_to_be_avoided_and_came_makes_the_run_inconclusive() -> None:
    """It is no violation: Kafka was quicker, and the run is about something else."""
    early = history(events=[phase(5, "COPYING"), phase(9, "ZOOKEEPER")])
    assert phase_not_reached.judge(early, "HYBRID").outcome is Outcome.CONFORMS
    late = phase_not_reached.judge(history(events=[phase(5, "COPYING"), phase(7000, "HYBRID")]), "HYBRID")
    assert (late.outcome, late.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert late.summary == "HYBRID was reached 7.0 s after the run began"
    with pytest.raises(WrongUseError, match=r"expected one of ZOOKEEPER, .*, got 'HYBRD'"):
        phase_not_reached.judge(early, "HYBRD")
