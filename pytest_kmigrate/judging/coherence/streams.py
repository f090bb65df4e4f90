"""What metrics, znodes and answers to clients say of the events of their run."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pytest_kmigrate.judging.coherence.clocks import is_set, set_clocks
from pytest_kmigrate.judging.coherence.header import start_of
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.recording.disagreement import Disagreement

_WRITTEN = re.compile(r'"timestamp":"(\d{13})"')
_CLOCKS_MS = 60_000
"""The clock of a machine may be set while a run goes on, which counts its own time."""
_SEEN_LATE_NS = 60_000_000_000
"""A watcher that had lost ZooKeeper sees a znode so late."""
_SEEN_BEFORE_NS = 2_000_000_000
"""A node is alive as soon as it is spawned, and its event comes a moment later: on a busy machine, 0.2 s."""


def within_the_run(history: History) -> Iterator[Disagreement]:
    """Nothing was observed after the last event, and no metrics of a node before its first start.

    A sample without any value is of a node that did not answer: it says nothing of whether it lived.
    """
    if not (history.events and history.events[-1].kind is EventKind.RUN_ENDED):
        return
    over = history.events[-1].at_ns
    for stream, times in (
        ("metrics", [each.at_ns for each in history.samples]),
        ("znodes", [each.at_ns for each in history.znodes]),
        ("clients/metadata", [each.at_ns for each in history.client_metadata]),
    ):
        last = max(times, default=0)
        if last > over:
            yield Disagreement(
                f"{stream} has an observation at {last / 1e9:.3f} s", f"the run ended at {over / 1e9:.3f} s"
            )
    started = {str(event.node): event.at_ns for event in reversed(history.of(NodeStarted))}
    answered = [each for each in history.samples if any(value is not None for value in each.values.values())]
    first = {sample.node: sample.at_ns for sample in reversed(answered)}
    for node in sorted({sample.node for sample in history.samples} - started.keys()):
        yield Disagreement(f"metrics has samples of {node}", "no event has its start")
    for node, at_ns in first.items():
        if node in started and at_ns < started[node] - _SEEN_BEFORE_NS:
            yield Disagreement(
                f"metrics has a sample of {node} at {at_ns / 1e9:.3f} s",
                f"its first start is at {started[node] / 1e9:.3f} s",
            )


def samples_are_numbered(history: History) -> Iterator[Disagreement]:
    """The samples of a node are numbered without a gap; those of version 0.1 have no numbers."""
    by_node: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in history.samples:
        by_node[sample.node].append(sample)
    for node, samples in by_node.items():
        if samples[0].number >= 0:
            yield from _numbered(node, samples)


def _numbered(node: str, samples: Sequence[Sample]) -> Iterator[Disagreement]:
    for place, sample in enumerate(samples):
        if sample.number != place:
            yield Disagreement(
                f"sample {place} of {node} is expected at {sample.at_ns / 1e9:.3f} s",
                f"metrics has sample {sample.number} there",
            )
            return


def znodes_are_numbered(history: History) -> Iterator[Disagreement]:
    """Changes of znodes are numbered without a gap; those of older folders have no numbers."""
    is_numbered = any(each.number >= 0 for each in history.znodes)
    for place, change in enumerate(history.znodes if is_numbered else ()):
        if change.number != place:
            yield Disagreement(
                f"change {place} of a znode is expected at {change.at_ns / 1e9:.3f} s",
                f"znodes has change {change.number} there, of {change.path}",
            )
            return


def znodes_grow(history: History) -> Iterator[Disagreement]:
    """ZooKeeper counts transactions, so a later change of a znode has a higher number."""
    last: dict[str, int] = {}
    for change in history.znodes:
        if change.data is not None and change.mzxid < last.get(change.path, -1):
            yield Disagreement(
                f"{change.path} was changed by transaction {last[change.path]}",
                f"znodes has its change by transaction {change.mzxid} later, at {change.at_ns / 1e9:.3f} s",
            )
            return
        last[change.path] = max(change.mzxid, last.get(change.path, -1))


def transactions_grow(history: History) -> Iterator[Disagreement]:
    """ZooKeeper's transactions are logged in the order of their numbers."""
    for before, after in pairwise(history.transactions):
        if after.zxid <= before.zxid:
            yield Disagreement(f"transaction {before.zxid} was logged first", f"transaction {after.zxid} follows it")
            return


def znodes_have_their_transactions(history: History) -> Iterator[Disagreement]:
    """A change of a znode is in the transaction that it names; those of the harness's own are in no log."""
    written = {each.zxid: {write.path: write.data for write in each.changes} for each in history.transactions}
    for change in history.znodes:
        paths = written.get(change.mzxid)
        if change.data is None or paths is None:
            continue
        named = f"znodes has a change of {change.path} by transaction {change.mzxid}"
        if change.path not in paths:
            wrote = ", ".join(sorted(paths)) or "nothing"
            yield Disagreement(named, f"that transaction, in ZooKeeper's log, wrote {wrote}")
            return
        data = paths[change.path]
        if data is not None and data != change.data:
            yield Disagreement(f"{named} to {_short(change.data)}", f"ZooKeeper's log has {_short(data)} there")
            return


def znodes_have_the_time(history: History) -> Iterator[Disagreement]:
    """A time that a node wrote into an ephemeral znode of its own in this run is one of this run.

    Nodes of somebody else's cluster may have other clocks, and tests write what they like. A znode does not say which
    node wrote it, so that none is looked at which was written while a fault had set any clock.
    """
    header = history.header
    began = start_of(header)
    if began is None or not any(each.what.digest for each in history.of(NodeStarted)):
        return
    began_ms = began.timestamp() * 1000
    off = [span for spans in set_clocks(history).values() for span in spans]
    for change in history.znodes:
        written = _WRITTEN.search(change.data or "") if change.is_ephemeral else None
        if written is None or change.mzxid <= header.inherited_zxid:
            continue
        if is_set(off, change.at_ns - _SEEN_LATE_NS, change.at_ns):
            continue
        since_ms, seen_ms = int(written[1]) - began_ms, change.at_ns / 1e6
        if not -_CLOCKS_MS <= since_ms <= seen_ms + _CLOCKS_MS:
            yield Disagreement(
                f"{change.path} was seen {seen_ms / 1000:.3f} s after {header.started_at}",
                f"it has a time {since_ms / 1000:.3f} s after that",
            )
            return


def _short(data: str) -> str:
    text = repr(data)
    return text if len(text) <= 80 else f"{text[:77]}..."
