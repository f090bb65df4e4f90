"""Checks of the metadata logs of all nodes: each conforms, is violated, and says nothing."""

from collections.abc import Sequence

from pytest_kmigrate.checkers.controllers.raft_logs import (
    committed_metadata_is_kept,
    one_leader_per_epoch_in_the_logs,
    one_metadata_log,
)
from pytest_kmigrate.model.checks import AnyChecker
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import Batch, History, Sample
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, history, sample

LOG = (Batch(0, 0, 1, 10, leader=3000), Batch(1, 4, 1, 11), Batch(5, 5, 2, 12, leader=3001), Batch(6, 9, 2, 13))
NODES = ("controller-3000", "controller-3001", "broker-0")


def run(logs: Sequence[Sequence[Batch]], samples: Sequence[Sample] = (), more: Sequence[Event] = ()) -> History:
    """A run at the end of which nodes have these logs."""
    started = [event(EventKind.NODE_STARTED, 0, node, role=node.partition("-")[0]) for node in NODES]
    read = [
        event(EventKind.RAFT_LOG, 9_000, node, batches=[each.as_row() for each in log])
        for node, log in zip(NODES, logs, strict=False)
    ]
    return history(events=[*started, *more, *read], samples=samples)


def reported(node: str, below: int, epoch: int, at_ms: int = 100) -> list[Sample]:
    """A node reports a high watermark in an epoch, twice."""
    return [sample(at, node, RaftHighWatermark=below, RaftCurrentEpoch=epoch) for at in (at_ms, at_ms + 100)]


def is_judged(checker: AnyChecker, history: History) -> bool:
    """Whether a check that nobody asked for judges this run."""
    assert checker.in_every_run is not None
    return checker.in_every_run(history)


ALL_COMMITTED = [each for node in NODES for each in reported(node, 10, 2)]


def test_one_leader_for_each_epoch() -> None:
    """Two logs that name different leaders of an epoch violate; logs without a leader say nothing."""
    assert (
        one_leader_per_epoch_in_the_logs.judge(run([LOG, LOG])).summary == "2 epochs in the logs, each with one leader"
    )
    other = (*LOG[:2], Batch(5, 5, 2, 12, leader=3002))
    verdict = one_leader_per_epoch_in_the_logs.judge(run([LOG, other]))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.SAFETY)
    assert verdict.violations[0].observed.startswith(
        "3001 in the log of controller-3000, 3002 in that of controller-3001"
    )
    assert one_leader_per_epoch_in_the_logs.judge(run([LOG[1:2]])).outcome is Outcome.INCONCLUSIVE
    assert is_judged(one_leader_per_epoch_in_the_logs, run([LOG]))
    assert not is_judged(one_leader_per_epoch_in_the_logs, run([LOG[1:2]]))


def test_nodes_have_one_log() -> None:
    """A batch that differs below what both know to be committed violates; what is above may be taken back."""
    verdict = one_metadata_log.judge(run([LOG, LOG, LOG[2:]], ALL_COMMITTED))
    assert (verdict.outcome, verdict.summary) == (
        Outcome.CONFORMS,
        "6 batches on more than one node, each the same on all",
    )
    other = (*LOG[:3], Batch(6, 9, 2, 14))
    verdict = one_metadata_log.judge(run([LOG, other], ALL_COMMITTED))
    assert (verdict.outcome, verdict.count) == (Outcome.VIOLATES, 1)
    assert "controller-3001 has offsets 6 to 9 of epoch 2, checksum 0000000e" in verdict.violations[0].observed
    of_stale = [*reported("controller-3000", 10, 2), *reported("controller-3001", 6, 2)]
    assert one_metadata_log.judge(run([LOG, other], of_stale)).outcome is Outcome.CONFORMS
    assert one_metadata_log.judge(run([LOG, other])).outcome is Outcome.INCONCLUSIVE
    assert is_judged(one_metadata_log, run([LOG, LOG[2:]], ALL_COMMITTED))
    assert not is_judged(one_metadata_log, run([LOG], ALL_COMMITTED))
    assert not is_judged(one_metadata_log, run([LOG[:2], LOG[2:]], ALL_COMMITTED))


def test_what_was_committed_is_kept() -> None:
    """Neither is the log shorter than what was committed, nor is there a later epoch in its place."""
    kept = committed_metadata_is_kept.judge(run([LOG, LOG[:2]], ALL_COMMITTED))
    assert (kept.outcome, kept.summary) == (
        Outcome.CONFORMS,
        "all metadata below 10 are in the logs as they were committed",
    )
    short = committed_metadata_is_kept.judge(run([LOG[:3], LOG[:3]], ALL_COMMITTED))
    assert (short.outcome, short.violations[0].observed[:46]) == (
        Outcome.VIOLATES,
        "the longest log, that of controller-3000, ends",
    )
    early = [*reported("controller-3000", 8, 1), *reported("controller-3001", 10, 2, at_ms=500)]
    replaced = committed_metadata_is_kept.judge(run([LOG, LOG], early))
    assert (replaced.outcome, replaced.count) == (Outcome.VIOLATES, 2)
    assert replaced.violations[0].observed.startswith("controller-3000 has offsets 5 to 5 of epoch 2")
    assert committed_metadata_is_kept.judge(run([LOG, LOG], reported("broker-0", 5, 1))).outcome is Outcome.CONFORMS
    assert committed_metadata_is_kept.judge(run([LOG, LOG])).outcome is Outcome.INCONCLUSIVE
    assert is_judged(committed_metadata_is_kept, run([LOG], ALL_COMMITTED))
    assert not is_judged(committed_metadata_is_kept, run([LOG, LOG]))


def test_logs_of_which_another_life_began_are_not_compared() -> None:
    """All controllers were emptied, so their logs begin anew."""
    wiped = [event(EventKind.NODE_WIPED, 500, node) for node in NODES[:2]]
    anew = run([LOG, LOG], ALL_COMMITTED, wiped)
    every = (one_metadata_log, committed_metadata_is_kept, one_leader_per_epoch_in_the_logs)
    assert not any(is_judged(each, anew) for each in every)
