"""Reads a run folder back into a History; a folder that is not whole says what is wrong with it, and where."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, TypeVar, overload

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.event import OLDER_STATES, Event, EventKind, Recorded, class_of
from pytest_kmigrate.model.fields import fields_of
from pytest_kmigrate.model.history import History, RunHeader, Sample, Transaction, Write, ZnodeChange
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.recording.client_metadata import client_answers
from pytest_kmigrate.recording.identity import stable_id
from pytest_kmigrate.recording.json_objects import json_object
from pytest_kmigrate.recording.operation_parts import PARTS_PATTERN, read_operations
from pytest_kmigrate.recording.repeats import LONG_LOG, without_repeats
from pytest_kmigrate.recording.run_folder import SCHEMA, RunFolder, is_derived

T = TypeVar("T")
_KINDS = {str: "text", int: "a whole number", dict: "an object"}
_DAMAGED = "the folder is damaged: take another copy of it, or run the test again"
_NEEDED = {EventKind.CHECKS, EventKind.NOT_OFFERED}
"""By these events a run is judged at all: one without its keys would be judged by nothing, and so conform."""
_LATEST_NS = 2**63 - 1
"""Later than any run: what counts in nanoseconds has room for 292 years."""
_EVENT_KINDS = frozenset(EventKind)
_WRONG_KEYS = (
    (re.compile(r"missing \d+ required .*arguments?: (.+)"), "got no {}"),
    (re.compile(r"unexpected keyword argument (.+)"), "got the unknown {}"),
)


def read_header(folder: RunFolder) -> RunHeader:
    """What ``run.json`` says; RunFolderError when the folder is not a run of ours."""
    if not folder.header.is_file():
        raise RunFolderError(f"{folder.path}: expected a run folder with run.json in it; there is none")
    content = json_object(folder.header.read_bytes(), _line_of(folder.header))
    schema = content.pop("schema", None)
    if schema != SCHEMA:
        raise RunFolderError(
            f"{folder.header}: schema: expected {SCHEMA}, got {schema!r}; was it written by a later release?"
        )
    kinds: dict[str, type] = dict.fromkeys(("run_id", "kafka", "test_id", "topology", "provider", "profile"), str)
    for key, kind in {**kinds, "started_at": str, "seed": int, "extra": dict}.items():
        if type(content.get(key, kind())) is not kind:
            raise RunFolderError(f"{folder.header}: {key}: expected {_KINDS[kind]}, got {content[key]!r}; {_DAMAGED}")
    run_id = content.get("run_id", "")
    if PurePath(run_id).name != run_id:  # folders and files are named by it
        raise RunFolderError(f"{folder.header}: run_id: expected the name of a folder, got {run_id!r}; {_DAMAGED}")
    requirements = content.get("requirements", [])
    if not (isinstance(requirements, list) and all(isinstance(each, str) for each in requirements)):
        raise RunFolderError(f"{folder.header}: requirements: expected texts, got {requirements!r}; {_DAMAGED}")
    try:
        test_id = stable_id(content["test_id"])
        return RunHeader(**{**content, "test_id": test_id, "requirements": tuple(content["requirements"])})
    except (KeyError, TypeError) as error:
        raise RunFolderError(f"{folder.header}: expected the keys of a run header; {_plainly(error)}") from error


def read_history(folder: RunFolder) -> History:
    """The whole run, as far as it was written."""
    events = read_events(folder)
    return History(
        header=read_header(folder),
        events=events,
        operations=read_operations(folder.operations),
        samples=tuple(_made_lines(_sample, folder.metrics)),
        znodes=tuple(_made_lines(_znode_change, folder.znodes)),
        client_metadata=tuple(_made_lines(client_answers(), folder.client_metadata)),
        transactions=read_transactions(folder),
        images={file.stem: _image(folder, file) for file in _images(folder)},
        logs=_Logs(folder, _sizes_at_the_end(events)),
    )


def _image(folder: RunFolder, file: Path) -> MetadataImage:
    read_from = _ReadFrom(folder.image_read_from(file.stem))
    return replace(_made(MetadataImage, file, file.read_bytes()), read_from=read_from)


class _ReadFrom(Sequence[Mapping[str, object]]):
    """The records or znodes that an image was read from: few checks need them, so they are read when looked up."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read: list[Mapping[str, object]] | None = None

    @overload
    def __getitem__(self, at: int) -> Mapping[str, object]: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Mapping[str, object]]: ...

    def __getitem__(self, at: int | slice) -> Mapping[str, object] | Sequence[Mapping[str, object]]:
        return self._lines()[at]

    def __len__(self) -> int:
        return len(self._lines())

    def _lines(self) -> list[Mapping[str, object]]:
        if self._read is None:
            self._read = list(_made_lines(dict, self._file))
        return self._read


