"""Check of the longest time without an acknowledged write."""

from dataclasses import replace

from pytest_kmigrate.checkers.clients.availability import longest_time_without_acked_write
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import (
    MS,
    Row,
    broker_away,
    copies,
    event,
    fault,
    history,
    phase,
    refused,
    sent,
    unsure,
)


def _sent(sequence: int, began_ms: int, ended_ms: int) -> Row:
    return sent(sequence, began_ns=began_ms * MS, ended_ns=ended_ms * MS)


STALL = [_sent(0, 0, 10), _sent(1, 20, 30), _sent(2, 40, 2540), _sent(3, 50, 2550), _sent(4, 2560, 2570)]


def test_without_a_limit_the_longest_gap_is_a_fact() -> None:
    """Conforming: the gap begins with the first send that had to wait, and is placed among faults and phases."""
    healed = event(EventKind.FAULT_HEALED, 900, fault_id="kill(broker-1)")
    later = fault(2560, "kill(broker-2)")
    events = [phase(5, "HYBRID"), *fault(25, "kill(broker-1)"), healed, *later]
    verdict = longest_time_without_acked_write.judge(history(STALL, events))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary == (
        "longest time without an acknowledged write: 2.5 s, from 15 ms after kill(broker-1) began, in HYBRID, "
        "while kill(broker-1) lasted"
    )
    assert (verdict.facts["longest_s"], verdict.facts["phase"]) == (2.5, "HYBRID")
    assert verdict.facts["faults"] == ["kill(broker-1)"]


def test_a_gap_above_the_limit_violates_liveness() -> None:
    """Violating: every gap above the limit counts, the longest is reported first."""
    verdict = longest_time_without_acked_write.judge(history([*STALL, _sent(5, 2600, 4100)]), at_most_s=1)
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 2)
    assert [violation.at_ns for violation in verdict.violations] == [40 * MS, 2600 * MS]
    assert verdict.facts["too_long_ns"] == [[40 * MS, 2540 * MS], [2600 * MS, 4100 * MS]]
    assert verdict.summary.endswith("allowed are 1 s")
    assert longest_time_without_acked_write.judge(history(STALL), at_most_s=2.5).outcome is Outcome.CONFORMS


def test_sends_that_fail_after_the_last_acknowledgement_are_a_gap() -> None:
    """Violating: writers tried to the end of the run and got no answer."""
    rows = [_sent(0, 0, 10), unsure(1, began_ns=20 * MS, ended_ns=5020 * MS)]
    verdict = longest_time_without_acked_write.judge(history(rows), at_most_s=4)
    assert verdict.facts["longest_s"] == 5.0
    assert verdict.outcome is Outcome.VIOLATES


def test_the_first_acknowledgement_counts_from_the_first_send() -> None:
    """A cluster that answers late from the beginning is late."""
    assert longest_time_without_acked_write.judge(history([_sent(0, 0, 3000)])).facts["longest_s"] == 3.0


def test_silent_writers_are_no_unavailability() -> None:
    """Between two workloads, and while no send is in progress, no client waits."""
    pause = [_sent(0, 0, 10), _sent(1, 9000, 9010)]
    assert longest_time_without_acked_write.judge(history(pause)).facts["longest_s"] == 0.01
    first = [_sent(0, 0, 10), unsure(1, began_ns=20 * MS, ended_ns=520 * MS)]
    names = ((0, 600, "a"), (9000, 9100, "b"))
    events = [event(EventKind.WORKLOAD_BEGAN, began, workload=name) for began, _, name in names]
    events += [event(EventKind.WORKLOAD_ENDED, ended, workload=name) for _, ended, name in names]
    verdict = longest_time_without_acked_write.judge(history([*first, pause[1]], events))
    assert verdict.facts["longest_s"] == 0.5


