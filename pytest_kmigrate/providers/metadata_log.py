"""The KRaft metadata log of one node, decoded by Kafka's own dump tool (about one second per dump)."""

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.protocols import Record
from pytest_kmigrate.redaction import redacted, scram_digest, shown

PARTITION = "__cluster_metadata-0"
_COPY_ATTEMPTS = 3
_DUMPING = re.compile(r"Dumping (?P<file>.+)$")
_RECORD = re.compile(r"\|? ?offset: (?P<offset>\d+) .*?CreateTime: (?P<time>-?\d+) .*?\bpayload: (?P<payload>.*)$")
_CHECKPOINT = re.compile(r"(\d{20})-(\d{10})\.checkpoint\Z")
_UNREADABLE = "UNREADABLE"


def snapshots_in(log_dir: Path) -> list[str]:
    """The names of the snapshots of the metadata log below ``log_dir``, in order."""
    return sorted(file.name for file in log_dir.glob(f"{PARTITION}/*.checkpoint"))


def decoded(log_dir: Path, dump: Callable[[Sequence[Path]], str], scratch: Path) -> list[dict[str, Any]]:
    """All records of the metadata log below ``log_dir`` (a node's log dir, or the partition's folder itself).

    Each is ``{"offset", "timestamp_ms", "type", "version", "data", "snapshot"}``, already without secrets; records of a
    snapshot carry the last offset it covers. The files are copied first, below ``scratch``, so a node may go on
    writing: a last batch that was cut by the copy is left out. What the tool cannot decode comes as type UNREADABLE.
    ``dump`` returns what the tool prints of files.
    """
    partition = log_dir if log_dir.name == PARTITION else log_dir / PARTITION
    with tempfile.TemporaryDirectory(prefix="metadata-", dir=scratch) as copies:
        output = dump(_copied(partition, Path(copies)))
    # Only a line feed ends a line of the tool: a name in a record may hold what Python takes for an end.
    return [redacted_record(record) for record in parsed(output.split("\n"))]


def parsed(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The records in the dump tool's output; batch headers, control records and anything else have no payload."""
    snapshot_last: int | None = None
    skip_to = 0
    for line in lines:
        if match := _DUMPING.match(line):
            checkpoint = _CHECKPOINT.search(match["file"])
            snapshot_last = int(checkpoint[1]) - 1 if checkpoint else None
            skip_to = int(checkpoint[1]) if checkpoint else skip_to
        elif match := _RECORD.match(line):
            offset = int(match["offset"])
            if snapshot_last is None and offset < skip_to:
                continue  # the snapshot holds it already
            place = {"offset": offset if snapshot_last is None else snapshot_last, "timestamp_ms": int(match["time"])}
            yield {**place, **_payload(match["payload"]), "snapshot": snapshot_last is not None}


def redacted_record(record: Record) -> dict[str, Any]:
    """The record as an artefact may show it; an image made of redacted records is the same image."""
    data = record["data"]
    if record["type"] == "USER_SCRAM_CREDENTIAL_RECORD" and "digest" not in data:
        kept = {key: data[key] for key in ("name", "mechanism", "iterations")}
        data = {**kept, "digest": scram_digest(data["salt"], data["storedKey"], data["serverKey"])}
    elif record["type"] == "CONFIG_RECORD" and data["value"] is not None:
        data = {**data, "value": shown(data["name"], data["value"])}
    return {**record, "data": data}


def _payload(text: str) -> dict[str, Any]:
    try:
        payload = json.loads(text)
        return {"type": payload["type"], "version": payload["version"], "data": payload["data"]}
    except (ValueError, KeyError, TypeError):
        return {"type": _UNREADABLE, "version": -1, "data": {"text": redacted(text)}}


def _copied(partition: Path, target: Path) -> list[Path]:
    """Copies of the files to dump, oldest first; asked again when Kafka removed one of them meanwhile."""
    problem = "no attempt"
    for attempt in range(_COPY_ATTEMPTS):
        folder = target / str(attempt)
        folder.mkdir()
        try:
            names = _names_to_dump(sorted(path.name for path in partition.iterdir()))
            return [Path(shutil.copyfile(partition / name, folder / name)) for name in names]
        except (FileNotFoundError, NotADirectoryError) as gone:
            problem = str(gone)
    raise ClusterError(
        f"{partition}: expected the metadata log of a KRaft node (segments without a gap), got {problem}; "
        f"give the log dir of a controller, or of a broker in KRaft or migration mode, that has started once"
    )


def _names_to_dump(names: Sequence[str]) -> list[str]:
    """All segments, and before them the oldest snapshot that reaches up to the first one (none when it begins at 0).

    The oldest and not the newest, because every record that is still there is evidence.
    """
    segments = [name for name in names if name.endswith(".log")]
    first = int(Path(segments[0]).stem) if segments else 0
    checkpoints = [name for name in names if (match := _CHECKPOINT.match(name)) and int(match[1]) >= first]
    if not segments and not checkpoints:
        raise FileNotFoundError("neither a segment nor a snapshot")
    if segments and first == 0:
        return segments
    if not checkpoints:
        raise FileNotFoundError(f"segments from offset {first} on, but no snapshot of what was before")
    return [checkpoints[0] if segments else checkpoints[-1], *segments]
