"""Writes a run down as it happens: header first, events and observations line by line, manifest last."""

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.model.event import A, Event, EventKind, Recorded
from pytest_kmigrate.model.events.evidence import RunBegan, RunEnded, SnapshotTaken
from pytest_kmigrate.model.history import (
    ClientMetadata,
    Executed,
    RunHeader,
    Sample,
    Transaction,
    ZnodeChange,
)
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.recording.client_metadata import ClientLines
from pytest_kmigrate.recording.hiding import hide_secrets
from pytest_kmigrate.recording.log_digests import GrowingLogs, Logged
from pytest_kmigrate.recording.run_folder import SCHEMA, RunFolder
from pytest_kmigrate.recording.seals import SealedLines, seals_of
from pytest_kmigrate.recording.writing import json_lines, replace_text
from pytest_kmigrate.redaction import redacted_values


class RunRecorder:
    """The live end of a run folder. One per run; every method may be called from any thread."""

    def __init__(self, folder: RunFolder, header: RunHeader) -> None:
        self.folder = folder
        self.start_ns = time.monotonic_ns()
        self._lock = threading.RLock()
        self._seq = 0
        self.log_files: Callable[[], Mapping[str, Path]] = dict
        self.logged_before: Mapping[Path, int] = {}
        """How many bytes of a log file are of earlier runs on the same cluster."""
        self.ending = RunEnded()
        """What the last event of the history says."""
        self.is_hidden = False
        """Whether no log of the folder has a secret any more."""
        self.events: list[Event] = []
        lines = (folder.metrics, folder.znodes, folder.client_metadata)
        for parent in (*(each.parent for each in lines), folder.operations, folder.image("x").parent):
            parent.mkdir(parents=True, exist_ok=True)
        _write_whole(folder.header, redacted_values({"schema": SCHEMA, **asdict(header)}))
        self._lost: EnvironmentLackError | None = None
        self._history = SealedLines(folder.history)
        self._metrics = SealedLines(folder.metrics)
        self._znodes = SealedLines(folder.znodes)
        self._client_metadata = SealedLines(folder.client_metadata)
        self._client_lines = ClientLines()
        self._exercise = None
        if header.circumstances.exercise:
            folder.exercise.parent.mkdir(exist_ok=True)
            self._exercise = SealedLines(folder.exercise)
        self._executed = 0
        self._logs = GrowingLogs()
        self._samples = Counter[str]()
        self._znode_changes = 0
        self.record(RunBegan())

    def now_ns(self) -> int:
        """Nanoseconds since the run began."""
        return time.monotonic_ns() - self.start_ns

    def record(self, data: A, node: str | None = None) -> Recorded[A]:
        """Append one event; it is with the operating system when this returns."""
        with self._lock:
            return self._record(data, node, self._logged(all_of_it=data.event_kind is EventKind.CHECKS))

    def _record(self, data: A, node: str | None, logged: Logged) -> Recorded[A]:
        event = data.event(self._seq, self.now_ns(), node)
        self._seq += 1
        self.events.append(event)
        line = {"seq": event.seq, "at_ns": event.at_ns, "kind": event.kind, "node": node, "data": event.data}
        digests = {"log_sha256": logged.digests} if logged.digests else {}
        self._append(self._history, {**line, "log_bytes": logged.sizes, **digests})
        return event

    def sample(self, sample: Sample) -> None:
        """Append one node's metrics, with the number of the node's sample: one that is taken out leaves a gap."""
        with self._lock:
            number = self._samples[sample.node]
            self._samples[sample.node] += 1
            line = {"at_ns": sample.at_ns, "node": sample.node, "number": number, "values": dict(sample.values)}
            self._append(self._metrics, line)

    def znode(self, change: ZnodeChange) -> None:
        """Append one change of a watched znode, with its number: one that is taken out leaves a gap."""
        with self._lock:
            self._append(self._znodes, asdict(replace(change, number=self._znode_changes)))
            self._znode_changes += 1

    def client_metadata(self, answer: ClientMetadata) -> None:
        """Append one broker's answer to a client."""
        with self._lock:
            self._append(self._client_metadata, self._client_lines.line(answer))

    def executed(self, executed: Executed) -> None:
        """Append what a node executed of a class, with the line's number: one that is taken out leaves a gap."""
        with self._lock:
            if self._exercise is not None:
                self._append(self._exercise, {**asdict(executed), "number": self._executed})
                self._executed += 1

    def transactions(self, transactions: Iterable[Transaction]) -> None:
        """Store what ZooKeeper logged; once, when the run is completed."""
        self.folder.transactions.parent.mkdir(exist_ok=True)
        replace_text(self.folder.transactions, json_lines(asdict(each) for each in transactions))

    def image(self, label: str, image: MetadataImage, began_ns: int) -> None:
        """Store a metadata image and note it in the history: what changed after ``began_ns`` may be in it or not."""
        file = self.folder.image(label)
        content = asdict(replace(image, read_from=()))
        del content["read_from"]
        if image.read_from:
            replace_text(self.folder.image_read_from(label), json_lines(image.read_from))
        _write_whole(file, redacted_values(content))
        self.record(SnapshotTaken(label, str(file.relative_to(self.folder.path)), began_ns))

    def _append(self, lines: SealedLines, line: Mapping[str, object]) -> None:
        """What was lost once is missing for good: from then on nothing more is taken, by any thread."""
        if self._lost is None:
            try:
                lines.append(line)
            except OSError as error:
                self._lost = EnvironmentLackError(
                    f"{lines.path}: the run cannot be written down: {error.strerror}; make room, and run it again"
                )
        if self._lost is not None:
            raise self._lost

    def goes_by_its_own_logs(self) -> None:
        """From now on the logs are the copies in the folder: what nodes log later is no part of this run."""
        own = {node: self.folder.log(node) for node in self.log_files()}
        self.log_files = lambda: own
        self.logged_before = {}

    def _logged(self, *, all_of_it: bool) -> Logged:
        """How long each node's log is now: a failure later shows only the slice between two events."""
        return self._logs.look(self.log_files(), self.logged_before, all_of_it=all_of_it)

    def close(self) -> None:
        """End the history; safe to call twice, and when the disk is full."""
        if self._history.is_closed:
            return
        written = [self._history, self._metrics, self._znodes, self._client_metadata]
        written += [self._exercise] if self._exercise else []
        with self._lock:
            with suppress(EnvironmentLackError, OSError):
                self._append_last(written)
            for lines in written:
                with suppress(OSError):  # it still has what could not be written
                    lines.close()

    def _append_last(self, written: Sequence[SealedLines]) -> None:
        """The end of the run: what was logged is whole, and has no secret any more."""
        logged = self._logged(all_of_it=True)
        hide_secrets(self.folder)
        self.is_hidden = True
        hidden = self._logs.hidden(self.folder) or None
        self._record(replace(self.ending, seals=seals_of(self.folder, *written), hidden=hidden), None, logged)


def write_manifest(folder: RunFolder, *, is_kept: bool = False) -> None:
    """Write ``manifest.json``: a run folder with one is complete, and every change to it shows.

    The nodes of a kept cluster go on logging: of each log the manifest then vouches for what there is now, so many
    bytes, and later ones may follow them. A link, which a container may have put among its logs, is no file of the run.
    """
    digests, growing = {}, {}
    for file in sorted(folder.path.rglob("*")):
        if file.is_file() and not file.is_symlink() and file != folder.manifest:
            name, content = str(file.relative_to(folder.path)), file.read_bytes()
            digests[name] = hashlib.sha256(content).hexdigest()
            if is_kept and file.is_relative_to(folder.logs):
                growing[name] = len(content)
    _write_whole(folder.manifest, {"schema": SCHEMA, "sha256": digests, "growing": growing})


def _write_whole(path: Path, content: Mapping[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, json.dumps(content, indent=1, default=str) + "\n")
