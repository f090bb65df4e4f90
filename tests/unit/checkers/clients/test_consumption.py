"""Check of the longest time that acknowledged records wait for a consumer group."""

from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.clients.consumption import longest_time_without_consumption
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict
from tests.unit.checkers.histories import (
    FAILED,
    MS,
    Row,
    broker_away,
    committed,
    consumed,
    copies,
    event,
    fault,
    history,
    phase,
    read_back,
    sent,
)

END_MS = 9000


def _log(*at_ms: int, **more: object) -> list[Row]:
    """A record a time, acknowledged then, and finally there."""
    rows = []
    for number, ms in enumerate(at_ms):
        rows.append(sent(number, began_ns=ms * MS, ended_ns=ms * MS, **more))
        rows.append(read_back(number, began_ns=END_MS * MS, ended_ns=END_MS * MS, **_place(more)))
    return rows


def _place(more: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in more.items() if name in ("topic", "partition")}


def _worked(began_ms: int, ended_ms: int | None = None, **data: object) -> list[Event]:
    began = event(EventKind.WORKLOAD_BEGAN, began_ms, workload="clients", **data)
    ended = [] if ended_ms is None else [event(EventKind.WORKLOAD_ENDED, ended_ms, workload="clients")]
    return [began, *ended]


def _judged(rows: list[Row], events: list[Event] | None = None, at_most_s: float | None = 5) -> Verdict:
    return longest_time_without_consumption.judge(history(rows, events or []), at_most_s)


def test_records_read_in_time_conform() -> None:
    """Conforming: the longest wait of any partition is listed among faults and phases, and where."""
    rows = [*_log(0, 100, 200), consumed(0, 10), consumed(1, 1600), consumed(2, 1600)]
    verdict = _judged(rows, [phase(5, "HYBRID"), *fault(50, "kill(broker-1)")])
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary == (
        "longest time that a record waited for its readers: 1.5 s for group billing in orders-0, from 50 ms after "
        "kill(broker-1) began, in HYBRID, while kill(broker-1) lasted"
    )
    assert (verdict.facts["longest_s"], verdict.facts["place"], verdict.facts["phase"]) == (1.5, "orders-0", "HYBRID")


def test_a_group_that_stops_for_ever_violates() -> None:
    """Violating: no client reads on, up to the end of the workload."""
    rows = [*_log(0, 1000, 2000), consumed(0, 10), committed(1, 20)]
    verdict = _judged(rows, _worked(0, 8000))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 1)
    [violation] = verdict.violations
    assert violation.expected == "group billing reads every record of orders-0 within 5 s"
    assert violation.observed == (
        "record 1 of producer 1, at 1, waited 7.0 s for group billing in orders-0, "
        "from 1.0 s after the run began, and was still not read at the end"
    )
    assert verdict.summary.endswith("allowed are 5 s")
    assert _judged(rows, _worked(0, 8000), None).outcome is Outcome.CONFORMS


def test_a_partition_or_topic_that_is_left_out_violates() -> None:
    """Violating: reads elsewhere make up for none, and the workload names which topics its group has to read."""
    read = [*_log(0), consumed(0, 10)]
    assert _judged([*read, *_log(0, partition=1)]).facts["place"] == "orders-1"
    payments = [*read, *_log(0, topic="payments")]
    workload = _worked(0, topics=["orders", "payments"], group="billing")
    assert _judged(payments, workload).facts["place"] == "payments-0"
    without_group = [replace(each, data={"workload": "clients", "topics": each.data["topics"]}) for each in workload]
    assert _judged(payments, without_group).facts["place"] == "payments-0", "older folders name no group"
    assert _judged(payments).outcome is Outcome.CONFORMS
    assert _judged([*payments, consumed(0, 20, topic="payments", group="audit")]).outcome is Outcome.CONFORMS


