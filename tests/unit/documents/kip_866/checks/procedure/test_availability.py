"""Check of availability in a migration."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.procedure.availability import partitions_stay_available
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import MS, Row, broker_away, copies, event, fault, history, sent
from tests.unit.documents.kip_866.checks.outcomes import looked_at


def step(name: str, began_ms: int, ended_ms: int) -> list[Event]:
    """A step that was done."""
    ended = event(EventKind.STEP_ENDED, ended_ms, step=name, outcome="done", reason="")
    return [event(EventKind.STEP_BEGAN, began_ms, step=name), ended]


STEPS = [*step("provision-controllers", 1_000, 10_000), *step("roll-brokers-to-kraft", 50_000, 90_000)]


def written(*gap_ms: int, events: list[Event] | None = None, **more: int) -> History:
    """A write every second up to 100 s; one that begins at ``gap_ms[0]`` is acknowledged at ``gap_ms[1]`` only."""
    times = [at for at in range(0, 100_000, 1_000) if not gap_ms or not gap_ms[0] <= at < gap_ms[1]]
    rows: list[Row] = [sent(at, began_ns=at * MS, ended_ns=(at + 10) * MS, **more) for at in times]
    rows += [sent(100_001, began_ns=gap_ms[0] * MS, ended_ns=gap_ms[1] * MS, **more)] if gap_ms else []
    return history(rows, events=[*(STEPS if events is None else events)])


def test_partitions_that_are_written_to_all_the_time_conform() -> None:
    """Conforming: a session is not too long."""
    for run in (written(), written(60_000, 75_000)):
        verdict = partitions_stay_available.judge(run)
        rows = ("COMPAT-availability", "PROC-no-downtime-broker-phase")
        assert looked_at(verdict) == dict.fromkeys(rows, "CONFORMS")


@pytest.mark.parametrize(("gap", "rolling"), [((60_000, 85_000), "VIOLATES"), ((12_000, 40_000), "CONFORMS")])
def test_a_partition_without_writes_violates(gap: tuple[int, int], rolling: str) -> None:
    """Violating: while brokers are rolled, or at another time."""
    verdict = partitions_stay_available.judge(written(*gap))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert looked_at(verdict) == {"COMPAT-availability": "VIOLATES", "PROC-no-downtime-broker-phase": rolling}


@pytest.mark.parametrize(("replicas", "outcome"), [("0", Outcome.CONFORMS), ("0,1", Outcome.VIOLATES)])
def test_a_slow_restart_of_the_only_replica_is_not_judged(replicas: str, outcome: Outcome) -> None:
    """A partition that another replica could have served is."""
    restarted = written(60_000, 95_000, events=[*STEPS, *broker_away(60_000, 92_000)])
    run = replace(restarted, client_metadata=[copies(100, replicas)])
    assert partitions_stay_available.judge(run).outcome is outcome


def test_a_gap_under_a_fault_is_not_judged() -> None:
    """Conforming: by what was written else."""
    assert partitions_stay_available.judge(written(60_000, 85_000, events=[*STEPS, *fault(59_000)])).outcome is (
        Outcome.CONFORMS
    )


def test_without_steps_or_writes_nothing_is_proved() -> None:
    """Vacuous; so are writes of less time than a partition may go without."""
    few = [sent(at, began_ns=at * MS, ended_ns=(at + 10) * MS) for at in range(52_000, 70_000, 1_000)]
    for run in (written(events=[]), history(events=STEPS), history(few, events=STEPS)):
        assert partitions_stay_available.judge(run).outcome is Outcome.INCONCLUSIVE