class _Logs(Mapping[str, str]):
    """The nodes' logs: megabytes that few runs need, so each is read when it is looked up.

    What the nodes of a kept cluster logged after the run is no part of it.
    """

    def __init__(self, folder: RunFolder, sizes: Mapping[str, int]) -> None:
        self._folder = folder
        self._sizes = sizes
        self._read: dict[str, str] = {}

    def __getitem__(self, node: str) -> str:
        if node not in self._read:
            log = self._folder.log(node)
            if not log.is_file():
                raise KeyError(node)
            said = self._folder.content(log)[: self._sizes.get(node)].decode(errors="replace")
            self._read[node] = said if len(said) < LONG_LOG else without_repeats(said)
        return self._read[node]

    def __iter__(self) -> Iterator[str]:
        return (log.parent.name for log in sorted(self._folder.logs.glob("*/server.log")) if log.is_file())

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _sizes_at_the_end(events: Sequence[Event]) -> Mapping[str, int]:
    """How long each log was when the run ended; empty if it was interrupted."""
    return events[-1].log_bytes if events and events[-1].kind is EventKind.RUN_ENDED else {}


def read_events(folder: RunFolder) -> tuple[Event, ...]:
    """The events of a run, as far as they were written."""
    return tuple(_made_lines(_event, folder.history))


def read_transactions(folder: RunFolder) -> tuple[Transaction, ...]:
    """Read what ZooKeeper logged, as far as it was written."""
    return tuple(_made_lines(_transaction, folder.transactions))


def torn_streams(folder: RunFolder) -> list[str]:
    """The streams of a run whose last line was cut as it was written, and is left out."""
    streams = (folder.history, folder.metrics, folder.znodes, folder.client_metadata, folder.transactions)
    return [str(file.relative_to(folder.path)) for file in streams if file.is_file() and _is_torn(file)]


def _is_torn(file: Path) -> bool:
    with file.open("rb") as stream:
        stream.seek(max(file.stat().st_size - 1, 0))
        return stream.read() not in (b"", b"\n")


def _images(folder: RunFolder) -> list[Path]:
    images = sorted(folder.image("x").parent.glob("*.json"))
    for image in images:
        _must_be_plain(image)
    return images


def _must_be_plain(file: Path) -> None:
    """A pipe would be waited for, and a device may never end."""
    if not file.is_file():
        raise RunFolderError(f"{file}: expected a plain file, got something else; {_DAMAGED}")


def verify_manifest(folder: RunFolder, *, has_reports: bool = True) -> None:
    """Compare every file with ``manifest.json``; RunFolderError names the first files that differ or are missing.

    ``has_reports=False``: what is made from the evidence may be missing, as in the evidence of a certificate.

    Evidence that it does not name was put there after the run ended, and would be judged with the rest.
    The logs of a kept cluster may have grown: of these, what the manifest vouches for must still be their beginning.
    """
    if not folder.manifest.is_file():
        raise RunFolderError(f"{folder.path}: no manifest.json: the run was interrupted, or the folder is incomplete")
    wanted, wrong = digests_of(folder)[0], changed_files(folder, has_reports=has_reports)
    if wrong:
        count = "1 file differs" if len(wrong) == 1 else f"{len(wrong)} files differ"
        raise RunFolderError(f"{folder.path}: {count} from manifest.json: {', '.join(wrong[:5])}")
    images = [*_images(folder), *folder.image("x").parent.glob("*.jsonl")]
    evidence = [*folder.operations.glob(PARTS_PATTERN), *images]
    added = sorted({str(file.relative_to(folder.path)) for file in evidence} - wanted.keys())
    if added:
        raise RunFolderError(
            f"{folder.path}: {len(added)} files that manifest.json does not name: {', '.join(added[:5])}; "
            "they were put there after the run ended: take them away"
        )


def changed_files(folder: RunFolder, *, has_reports: bool = True) -> list[str]:
    """Return the files that are not as ``manifest.json`` has them, also missing ones, by their names in it."""
    wanted, growing = digests_of(folder)
    there = [name for name in wanted if has_reports or not is_derived(name) or (folder.path / name).exists()]
    return [name for name in there if _digest(folder, name, growing.get(name)) != wanted[name]]