def test_a_group_that_never_reads_is_known_by_its_workload() -> None:
    """Violating where it had the time; without it nothing is proved."""
    reported = _worked(0, topics=["orders"], group="billing")
    assert _judged(_log(0), reported).outcome is Outcome.VIOLATES
    short = _judged(_log(END_MS - 1000), reported)
    assert (short.outcome, short.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert short.summary.startswith("billing read nothing; ")


def test_a_record_counts_from_its_acknowledgement() -> None:
    """Conforming: one that was read before its producer had the answer, or whose answer came late, did not wait."""
    late = sent(0, began_ns=0, ended_ns=8000 * MS)
    assert _judged([late, read_back(0), consumed(0, 10)]).facts["longest_s"] == 0
    assert _judged([late, read_back(0), consumed(0, 8500)]).facts["longest_s"] == 0.5


def test_what_cannot_be_read_is_not_waited_for() -> None:
    """Conforming: records of aborted transactions, and records behind a transaction that is still open."""
    read = [*_log(0), consumed(0, 10)]
    aborted = sent(5, began_ns=0, ended_ns=MS, transaction=7, transaction_outcome=FAILED)
    assert _judged([*read, aborted]).outcome is Outcome.CONFORMS
    first = sent(5, 1, client=9, producer=9, began_ns=20 * MS, ended_ns=30 * MS, transaction=7)
    second = sent(6, 2, client=9, producer=9, began_ns=7000 * MS, ended_ns=7010 * MS, transaction=8)
    there = [read_back(n, at, producer=9, began_ns=END_MS * MS, ended_ns=END_MS * MS) for n, at in ((5, 1), (6, 2))]
    reads = [consumed(1, 7100, producer=9, sequence=5), consumed(2, 7200, producer=9, sequence=6)]
    opened = [*read, first, second, *there]
    assert _judged([*opened, *reads]).facts["longest_s"] == pytest.approx(0.1)
    assert _judged(opened).facts["longest_s"] == pytest.approx(2.0)
    assert _judged(opened, at_most_s=1).outcome is Outcome.VIOLATES


def test_time_between_workloads_does_not_count() -> None:
    """Conforming: no client is there to read, and what a group of the second one reads it could not read before."""
    events = [
        *_worked(0, 1000),
        *_worked(8000, 8500),
        event(EventKind.WORKLOAD_BEGAN, 8500, workload="metadata", scope={}),
    ]
    rows = [*_log(0, 900), consumed(0, 10), consumed(0, 8100, group="later"), consumed(1, 8200, group="later")]
    assert _judged(rows, events).facts["longest_s"] == pytest.approx(0.2)
    assert _judged([*rows, consumed(1, 8400)], events).facts["longest_s"] == pytest.approx(0.4)


def test_records_that_nobody_read_back_are_inconclusive() -> None:
    """Inconclusive: who knows whether they are there."""
    unread = [row for row in _log(0, 100) if row["sequence"] == 0 or row["offset"] < 0]
    rows = [*unread, sent(1, ended_ns=100 * MS), consumed(0, 10)]
    verdict = _judged(rows)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.INFRA)
    assert verdict.summary.startswith("orders-0: records waited that were never read back; ")


@pytest.mark.parametrize(
    "rows", [[consumed(0)], _log(0), [*_log(0), consumed(0, group="")], [sent(0), consumed(5, sequence=5)]]
)
def test_without_records_or_groups_it_is_inconclusive(rows: list[Row]) -> None:
    """Inconclusive: nothing was acknowledged, no client of a group read, or nothing was read back."""
    verdict = _judged(rows)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_records_of_a_partition_whose_only_replica_is_away_do_not_wait() -> None:
    """Conforming: no broker could serve them; with another replica in sync they violate."""
    rows = [*_log(0, 100), consumed(0, 10), consumed(1, 8_500)]
    outcomes = []
    for replicas in ("0", "0,1"):
        run = history(rows, broker_away(500, 8_000), client_metadata=[copies(50, replicas)])
        outcomes.append(longest_time_without_consumption.judge(run, 5).outcome)
    assert outcomes == [Outcome.CONFORMS, Outcome.VIOLATES]