def test_a_partition_that_takes_no_write_while_others_do_violates() -> None:
    """Violating: the place is named, whether its writes waited or failed at once; writes elsewhere make up for none."""
    elsewhere = [_sent(n, n * 100, n * 100 + 10) for n in range(60)]
    waiting = {**unsure(90), "partition": 2, "began_ns": 1000 * MS, "ended_ns": 5500 * MS}
    failing = [
        {**refused(n, "NOT_LEADER", partition=2), "began_ns": n * 100 * MS, "ended_ns": n * 100 * MS}
        for n in range(10, 56)
    ]
    for rows in ([waiting], failing):
        seen = history([*elsewhere, *rows], [phase(5, "HYBRID"), *fault(900, "kill(broker-1)")])
        verdict = longest_time_without_acked_write.judge(seen, at_most_s=4)
        assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 1)
        assert verdict.summary.startswith("longest time without an acknowledged write: 1")
        assert (verdict.facts["place"], verdict.facts["longest_in_place_s"]) == ("orders-2", 4.5)
        [violation] = verdict.violations
        assert violation.expected == "some write to orders-2 is acknowledged at least every 4 s while writers try"
        assert violation.observed.startswith("none for 4.5 s, from 100 ms after kill(broker-1) began, in HYBRID")
        assert "; to orders-2 alone: 4.5 s, from " in verdict.summary


def test_a_partition_that_nobody_writes_to_is_no_unavailability() -> None:
    """Conforming: one failed send, long silence, and a write that is acknowledged at once; no span is listed twice."""
    elsewhere = [_sent(n, n * 100, n * 100 + 10) for n in range(60)]
    silent = [
        {**unsure(90), "partition": 2, "began_ns": 1000 * MS, "ended_ns": 1500 * MS},
        {**_sent(91, 5800, 5810), "partition": 2},
    ]
    verdict = longest_time_without_acked_write.judge(history([*elsewhere, *silent]), at_most_s=1)
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.facts["longest_in_place_s"] == 0.5
    both = [*STALL, {**_sent(5, 0, 2600), "partition": 1}]
    assert longest_time_without_acked_write.judge(history(both), at_most_s=1).count == 1


def test_nothing_acknowledged_is_inconclusive() -> None:
    """Inconclusive: without one acknowledged write there is no time between any."""
    verdict = longest_time_without_acked_write.judge(history([unsure(0)]), at_most_s=1)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


RESTARTED = [_sent(0, 19_000, 19_010), _sent(1, 20_000, 36_400), _sent(2, 36_500, 36_510)]
"""A write waits while broker-0 is away from 20 s to 34 s, and 2.4 s more."""


def test_a_restart_of_the_only_replica_is_no_unavailability() -> None:
    """Conforming: only what it takes after the restart is judged; the whole is measured."""
    away = broker_away(20_000, 34_000)
    run = history(RESTARTED, [*away, phase(40_000, "HYBRID")], client_metadata=[copies(100, "0")])
    verdict = longest_time_without_acked_write.judge(run, at_most_s=9)
    assert (verdict.outcome, verdict.facts["longest_s"]) == (Outcome.CONFORMS, 16.4)
    assert "(14.0 s of it without the replicas that a write needs)" in verdict.summary
    slow = history([*RESTARTED[:1], _sent(1, 20_000, 44_000)], away, client_metadata=[copies(100, "0")])
    assert longest_time_without_acked_write.judge(slow, at_most_s=9).outcome is Outcome.VIOLATES


def test_a_restart_beside_another_replica_in_sync_is_judged() -> None:
    """Violating: the other one should have taken over."""
    run = history(RESTARTED, broker_away(20_000, 34_000), client_metadata=[copies(100, "0,1")])
    verdict = longest_time_without_acked_write.judge(run, at_most_s=9)
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)


def test_one_partition_without_replicas_excuses_no_other() -> None:
    """Violating: orders-1 has another replica, and is not served either."""
    rows = [*RESTARTED, *({**each, "partition": 1, "producer": 2} for each in RESTARTED)]
    text = "id; 0 replicas=0 isr=0 leader=0 leader_epoch=0; 1 replicas=0,1 isr=0,1 leader=1 leader_epoch=0"
    answer = replace(copies(100, "0"), topics={"orders": text})
    run = history(rows, broker_away(20_000, 34_000), client_metadata=[answer])
    verdict = longest_time_without_acked_write.judge(run, at_most_s=9)
    assert verdict.outcome is Outcome.VIOLATES