def digests_of(folder: RunFolder) -> tuple[dict[str, str], dict[str, int]]:
    """What ``manifest.json`` names: the digest of each file, and the length that it had where it may have grown.

    RunFolderError if it is no manifest, or names files elsewhere, which a reader of foreign evidence would open.
    """
    manifest = json_object(folder.manifest.read_bytes(), _line_of(folder.manifest))
    wanted, growing = (manifest.get(key, {}) for key in ("sha256", "growing"))
    are_sizes = isinstance(growing, dict) and all(isinstance(size, int) for size in growing.values())
    if not (isinstance(wanted, dict) and wanted and are_sizes):
        raise RunFolderError(f"{folder.manifest}: expected the digests of the run's files, got none; {_DAMAGED}")
    elsewhere = [name for name in wanted if not _is_within(name)]
    if elsewhere:
        raise RunFolderError(f"{folder.manifest}: expected files of the run, got {elsewhere[0]!r}; do not trust it")
    return wanted, growing


def _is_within(name: str) -> bool:
    """Whether a name is a path below a run folder, in the one spelling that a manifest has."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\0" not in name and path.as_posix() == name


def _digest(folder: RunFolder, name: str, so_far: int | None) -> str | None:
    """Of the whole file, or of its first bytes; None when there is no such file."""
    file = folder.path / name
    return folder.sha256(file, so_far) if file.is_file() else None


def _event(
    *,
    seq: int,
    at_ns: int,
    kind: str,
    node: str | None,
    data: Mapping[str, object],
    log_bytes: Mapping[str, int] | None = None,
    log_sha256: Mapping[str, str] | None = None,
    **_: object,
) -> Event:
    if not (type(seq) is int and type(at_ns) is int and 0 <= at_ns <= _LATEST_NS and isinstance(data, dict)):
        raise TypeError(f"whole numbers as seq and at_ns, and an object as data, not {seq!r}, {at_ns!r} and {data!r}")
    if kind in OLDER_STATES:
        name, key = OLDER_STATES[kind]
        data = {"of": name, "state": data.get(key), "previous": data.get("previous")}
        return Recorded(seq, at_ns, EventKind.STATE, node, data)
    if kind not in _EVENT_KINDS:
        raise ValueError(f"got the unknown kind {kind!r}; was it written by a later release?")
    _must_fit(EventKind(kind), data)
    logged = (_by_node(log_bytes, int, "log_bytes"), _by_node(log_sha256, str, "log_sha256"))
    return Recorded(seq, at_ns, EventKind(kind), node, data, *logged)


def _by_node(given: Mapping[str, T] | None, of: type[T], key: str) -> Mapping[str, T]:
    """What an event says of the logs; TypeError for anything but values of that kind by node."""
    if given is not None and not (isinstance(given, dict) and all(type(each) is of for each in given.values())):
        raise TypeError(f"values of type {of.__name__} by node as {key}, not {given!r}")
    return given or {}


def _must_fit(kind: EventKind, data: Mapping[str, object]) -> None:
    """TypeError for a key that does not hold what events of its kind record under it."""
    for each in fields_of(class_of(kind, data)):
        if each.name in data or (kind in _NEEDED and not each.is_optional):
            value = data.get(each.name)
            if not each.fits(value):
                raise TypeError(f"{each.expected} as {each.name} in the data of {kind}, not {value!r}")


def _sample(at_ns: int, node: str, values: Mapping[str, float | None], number: int = -1) -> Sample:
    return Sample(at_ns, node, values, number)


def _znode_change(children: list[str], **keys: Any) -> ZnodeChange:
    return ZnodeChange(children=tuple(children), **keys)


def _transaction(writes: list[dict[str, Any]], **keys: Any) -> Transaction:
    return Transaction(writes=tuple(Write(**each) for each in writes), **keys)


def _made_lines(make: Callable[..., T], file: Path) -> Iterator[T]:
    """What the JSON lines of a file stand for; a last line without its newline was cut by the end of the run."""
    if not file.exists():
        return
    _must_be_plain(file)
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.endswith(b"\n"):
                yield _made(make, file, line, number)


def _made(make: Callable[..., T], file: Path, text: bytes, line: int = 1) -> T:
    try:
        return make(**json_object(text, _line_of(file, line)))
    except (KeyError, TypeError, ValueError) as error:
        raise RunFolderError(
            f"{_line_of(file, line)}: expected the keys of {make.__name__.strip('_')}; {_plainly(error)}"
        ) from error


def _line_of(file: Path, line: int = 1) -> str:
    return f"{file}: line {line}"


def _plainly(error: Exception) -> str:
    """What is wrong with the keys, without the name of a function of ours."""
    text = str(error)
    if isinstance(error, KeyError):
        return f"got no {text}"
    matches = ((pattern.search(text), plain) for pattern, plain in _WRONG_KEYS)
    return next((plain.format(match[1]) for match, plain in matches if match), text)
