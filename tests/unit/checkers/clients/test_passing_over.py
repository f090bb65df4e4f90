"""Check of records that consumers read on above without reading them; see also test_poll_skips for the kernel."""

import pytest

from pytest_kmigrate.checkers.clients.passing_over import no_record_passed_over
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import MS, Row, consumed, event, fault, history, read_back, sent

LOG = [row for at in range(4) for row in (sent(at, ended_ns=at * MS), read_back(at))]


def test_records_read_by_somebody_of_the_group_conform() -> None:
    """Conforming: what one member goes over, another one reads."""
    verdict = no_record_passed_over.judge(
        history([*LOG, consumed(0, 9), consumed(3, 10), consumed(1, 11, client=51), consumed(2, 12)])
    )
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary == "4 reads of consumers, none of which passed over a record"


def test_a_record_passed_over_violates() -> None:
    """Violating: the message has the reads around it, and when relative to the fault."""
    seen = history([*LOG, consumed(0, 9), consumed(2, 1500), consumed(3, 1501)], fault(300, "kill(broker-1)"))
    verdict = no_record_passed_over.judge(seen)
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    assert verdict.summary == "1 acknowledged record passed over by consumers: orders-0 at 1"
    [violation] = verdict.violations
    assert violation.expected == (
        "group billing reads record 1 of producer 1 at orders-0 offset 1, acknowledged 1 ms after the run began"
    )
    assert violation.observed == (
        "client 50 read 0, then 2 1.2 s after kill(broker-1) began, "
        "and no client of the group ever read what lies between"
    )
    alone = no_record_passed_over.judge(history([*LOG, consumed(0, 9, group=""), consumed(2, 10, group="")]))
    assert alone.violations[0].observed.endswith("and it never read what lies between")


def test_while_a_workload_runs_skips_are_inconclusive() -> None:
    """Inconclusive: its last reads may have no row yet, as the analysis of many runs holds, too."""
    running = event(EventKind.WORKLOAD_BEGAN, 0, workload="clients")
    verdict = no_record_passed_over.judge(history([*LOG, consumed(0, 9), consumed(2, 10)], [running]))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.HARNESS)


@pytest.mark.parametrize(
    ("rows", "lacking"),
    [
        ([consumed(0)], "was acknowledged"),
        (LOG, "was read by a consumer"),
        ([sent(0), consumed(0)], "was finally read"),
    ],
)
def test_without_sends_reads_or_a_final_read_it_is_inconclusive(rows: list[Row], lacking: str) -> None:
    """Inconclusive: nothing was sent, read, or read back, so it is unknown what there was to read."""
    verdict = no_record_passed_over.judge(history(rows))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert verdict.summary.startswith(f"no record {lacking}")
