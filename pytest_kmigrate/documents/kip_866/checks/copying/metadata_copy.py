"""Check of the copy as the metadata log has it: one transaction, with the record that the migration has begun."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.quorum_stops import without_quorum
from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import faults_during, when
from pytest_kmigrate.checkers.evidence.replicas import served_ns
from pytest_kmigrate.checkers.evidence.wording import span
from pytest_kmigrate.documents.kip_866.checks.log_images import LogImage, RecordedState, has_log_images, log_images
from pytest_kmigrate.documents.kip_866.phases import LEGAL_EDGES, ZkMigrationState
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, not_applicable, violates

_LONG_NS = 20_000_000_000  # by then a copy that goes on has ended
_FIRST = (ZkMigrationState.NONE, ZkMigrationState.PRE_MIGRATION)


@dataclass(frozen=True)
class _Mistake:
    """What is wrong in a log; every later image of the same log shows it again."""

    life: int
    offset: int
    """Of the record that makes it one."""
    expected: str
    observed: str


@checker(
    "K866-PROC-single-transaction",
    "K866-REC-start-record",
    in_every_run=has_log_images,
    anomaly="copy outside its transaction",
    needs=[Capability.METADATA_LOG],
)
def copy_is_one_transaction(history: History) -> Verdict:
    """The copied metadata is one transaction of the metadata log, which also holds the record that ends the copy.

    Transactions never nest, and none stays open; the states recorded are PRE_MIGRATION, MIGRATION and POST_MIGRATION,
    each once, or NONE before them. A copy that was aborted counts for nothing: the next one starts anew. What the
    controllers were formatted with comes with the first state and is not of the copy. Before metadata.version 3.6-IV1
    there are no transactions, and a log with only a snapshot left proves nothing. Nor does the part of a log that
    came with a checkpoint: its copy was made in another run.
    Source: K866-PROC-single-transaction, K866-REC-start-record.
    """
    images = log_images(history)
    if not images:
        return inconclusive(Kind.VACUOUS, "no image of a metadata log was taken")
    logs = [log for log in images if log.has_transactions and not log.begins_with_snapshot]
    first_seen = {mistake: log for log in reversed(logs) for mistake in _own_mistakes(log)}
    found = [_violation(history, log, mistake) for mistake, log in first_seen.items()]
    if found:
        return violates(Kind.SAFETY, found, images=len(logs))
    left_open = list(_left_open(history, logs))
    if left_open:
        return violates(Kind.LIVENESS, left_open, images=len(logs))
    copied = [(log, log.copied) for log in logs if log.copied]
    own = [(log, state) for log, state in copied if state.offset > log.inherited_until]
    if copied and not own:
        return inconclusive(Kind.VACUOUS, "the only copy came with the checkpoint that the run began from")
    copies = {log.life: place for log, state in own if (place := _transaction_of(log, state))}
    if not copies:
        text = "no image holds a copy, from the beginning of a log that has transactions"
        return not_applicable(text)
    reported = "; ".join(f"offsets {begin} to {end}" for begin, end in copies.values())
    return conforms(f"the copy is one transaction of the metadata log: {reported}", images=len(logs))


def _own_mistakes(log: LogImage) -> list[_Mistake]:
    return [mistake for mistake in _mistakes(log) if mistake.offset > log.inherited_until]


def _mistakes(log: LogImage) -> Iterator[_Mistake]:
    opened: int | None = None
    for offset, event in log.transactions:
        if (event == "begin") is (opened is not None):
            others = f"the one begun at offset {opened} was open" if event == "begin" else "none was open"
            observed = f"{event} at {offset}: {others}"
            yield _Mistake(log.life, offset, "transactions begin and end one after the other", observed)
        opened = offset if event == "begin" else None
    if log.states and log.states[0].state not in _FIRST:
        observed = f"{log.states[0]} (offset {log.states[0].offset}) is the first state of the log"
        yield _Mistake(log.life, log.states[0].offset, "a log begins with PRE_MIGRATION, or NONE", observed)
    for before, after in itertools.pairwise(log.states):
        if (before.state, after.state) not in LEGAL_EDGES:
            observed = f"after {before} (offset {before.offset}) came {after} (offset {after.offset})"
            yield _Mistake(log.life, after.offset, "each state is recorded once, and none is skipped", observed)
    for copied in (each for each in log.states if each.state is ZkMigrationState.MIGRATION):
        yield from _outside(log, copied)
        yield from _in_former_ones(log, copied)


def _outside(log: LogImage, copied: RecordedState) -> Iterator[_Mistake]:
    if _transaction_of(log, copied) is None:
        observed = f"{copied} was recorded at offset {copied.offset}, in no transaction that came to its end"
        yield _Mistake(log.life, copied.offset, f"{copied} is recorded in the transaction of the copy", observed)
    if copied.outside:
        counts = ", ".join(f"{count} {kind}" for kind, count in copied.outside.items())
        observed = f"outside of any transaction: {counts}"
        yield _Mistake(log.life, copied.offset, "all that is copied is in the transaction", observed)


def _in_former_ones(log: LogImage, copied: RecordedState) -> Iterator[_Mistake]:
    """Metadata that transactions between the first state and that of the copy made true, and so visible, too early."""
    of_copy, of_first = _transaction_of(log, copied), _transaction_of(log, log.states[0])
    if of_copy is None:
        return
    first = of_first[1] if of_first else log.states[0].offset
    for end, metadata in log.metadata_until.items():
        if first < end < of_copy[0]:
            counts = ", ".join(f"{count} {kind}" for kind, count in metadata.items())
            observed = f"{counts} in one that ended at {end}, before that of {copied} began at {of_copy[0]}"
            yield _Mistake(log.life, copied.offset, "all that is copied is in one transaction", observed)


def _transaction_of(log: LogImage, state: RecordedState) -> tuple[int, int] | None:
    """First and last offset of the finished transaction that a state was recorded in."""
    for (begin, first), (end, last) in itertools.pairwise(log.transactions):
        if (first, last) == ("begin", "end") and begin < state.offset < end:
            return begin, end
    return None


def _left_open(history: History, logs: Sequence[LogImage]) -> Iterator[Violation]:
    """Transactions open in two images far apart; a fault, or a stop of the quorum, may be what keeps one open."""
    for before, after in itertools.combinations(logs, 2):
        age_ns = served_ns(before.ended_ns, after.began_ns, without_quorum(history))
        is_same = (before.life, before.open_since) == (after.life, after.open_since)
        if before.open_since is None or not is_same or age_ns < _LONG_NS:
            continue
        if not faults_during(history, before.began_ns, after.ended_ns):
            observed = f"the one begun at offset {before.open_since} is still open {span(age_ns)} later"
            yield violation_at(history, "a transaction ends", observed, after.ended_ns, before.file, after.file)


def _violation(history: History, log: LogImage, mistake: _Mistake) -> Violation:
    observed = f"{mistake.observed} (seen {when(history, log.ended_ns)})"
    return violation_at(history, mistake.expected, observed, log.ended_ns, log.file)
