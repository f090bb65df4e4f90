"""Checks of the run itself: faults, deaths."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.checkers.run.doubts import deaths_as_doubts
from pytest_kmigrate.checkers.run.runs import (
    every_fault_was_witnessed,
    no_unexpected_death,
)
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import MS, event, fault, history, phase


def test_witnessed_faults_conform() -> None:
    """Conforming: each fault has its witness."""
    verdict = every_fault_was_witnessed.judge(history(events=[*fault(1), *fault(5, "cut(a-b)")]))
    assert (verdict.outcome, verdict.summary) == (
        Outcome.CONFORMS,
        "2 faults witnessed: kill(active-controller), cut(a-b)",
    )


def test_an_unwitnessed_fault_is_inconclusive_and_named() -> None:
    """Inconclusive: the fault that did not bite is named with what was looked for; so is having no fault at all."""
    without = event(EventKind.FAULT_NOT_WITNESSED, 9, fault_id="cut(a-b)", witness="bytes refused on a-b")
    over = event(EventKind.FAULT_HEALED, 3, fault_id="kill(active-controller)")
    events = [*fault(1), over, *fault(5, "cut(a-b)", witnessed=False), without]
    verdict = every_fault_was_witnessed.judge(history(events=events))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert verdict.summary == "cut(a-b) was never witnessed to bite (looked for: bytes refused on a-b) (event 3)"
    assert every_fault_was_witnessed.judge(history()).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("healed_ms", "beside"), [(7, ", while kill(active-controller) lasted"), (4, "")], ids=["beside it", "before it"]
)
def test_an_unwitnessed_fault_is_reported_with_what_else_was_in_force(healed_ms: int, beside: str) -> None:
    """Inconclusive, with what may be the reason."""
    healed = event(EventKind.FAULT_HEALED, healed_ms, fault_id="kill(active-controller)")
    verdict = every_fault_was_witnessed.judge(
        history(events=[*fault(1), *fault(5, "cut(a-b)", witnessed=False), healed])
    )
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.summary.startswith(f"cut(a-b) was never witnessed to bite{beside} (event ")


def test_a_fault_whose_trigger_never_fired_is_inconclusive() -> None:
    """Inconclusive: such a fault never began, and is named all the same."""
    never = event(EventKind.FAULT_NOT_WITNESSED, 9, fault_id="fault-2", fault="kill(b)", witness="at(copy) never fired")
    verdict = every_fault_was_witnessed.judge(history(events=[never]))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.summary == "kill(b) was never witnessed to bite (looked for: at(copy) never fired) (event 0)"
    assert every_fault_was_witnessed.judge(history(events=[*fault(1), never])).outcome is Outcome.INCONCLUSIVE


def test_an_unexpected_death_violates() -> None:
    """Violating: a node that ended by itself is named with the time and its log folder."""
    started = event(EventKind.NODE_STARTED, 1, "broker-1", role="broker")
    died = event(EventKind.NODE_DIED, 2200, "broker-1", exit_code=3)
    verdict = no_unexpected_death.judge(history(events=[started, *fault(1000, "slow(broker-1)", effect="slow"), died]))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.summary == "1 node died unasked: broker-1 1.2 s after slow(broker-1) began"
    assert verdict.violations[0].evidence[:2] == ("event 3", "logs/broker-1/")


def test_a_death_is_reported_with_what_the_node_logged_last() -> None:
    """Violating: the violation has the last error of the log."""
    started = event(EventKind.NODE_STARTED, 1, "controller-3002", role="controller")
    said = "ERROR fault / Should not have ZK migrations enabled on a cluster running metadata.version 3.0-IV1"
    died = event(EventKind.NODE_DIED, 2, "controller-3002", exit_code=1, said=said)
    verdict = no_unexpected_death.judge(history(events=[started, died]))
    assert verdict.violations[0].observed.endswith(f"; its log ends: {said}")


def test_a_thread_that_an_error_ended_violates() -> None:
    """Violating: the node goes on without it; the violation has what the log says."""
    started = event(EventKind.NODE_STARTED, 1, "broker-1", role="broker")
    said = "java.lang.IllegalArgumentException: A metric named 'x' already exists, can't register another one."
    ended = event(EventKind.THREAD_DIED, 2, "broker-1", thread="to-controller", said=said)
    verdict = no_unexpected_death.judge(history(events=[started, ended]))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.summary == "1 thread died unasked: to-controller of broker-1"
    assert verdict.violations[0].observed == f"to-controller ended: {said}"
    died = event(EventKind.NODE_DIED, 3, "broker-2", exit_code=3)
    both = no_unexpected_death.judge(history(events=[started, ended, died]))
    assert both.summary.startswith("1 node died unasked: broker-2 ")
    assert both.summary.endswith("; 1 thread died unasked: to-controller of broker-1")
    assert both.count == 2


def test_nodes_that_were_stopped_or_killed_conform() -> None:
    """Conforming: what a fault or the harness ended is no unexpected death."""
    started = event(EventKind.NODE_STARTED, 1, "controller-3000", role="controller")
    killed = event(EventKind.NODE_STOPPED, 9, "controller-3000", how="killed", exit_code=-9)
    assert no_unexpected_death.judge(history(events=[started, *fault(5), killed])).outcome is Outcome.CONFORMS


CRASHED = {"how": "controlled", "exit_code": 1, "took_ms": 900, "said": "ERROR fault / out of memory"}
HUNG = {"how": "hung", "exit_code": -9, "took_ms": 30_100, "said": "INFO shutting down"}


@pytest.mark.parametrize(
    ("stopped", "observed"),
    [(CRASHED, "it ended with exit code 1 "), (HUNG, "it was killed after 30100 ms ")],
    ids=["an error", "no end"],
)
def test_a_node_that_does_not_end_as_it_is_told_to_violates(stopped: dict[str, Any], observed: str) -> None:
    """It crashed on its way out, or had to be killed; while a fault is in force this is allowed."""
    started = event(EventKind.NODE_STARTED, 1, "broker-1", role="broker")
    end = event(EventKind.NODE_STOPPED, 40_000, "broker-1", **stopped)
    verdict = no_unexpected_death.judge(history(events=[started, end]))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].observed.startswith(observed)
    assert no_unexpected_death.judge(history(events=[started, *fault(39_500), end])).outcome is Outcome.CONFORMS


def test_the_fault_that_stops_a_node_does_not_excuse_how_it_ends() -> None:
    """Told to stop by a fault, it hangs or crashes as without one; another fault in force excuses it."""
    started = event(EventKind.NODE_STARTED, 1, "broker-1", role="broker")
    stop, other = (
        [*fault(9_000, name, effect="stop"), event(EventKind.FAULT_APPLIED, 41_000, fault_id=name, targets=[node])]
        for name, node in (("stop(broker-1)", "broker-1"), ("stop(broker-2)", "broker-2"))
    )
    end = event(EventKind.NODE_STOPPED, 40_000, "broker-1", **HUNG)
    assert no_unexpected_death.judge(history(events=[started, *stop, end])).outcome is Outcome.VIOLATES
    assert no_unexpected_death.judge(history(events=[started, *other, end])).outcome is Outcome.CONFORMS


HALTED = {"how": "controlled", "exit_code": 1, "took_ms": 900, "said": "ERROR Halting Kafka. (kafka.Kafka$)"}
CANNOT_YET = (
    "2026-11-30 08:00:39,500 ERROR [KafkaServer id=1] Fatal error during KafkaServer shutdown. (KafkaServer)\n"
    "java.lang.IllegalStateException: Kafka server is still starting up, cannot shut down!\n"
)


@pytest.mark.parametrize(
    ("ready_ms", "log", "outcome"),
    [
        (50_000, CANNOT_YET, Outcome.CONFORMS),
        (20_000, CANNOT_YET, Outcome.VIOLATES),
        (50_000, "", Outcome.VIOLATES),
        (50_000, CANNOT_YET.replace("08:00:39", "08:00:09"), Outcome.VIOLATES),
        (50_000, CANNOT_YET.replace("still starting up", "no more"), Outcome.VIOLATES),
    ],
    ids=["not up yet", "up", "no word of it", "at another time", "for another reason"],
)
def test_a_node_that_is_not_up_yet_cannot_shut_down(ready_ms: int, log: str, outcome: Outcome) -> None:
    """A broker in ZooKeeper mode halts then; had it been ready, it would have to end in time."""
    started = event(EventKind.NODE_STARTED, 30_000, "broker-1", role="broker")
    ready = event(EventKind.NODE_READY, ready_ms, "broker-1", took_ms=1)
    earlier = [event(EventKind.NODE_STARTED, 1, "broker-1", role="broker"), replace(ready, at_ns=10_000 * MS)]
    end = event(EventKind.NODE_STOPPED, 40_000, "broker-1", **HALTED)
    started = started if ready_ms > 40_000 else replace(started, at_ns=15_000 * MS)
    events = sorted([*earlier, started, ready, end], key=lambda each: each.at_ns)
    run = history(events=events, logs={"broker-1": log})
    run = replace(run, header=replace(run.header, started_at="2026-11-30T08:00:00+00:00"))
    assert no_unexpected_death.judge(run).outcome is outcome


BY_DESIGN = "ERROR Encountered fatal fault: Aborting the ZK migration (x)"


def of_the_document(*events: Event) -> History:
    """A run of a document in which controllers end themselves so."""
    return replace(history(events=events), dies_by_design=("Aborting the ZK migration",))


def test_a_controller_that_a_fault_keeps_from_its_copy_ends_itself() -> None:
    """As Kafka has it, for another one to abort the copy; without a fault nothing should have kept it."""
    started = event(EventKind.NODE_STARTED, 1, "controller-3000", role="controller")
    died = event(EventKind.NODE_DIED, 40_000, "controller-3000", exit_code=1, said=BY_DESIGN)
    events = [started, phase(5_000, "PREPARING"), died]
    assert no_unexpected_death.judge(of_the_document(*events)).outcome is Outcome.VIOLATES
    under_fault = of_the_document(started, phase(5_000, "PREPARING"), *fault(39_000), died)
    assert no_unexpected_death.judge(under_fault).outcome is Outcome.CONFORMS
    assert deaths_as_doubts(under_fault) == []
    of_another = replace(under_fault, dies_by_design=())
    assert no_unexpected_death.judge(of_another).outcome is Outcome.VIOLATES
    over = event(EventKind.FAULT_HEALED, 2_000, fault_id="cut")
    healed = of_the_document(started, *fault(1_000, "cut"), over, phase(5_000, "PREPARING"), died)
    assert no_unexpected_death.judge(healed).outcome is Outcome.VIOLATES


@pytest.mark.parametrize("said", [BY_DESIGN, ""])
def test_a_controller_stopped_in_its_copy_ends_itself(said: str) -> None:
    """As Kafka has it; and a run without the last words is not judged by it."""
    started = event(EventKind.NODE_STARTED, 1, "controller-3000", role="controller")
    end = event(EventKind.NODE_STOPPED, 40_000, "controller-3000", **{**CRASHED, "said": said})
    assert no_unexpected_death.judge(of_the_document(started, end)).outcome is Outcome.CONFORMS


def test_no_node_is_inconclusive() -> None:
    """Inconclusive: where no node was started none could die."""
    assert no_unexpected_death.judge(history()).outcome is Outcome.INCONCLUSIVE


def test_a_test_that_runs_a_tool_needs_no_node() -> None:
    """What it shows of the tool is judged by its expectations; where nodes were started as well, they are judged."""
    ran = event(EventKind.TOOL_RAN, 1, "broker-0", tool="kafka-storage", status=0)
    assert no_unexpected_death.judge(history(events=[ran])).outcome is Outcome.NOT_APPLICABLE
    started, died = event(EventKind.NODE_STARTED, 2, "broker-0"), event(EventKind.NODE_DIED, 3, "broker-0", exit_code=1)
    assert no_unexpected_death.judge(history(events=[ran, started, died])).outcome is Outcome.VIOLATES
