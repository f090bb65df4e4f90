"""Checks of ``/migration`` as ZooKeeper logged it: it follows the metadata log, and never runs ahead of it."""

from bisect import bisect_right
from collections.abc import Sequence

from pytest_kmigrate.checkers.controllers.raft_logs import high_watermark
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_begun_of
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import (
    EVIDENCE,
    data_of,
    dual_writes,
    has_transactions,
    named,
    position_set,
)
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION, writer_in
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History, Sample, Transaction
from pytest_kmigrate.model.verdict import Kind, Verdict

_ADVANCE, _COMMITTED = "K866-DW-offset-advance", "K866-DW-committed-first"
_FOLLOWS_NS = 30_000_000_000
"""By then even the writes of a whole synchronization are followed by the offset up to which they go."""
_BATCH_NS = 500_000_000
"""Writes that came so shortly before the end of the run may be followed by the offset of their batch."""
_SOON_NS = 2_000_000_000
"""A sample that much later still says something of the high watermark at the write."""
_CLOCKS_NS = 50_000_000
"""What ZooKeeper's clock, which counts milliseconds, and the run's may differ by."""


@checker(
    _ADVANCE,
    _COMMITTED,
    in_every_run=has_transactions,
    anomaly="ZooKeeper is not where the log is",
    needs=[Capability.ZOOKEEPER_LOG],
)
def zookeeper_follows_the_log(history: History) -> Verdict:
    """Each write to ZooKeeper puts the offset of its record into ``/migration``, and only committed offsets come there.

    Writes that leave the offset as it was violate K866-DW-offset-advance; so does an offset that stays while one
    session writes for 30 s without a fault. An offset at or above the high watermark that the same controller reports
    later, within 2 s, was not committed.
    """
    rows = ByRequirement(_ADVANCE, _COMMITTED)
    writes = dual_writes(history)
    _judge_steps(history, rows, writes)
    _judge_standing(history, rows, writes)
    _judge_committed(history, rows, writes)
    text = f"{counted(len(writes), 'transaction')} of KRaft controllers, {MIGRATION} never behind or ahead"
    return rows.verdict(text, "ZooKeeper logged no change by a KRaft controller in charge")


def _judge_steps(history: History, rows: ByRequirement, writes: Sequence[Transaction]) -> None:
    """Whether each write of data raises the offset; how many writes raise it after the first one that does not."""
    offset, lazy, count, raised = -1, list[Transaction](), 0, 0
    for each in writes:
        position = position_set(each)
        if data_of(each):
            count += 1
            if position is None or position <= offset:
                lazy.append(each)
        raised += int(bool(lazy) and position is not None and position > offset)
        offset = offset if position is None else position
    if lazy and not raised and 0 <= history.end_ns - lazy[0].at_ns < _BATCH_NS:
        return  # the run ended before the offset could be raised
    rows.looked_at(_ADVANCE, count)
    if lazy:
        first = lazy[0]
        observed = (
            f"{len(lazy)} of {counted(count, 'write')} leave the offset as it was, {raised_by(raised)}; "
            f"the first is {named(first)}, of {data_of(first)[0].path}"
        )
        expected = f"each write puts the offset of its record into {MIGRATION}"
        rows.violated(_ADVANCE, timed_violation(history, expected, observed, first.at_ns, EVIDENCE))


def raised_by(count: int) -> str:
    """How many later writes raise an offset that was left as it was."""
    return f"which {count} later ones raise"


def _judge_standing(history: History, rows: ByRequirement, writes: Sequence[Transaction]) -> None:
    """Whether the offset stays while a session goes on writing; each time that it does is one violation."""
    offset = -1
    since: Transaction | None = None
    reported: Transaction | None = None
    for each in writes:
        position = position_set(each)
        if (position is not None and position > offset) or (since is not None and since.session != each.session):
            since = None
        offset = offset if position is None else position
        if not data_of(each):
            continue
        since = since or each
        lasted_ns = each.at_ns - since.at_ns
        if lasted_ns > _FOLLOWS_NS and since is not reported and not faults_begun_of(history, since.at_ns, each.at_ns):
            observed = f"offset {offset} stays for {span(lasted_ns)} of writes"
            expected = f"{MIGRATION} follows what is written"
            rows.violated(_ADVANCE, timed_violation(history, expected, observed, each.at_ns, EVIDENCE), Kind.LIVENESS)
            reported = since


def _judge_committed(history: History, rows: ByRequirement, writes: Sequence[Transaction]) -> None:
    by_node: dict[str, list[Sample]] = {}
    for each in history.samples:
        if each.values.get("ActiveControllerCount") == 1 and high_watermark(each) >= 0:
            by_node.setdefault(each.node, []).append(each)
    standing = -1
    for write in writes:
        # Who takes over writes the offset that it found; the log in which that was committed may be another one.
        position, standing = _raised(write, standing)
        sample = _next_sample(by_node.get(_controller(write), []), write.at_ns)
        if sample is None or position is None:
            continue
        watermark = high_watermark(sample)
        rows.looked_at(_COMMITTED)
        if position >= watermark:
            later = span(sample.at_ns - write.at_ns)
            observed = (
                f"{named(write)} puts {position} there; "
                f"{later} later {sample.node} reports the high watermark {watermark:g}"
            )
            expected = f"{MIGRATION} holds offsets below the high watermark"
            rows.violated(_COMMITTED, timed_violation(history, expected, observed, write.at_ns, EVIDENCE))


def _raised(write: Transaction, standing: int) -> tuple[int | None, int]:
    """The offset that a write puts into the znode, None if it leaves it as it was; and the offset after it."""
    position = position_set(write)
    now = standing if position is None else position
    return (None if now in (standing, -1) else now), now


def _controller(transaction: Transaction) -> str:
    return next((writer_in(each) for each in transaction.changes if each.path == MIGRATION), "")


def _next_sample(samples: Sequence[Sample], at_ns: int) -> Sample | None:
    number = bisect_right(samples, at_ns + _CLOCKS_NS, key=lambda each: each.at_ns)
    found = samples[number] if number < len(samples) else None
    return found if found is not None and found.at_ns - at_ns <= _SOON_NS else None
