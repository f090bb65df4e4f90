"""What one run's reports are made of: its history, its verdicts, and slices of its nodes' logs, all without secrets."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.events.evidence import RunEnded
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Outcome, Verdict, Violation, merged
from pytest_kmigrate.recording.reading import read_header, read_history
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.verdicts import stored_verdicts
from pytest_kmigrate.redaction import redacted, redacted_values

_MOST_LOG_BYTES_BEFORE = 65_536
_LONG_LINE_BYTES = 600
"""Log lines are shorter on average; a window of that many bytes per line holds the lines asked for."""
_MOST_LOG_BYTES_AFTER = 16_384
_LONGEST_LINE = 400
_LONGEST_EVENT = 240
_EVENT_NAME = re.compile(r"event (\d+)\Z")
_END_OF_PEM = re.compile(r"-----END [A-Z0-9 ]+-----")


@dataclass(frozen=True)
class LogSlice:
    """A node's log around one moment: the lines up to it, and the first ones after it."""

    node: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class LogOffsets:
    """How long each node's log was when an event was recorded."""

    at_ns: int
    bytes_of: Mapping[str, int]


@dataclass(frozen=True)
class RunEvidence:
    """One run folder as its reports see it; ``notices`` say what is missing from it."""

    folder: RunFolder
    history: History
    checks: tuple[Verdict, ...]
    offsets: tuple[LogOffsets, ...]
    notices: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The worst verdict; a run without verdicts is INCONCLUSIVE."""
        return merged(verdict.outcome for verdict in self.checks if verdict.counts)

    @property
    def is_known(self) -> bool:
        """Whether it violates, and all that counts of it is explained by known bugs or deviations."""
        red = [verdict for verdict in self.checks if verdict.counts and verdict.outcome is Outcome.VIOLATES]
        return bool(red) and all(verdict.known_bugs for verdict in red)

    @property
    def violations(self) -> list[Violation]:
        """Every violation that a verdict shows, in the order of the verdicts."""
        return [violation for verdict in self.checks for violation in verdict.violations]

    @cached_property
    def end_ns(self) -> int:
        """The last instant anything is known of."""
        ended = self.history.operations.ended_ns
        last = [each[-1].at_ns for each in (self.history.events, self.history.samples) if each]
        return max([*last, int(ended.max()) if len(ended) else 0, 1])

    @cached_property
    def nodes(self) -> list[str]:
        """Every node that ever started or left a log, in the order they did."""
        started = [event.node for event in self.history.of(NodeStarted) if event.node]
        return list(dict.fromkeys([*started, *(node for offsets in self.offsets for node in offsets.bytes_of)]))

    def moment_of(self, violation: Violation) -> int | None:
        """When it was; without a time of its own, that of the last event it names."""
        if violation.at_ns is not None:
            return violation.at_ns
        return max((event.at_ns for event in self.events_of(violation)), default=None)

    def events_of(self, violation: Violation) -> list[Event]:
        """The events its evidence names."""
        numbers = [int(match[1]) for name in violation.evidence if (match := _EVENT_NAME.match(name))]
        return [event for event in self.history.events if event.seq in numbers]

    def log_slice(self, node: str, at_ns: int | None, lines_before: int, lines_after: int = 0) -> LogSlice | None:
        """The node's log around a moment (None: the end of the run); None when it has none."""
        log = self.folder.log_folder(node) / "server.log"
        if not log.is_file():
            return None
        size = log.stat().st_size
        moment, end = (size, size) if at_ns is None else self._bytes_around(node, at_ns, size)
        return _sliced(node, log, moment, end, (lines_before, lines_after))

    def _bytes_around(self, node: str, at_ns: int, size: int) -> tuple[int, int]:
        """The lengths of a log at the last event not after a moment, and at the first event after it."""
        earlier = [offsets.bytes_of.get(node, 0) for offsets in self.offsets if offsets.at_ns <= at_ns]
        later = (offsets.bytes_of.get(node, 0) for offsets in self.offsets if offsets.at_ns > at_ns)
        begin = min(earlier[-1] if earlier else 0, size)
        return begin, max(begin, min(next(later, size), size))


def read_evidence(folder: RunFolder) -> RunEvidence:
    """Read a run folder for its reports; what is missing or damaged becomes a notice, so that the rest is shown."""
    notices: list[str] = []
    try:
        history = read_history(folder)
    except RunFolderError as error:
        history = History(read_header(folder))
        notices.append(f"The evidence cannot be read, so nothing but the header is shown: {error}")
    checks: tuple[Verdict, ...] = ()
    if folder.verdicts.is_file():
        try:
            checks = tuple(stored_verdicts(folder))
        except RunFolderError as error:
            notices.append(f"verdicts.jsonl is damaged ({error}); judge the folder again with `kmigrate judge`.")
    else:
        notices.append(
            "No verdicts: the run was interrupted before it was judged. `kmigrate judge` judges what there is."
        )
    if not history.of(RunEnded):
        notices.append(
            "The history has no end: the run was cut off, and what is shown is what had been written by then."
        )
    return RunEvidence(folder, history, checks, tuple(_offsets(folder.history)), tuple(notices))


def event_text(event: Event) -> str:
    """An event's data as one line, cut where it gets too long for one."""
    parts = [f"{key}: {_plain(value)}" for key, value in redacted_values(event.data).items() if value not in (None, "")]
    text = " · ".join(parts)
    return text if len(text) <= _LONGEST_EVENT else f"{text[:_LONGEST_EVENT]}…"


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _offsets(history: Path) -> list[LogOffsets]:
    """Read from the raw lines: an Event does not carry them. A line cut by the end of the run has none."""
    found = []
    lines = history.read_text(encoding="utf-8", errors="replace").splitlines() if history.is_file() else []
    for text in lines:
        try:
            line = json.loads(text)
            found.append(LogOffsets(line["at_ns"], line.get("log_bytes", {})))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return found


def _sliced(node: str, log: Path, moment: int, end: int, lines: tuple[int, int]) -> LogSlice:
    """Redact a window as a whole, then cut it: a secret of several lines may lie across the moment."""
    first = max(0, moment - min(_MOST_LOG_BYTES_BEFORE, lines[0] * _LONG_LINE_BYTES))
    with log.open("rb") as file:
        file.seek(first)
        earlier = file.read(moment - first)
        if earlier and not earlier.endswith(b"\n"):
            earlier += file.readline()
        later = file.read(max(0, min(end, moment + _MOST_LOG_BYTES_AFTER) - file.tell()))
    if first:
        earlier = earlier.partition(b"\n")[2]
    window = earlier + later[: later.rfind(b"\n") + 1]
    every = _lines_without_secrets(window)
    # What is redacted may be fewer lines, never more; redacting the first part alone would take as long again.
    is_line_by_line = len(every) == _lines_in(window)
    so_far = _lines_in(earlier) if is_line_by_line else len(_lines_without_secrets(earlier))
    return LogSlice(node, tuple(every[max(0, so_far - lines[0]) : so_far]), tuple(every[so_far : so_far + lines[1]]))


def _lines_in(window: bytes) -> int:
    return len(window.decode("utf-8", errors="replace").splitlines())


def _lines_without_secrets(window: bytes) -> list[str]:
    text = window.decode("utf-8", errors="replace")
    end = _END_OF_PEM.search(text)
    if end and "-----BEGIN" not in text[: end.start()]:
        # The window begins inside a key: only its end shows this.
        text = text[end.end() :]
    return [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in redacted(text).splitlines()]
