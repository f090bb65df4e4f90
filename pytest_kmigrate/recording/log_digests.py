"""Digests of the logs of nodes while they grow: what was logged before an event cannot be other later."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.recording.disagreement import Disagreement
from pytest_kmigrate.recording.reading import digests_of
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.redaction.logs import log_without_secrets

_LEAST_BYTES = 16 * 2**10
"""A log that has grown by less waits for its next digest, unless all that there is is wanted."""

Block = tuple[str, int, int, str]
"""Of which node's log, from which byte, to which one (exclusive), and the SHA-256 of what lies between."""


@dataclass(frozen=True)
class Logged:
    """What an event says of the logs: their sizes, and digests of what is new in them since the digest before."""

    sizes: Mapping[str, int]
    digests: Mapping[str, str]


class GrowingLogs:
    """The logs of one run, each digested block by block as events are recorded."""

    def __init__(self) -> None:
        self._digested: dict[str, int] = {}
        self._blocks: list[Block] = []

    def look(self, files: Mapping[str, Path], before: Mapping[Path, int], *, all_of_it: bool) -> Logged:
        """The logs now. ``before``: bytes of a log that are of earlier runs; ``all_of_it``: also of small growth."""
        sizes = {node: log.stat().st_size - before.get(log, 0) for node, log in files.items() if log.exists()}
        digests = {}
        for node, size in sizes.items():
            begin = self._digested.get(node, 0)
            if size > begin and (all_of_it or size - begin >= _LEAST_BYTES):
                digests[node] = self._digest(node, files[node], before.get(files[node], 0), (begin, size))
        return Logged(sizes, digests)

    def _digest(self, node: str, log: Path, offset: int, span: tuple[int, int]) -> str:
        begin, end = span
        with log.open("rb") as file:
            file.seek(offset + begin)
            # Of what stays: by the digest of a line with a password, a dictionary would find the password.
            digest = hashlib.sha256(log_without_secrets(file.read(end - begin))).hexdigest()
        self._digested[node] = end
        self._blocks.append((node, begin, end, digest))
        return digest

    def hidden(self, folder: RunFolder) -> list[Block]:
        """The blocks that are other now, as secrets in them were hidden, with the digests of what is there."""
        contents = _Contents(folder)
        now = [(node, begin, end, contents.digest(node, begin, end)) for node, begin, end, _ in self._blocks]
        return [block for block, before in zip(now, self._blocks, strict=True) if block != before]


class _Contents:
    """Logs of a folder, each read once."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._read: dict[str, bytes] = {}

    def __getitem__(self, node: str) -> bytes:
        if node not in self._read:
            log = self._folder.log(node)
            self._read[node] = self._folder.content(log) if log.is_file() else b""
        return self._read[node]

    def digest(self, node: str, begin: int, end: int) -> str:
        return hashlib.sha256(self[node][begin:end]).hexdigest()

    def digest_of_what_stays(self, node: str, begin: int, end: int) -> str:
        """The digest after secrets are hidden, which they are when the run ends."""
        return hashlib.sha256(log_without_secrets(self[node][begin:end])).hexdigest()


def blocks_of(events: Sequence[Event]) -> Iterator[tuple[Event, Block]]:
    """The digested blocks of a run's logs, with the event that has each."""
    ends: dict[str, int] = {}
    for event in events:
        for node, digest in event.log_sha256.items():
            begin, end = ends.get(node, 0), event.log_bytes.get(node, 0)
            ends[node] = end
            yield event, (node, begin, end, digest)


def broken_logs(folder: RunFolder, events: Sequence[Event]) -> Iterator[Disagreement]:
    """Logs that are not what they were at an event: lines were added, changed, or taken out; one for each log.

    None in older folders, which have no digests; slices of logs in them may be shorter than the last event has them.
    """
    if not any(event.log_sha256 for event in events):
        return
    contents, broken = _Contents(folder), set[str]()
    goes_on = events[-1].kind is not EventKind.RUN_ENDED
    hidden = {tuple(each[:3]): each[3] for each in _hidden_in(events)}
    for event, (node, begin, end, digest) in blocks_of(events):
        if node in broken:
            continue
        known = {digest, hidden.get((node, begin, end))}
        is_known = contents.digest(node, begin, end) in known
        if not is_known and not (goes_on and contents.digest_of_what_stays(node, begin, end) in known):
            broken.add(node)
            yield Disagreement(
                f"event {event.seq} has the digest of bytes {begin} to {end} of the log of {node}",
                f"the file has {'other contents there' if contents[node] else 'none of them'}",
            )
    yield from _shrunk(contents, events, broken)
    yield from _grown(folder, contents, events)


def _shrunk(contents: _Contents, events: Sequence[Event], broken: set[str]) -> Iterator[Disagreement]:
    """A log never gets shorter, and the file has all of it."""
    longest: dict[str, Event] = {}
    for event in events:
        for node, size in event.log_bytes.items():
            before = longest.get(node)
            if before is not None and size < before.log_bytes[node] and node not in broken:
                broken.add(node)
                yield Disagreement(
                    f"event {before.seq} has {before.log_bytes[node]} bytes in the log of {node}",
                    f"event {event.seq} has {size}",
                )
            longest[node] = event
    for node, event in longest.items():
        if node not in broken and len(contents[node]) < event.log_bytes[node]:
            yield Disagreement(
                f"event {event.seq} has {event.log_bytes[node]} bytes in the log of {node}",
                f"the file has {len(contents[node])}",
            )


def _grown(folder: RunFolder, contents: _Contents, events: Sequence[Event]) -> Iterator[Disagreement]:
    """When a run has ended, its nodes log nothing more, but for those of a kept cluster; its manifest names these."""
    if not (events and events[-1].kind is EventKind.RUN_ENDED and folder.manifest.is_file()):
        return
    _, kept = digests_of(folder)
    for node, size in events[-1].log_bytes.items():
        if len(contents[node]) > size and str(folder.log(node).relative_to(folder.path)) not in kept:
            yield Disagreement(
                f"the run ended with {size} bytes in the log of {node}", f"the file has {len(contents[node])}"
            )


def _hidden_in(events: Sequence[Event]) -> list[list[object]]:
    """The blocks in which secrets were hidden after their digests were taken."""
    hidden = events[-1].data.get("hidden") if events and events[-1].kind is EventKind.RUN_ENDED else None
    return [each for each in hidden if isinstance(each, list) and len(each) == 4] if isinstance(hidden, list) else []
