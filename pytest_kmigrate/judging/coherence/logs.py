"""What nodes logged says of when and with which software they ran: logs have times and releases of their own."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache

from pytest_kmigrate.checkers.evidence.logs import ZONES_NS
from pytest_kmigrate.distributions.releases import SHAPE, commit_of, known_releases, locked_release
from pytest_kmigrate.distributions.versions import numbers_of
from pytest_kmigrate.judging.coherence.clocks import is_set, set_clocks
from pytest_kmigrate.judging.coherence.header import start_of
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import History
from pytest_kmigrate.recording.disagreement import Disagreement
from pytest_kmigrate.recording.run_folder import RunFolder

_RELEASE = re.compile(rb"Kafka version: (\S{1,40}) \(")
_BEFORE_RELEASE = b"Kafka version: "
_COMMIT = re.compile(rb"Kafka commitId: (\S{1,64}) \(")
_BEFORE_COMMIT = b"Kafka commitId: "
_TIME = re.compile(rb"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d):(\d\d),(\d{3}) ")
"""How lines begin; from 4.0 on, a T is between date and time."""
_S = 1_000_000_000
_LATE_S, _EARLY_S = 5, 120
"""A line is written when it is logged, or when a held node goes on; clocks are set while nodes run."""


def logs_have_their_release(folder: RunFolder, history: History) -> Iterator[Disagreement]:
    """A node that runs the jars of a release logs that release and its commit, and a build none of another line.

    A build may call itself anything else.
    """
    starts = history.of(NodeStarted)
    for node in sorted({str(each.node) for each in starts}):
        ran = {each.what.kafka: each for each in starts if each.node == node}
        log, first = _log(folder, history, node), next(iter(ran.values()))
        started = f"event {first.seq} starts {node} with Kafka {first.what.kafka}"
        named = set(_named_in(log, _BEFORE_RELEASE, _RELEASE))
        if not all(_is_release(name, each.what.digest) for name, each in ran.items()):
            if others := sorted(named - set(_of_these_lines(named, ran))):
                yield Disagreement(started, f"its log has Kafka {others[0]}, of another line")
            continue
        if others := sorted(named - ran.keys()):
            yield Disagreement(started, f"its log has Kafka {others[0]}")
        commits = set(map(commit_of, ran))
        if None not in commits and (others := sorted(set(_named_in(log, _BEFORE_COMMIT, _COMMIT)) - commits)):
            yield Disagreement(started, f"its log has the commit {others[0]}, which that release is not built from")


def logs_have_the_time(folder: RunFolder, history: History) -> Iterator[Disagreement]:
    """What was logged between two events has a time between theirs, in some time zone; one for each log.

    Nodes of somebody else's cluster may have other clocks, and are left out, as is what a node logged while a fault had
    set its clock.
    """
    began, off = start_of(history.header), set_clocks(history)
    if began is None:
        return
    ours = {str(each.node) for each in history.of(NodeStarted) if each.what.digest is not None}
    logs = {node: _log(folder, history, node) for node in sorted(ours)}
    before = dict.fromkeys(ours, (0, 0))
    for event in history.events:
        for node, size in event.log_bytes.items():
            if node not in logs:
                continue
            (begin, since_ns), before[node] = before[node], (size, event.at_ns)
            if is_set(off.get(node, ()), since_ns, event.at_ns):
                continue
            at_ns = _last_time(logs[node], begin, size)
            if at_ns is not None and not _is_within(at_ns - _ns(began), since_ns, event.at_ns):
                logs.pop(node)
                yield Disagreement(
                    f"the log of {node} grew from byte {begin} to {size} until event {event.seq}, "
                    f"{event.at_ns / _S:.3f} s after {history.header.started_at}",
                    f"its last line there has the time {datetime.fromtimestamp(at_ns / _S, UTC):%Y-%m-%d %H:%M:%S}",
                )


def _is_release(name: str, digest: str | None) -> bool:
    return name in known_releases() and locked_release(name).digest() == digest


def _of_these_lines(named: Iterable[str], ran: Iterable[str]) -> Iterator[str]:
    """What is of a line of releases that a node ran, or where either is numbered by a vendor."""
    lines = {_line(each) for each in ran}
    for each in named:
        if None in lines or _line(each) in {None, *lines}:
            yield each


@cache
def _line(version: str) -> tuple[int, ...] | None:
    """The line that a version is of, such as 3.9; None if no release of Apache Kafka is."""
    if SHAPE.match(version) is None:
        return None
    line = numbers_of(version).release[:2]
    return line if any(numbers_of(each).release[:2] == line for each in known_releases()) else None


def _log(folder: RunFolder, history: History, node: str) -> bytes:
    """What a node logged in the run; empty where there is nothing of it."""
    file = folder.log(node)
    size = history.events[-1].log_bytes.get(node, 0) if history.events else 0
    return folder.content(file)[:size] if file.is_file() else b""


def _named_in(log: bytes, before: bytes, pattern: re.Pattern[bytes]) -> Iterator[str]:
    """What a node logged as its release, or its commit, at each start."""
    at = log.find(before)  # many times as fast as the pattern in megabytes that have it a few times
    while at >= 0:
        if match := pattern.match(log, at):
            yield match[1].decode(errors="replace")
        at = log.find(before, at + 1)


def _last_time(log: bytes, begin: int, end: int) -> int | None:
    """The time of the last line there that has one, in nanoseconds, as if it were UTC."""
    while (at := log.rfind(b"\n2", begin, end)) >= 0:
        if match := _TIME.match(log, at + 1):
            return _minute(match[1]) + int(match[2]) * _S + int(match[3]) * _S // 1000
        end = at
    return None


@cache
def _minute(text: bytes) -> int:
    try:
        return _ns(datetime.fromisoformat(text.decode()).replace(tzinfo=UTC))
    except ValueError:
        return 0


def _ns(moment: datetime) -> int:
    return int(moment.timestamp()) * _S + moment.microsecond * 1000


def _is_within(at_ns: int, since_ns: int, until_ns: int) -> bool:
    """Whether a time of any zone lies between two moments of the run."""
    width = until_ns - since_ns + (_LATE_S + _EARLY_S) * _S
    return (at_ns - since_ns + _EARLY_S * _S) % ZONES_NS <= width
