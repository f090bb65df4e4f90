"""Checks of consumers: positions and commits."""

from pytest_kmigrate.checkers.clients.consumers import (
    committed_offsets_never_run_backwards,
    consumer_positions_never_run_backwards,
)
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import FAILED, INDEFINITE, committed, consumed, fault, history


def test_reading_forwards_and_again_from_the_committed_offset_conforms() -> None:
    """Conforming: after a re-assignment what was read but not committed may be read again, by whomever."""
    rows = [consumed(0, 1), consumed(1, 2), committed(2, 3), consumed(2, 5), consumed(3, 6), consumed(2, 9)]
    verdict = consumer_positions_never_run_backwards.judge(history([*rows, consumed(2, 12, client=51)]))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.facts["steps_back"] == 1


def test_reading_again_below_the_committed_offset_violates() -> None:
    """Violating: offset 2 was committed, the client goes back to 1; the message names the floor and the time."""
    rows = [consumed(0, 1), consumed(1, 2), committed(2, 3), consumed(2, 5), consumed(1, 1500)]
    verdict = consumer_positions_never_run_backwards.judge(history(rows, fault(300, "pause(broker-1)")))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    [violation] = verdict.violations
    assert violation.expected == "client 50 reads orders-0 on from 2 or above (committed by group billing)"
    assert violation.observed == "it read 1 1.2 s after pause(broker-1) began"


def test_another_member_that_starts_below_the_committed_offset_violates() -> None:
    """Violating: the first read of a new member counts like a step back."""
    rows = [consumed(0, 1), consumed(1, 2), committed(2, 3), consumed(0, 9, client=51)]
    assert consumer_positions_never_run_backwards.judge(history(rows)).count == 1


def test_a_commit_that_overlaps_or_timed_out_leaves_both_offsets_admissible() -> None:
    """A commit in progress when the read began, or an indefinite one, need not be in force, nor be without force."""
    in_progress = [committed(1, 0), committed(9, 4, took_ms=10), consumed(1, 5)]
    late = [committed(1, 0, outcome=INDEFINITE), committed(9, 4), consumed(1, 20)]
    overlapping = [committed(9, 0, took_ms=5), committed(4, 1, took_ms=5), consumed(4, 20)]
    for rows in (in_progress, late, overlapping):
        assert consumer_positions_never_run_backwards.judge(history(rows)).outcome is Outcome.CONFORMS
    below_all = [committed(1, 0, outcome=INDEFINITE), committed(9, 4), consumed(0, 20)]
    assert consumer_positions_never_run_backwards.judge(history(below_all)).outcome is Outcome.VIOLATES
    failed_commit = [committed(1, 0, outcome=FAILED), committed(9, 4), consumed(1, 20)]
    assert consumer_positions_never_run_backwards.judge(history(failed_commit)).outcome is Outcome.VIOLATES


def test_what_was_done_once_proves_nothing() -> None:
    """Inconclusive: one record read, by clients that have nothing to do with each other, or one offset committed."""
    for rows in ([consumed(5, 1)], [consumed(5, 1, group=""), consumed(6, 2, group="", client=51)]):
        assert consumer_positions_never_run_backwards.judge(history(rows)).is_vacuous
    assert committed_offsets_never_run_backwards.judge(history([committed(5, 1)])).is_vacuous
    members = [consumed(5, 1), consumed(6, 2, client=51)]
    assert consumer_positions_never_run_backwards.judge(history(members)).outcome is Outcome.CONFORMS


def test_a_consumer_without_a_group_never_steps_back() -> None:
    """Violating: nothing can re-assign a consumer that assigned itself; the same offset twice is a step back too."""
    rows = [consumed(3, 1, group=""), consumed(4, 2, group=""), consumed(4, 3, group="")]
    verdict = consumer_positions_never_run_backwards.judge(history(rows))
    assert verdict.violations[0].expected == (
        "client 50 reads orders-0 on from 5 or above (its own reading so far, without a group)"
    )


def test_steps_back_without_any_commit_are_inconclusive() -> None:
    """Inconclusive: no recorded commit, nothing to hold a step back against; reading forwards needs none."""
    verdict = consumer_positions_never_run_backwards.judge(history([consumed(3, 1), consumed(1, 2)]))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert (
        consumer_positions_never_run_backwards.judge(history([consumed(3, 1), consumed(4, 2)])).outcome
        is Outcome.CONFORMS
    )


def test_positions_without_reads_are_inconclusive() -> None:
    """Inconclusive: no client read."""
    assert consumer_positions_never_run_backwards.judge(history([committed(1, 1)])).outcome is Outcome.INCONCLUSIVE


def test_rising_commits_conform() -> None:
    """Conforming: equal and rising commits, by group and partition; overlapping ones in either order."""
    rows = [committed(5, 1), committed(5, 3), committed(9, 5), committed(1, 6, partition=1), committed(2, 7, group="x")]
    overlapping = [committed(20, 10, took_ms=5), committed(15, 12)]
    assert committed_offsets_never_run_backwards.judge(history([*rows, *overlapping])).outcome is Outcome.CONFORMS


def test_a_falling_commit_violates() -> None:
    """Violating: 9 was acknowledged before 5 was sent, by any producer; a failed or indefinite one is none."""
    rows = [committed(9, 1), committed(7, 3, outcome=INDEFINITE), committed(5, 6, client=51), committed(9, 8)]
    verdict = committed_offsets_never_run_backwards.judge(history(rows))
    assert (verdict.outcome, verdict.count) == (Outcome.VIOLATES, 1)
    assert verdict.summary == "1 of 3 commits went below an earlier one: orders-0 at 5"
    assert verdict.violations[0].observed == "client 51 committed 5 7 ms after the run began"


def test_no_commit_is_inconclusive() -> None:
    """Inconclusive: no commit was acknowledged."""
    verdict = committed_offsets_never_run_backwards.judge(history([committed(5, 1, outcome=FAILED)]))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
