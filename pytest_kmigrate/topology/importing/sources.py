"""The files a topology is made from: each as text, folders as the files in them."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.model.errors import TopologyError

SUFFIXES = (".properties", ".cfg", ".yml", ".yaml", ".json")
"""What is read of a folder; a file that is named itself may be called anything."""
MOST_BYTES = 5_000_000
MOST_FILES = 500


@dataclass(frozen=True)
class Source:
    """One file; ``is_named``: the user named it, so it has to be of use."""

    path: str
    text: str
    is_named: bool = True


def sources(paths: Iterable[Path]) -> list[Source]:
    """The files, each once; TopologyError for the first that cannot be read."""
    found: dict[Path, Source] = {}
    for path in paths:
        for each, is_named in _files(path):
            found.setdefault(each.resolve(), Source(str(each), _text(each), is_named))
    return list(found.values())


def _files(path: Path) -> Iterator[tuple[Path, bool]]:
    if not path.exists():
        raise TopologyError(str(path), ["expected a file or a folder, got nothing there"])
    if not path.is_dir():
        yield path, True
        return
    files = [each for each in sorted(path.rglob("*")) if each.suffix in SUFFIXES and each.is_file()]
    if not files:
        raise TopologyError(str(path), [f"expected a folder with files that end with {', '.join(SUFFIXES)}, got none"])
    if len(files) > MOST_FILES:
        text = f"expected a folder of at most {MOST_FILES} files, got {len(files)}: name those of the nodes"
        raise TopologyError(str(path), [text])
    yield from ((each, False) for each in files)


def _opened(path: str, flags: int) -> int:
    """Open a file; a pipe that nothing writes into is empty, where open() would wait for its writer for ever."""
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    return descriptor


def _text(path: Path) -> str:
    try:
        with open(path, "rb", opener=_opened) as file:
            read = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise TopologyError(str(path), [f"expected a readable file, got: {error.strerror}"]) from None
    if len(read) > MOST_BYTES:
        raise TopologyError(str(path), [f"expected at most {MOST_BYTES // 1_000_000} MB of settings, got more"])
    try:
        text = read.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = read[: error.start].count(b"\n") + 1
        raise TopologyError(str(path), [f"line {line}: expected text in UTF-8, got other bytes"]) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise TopologyError(str(path), [f"line {line}: expected text, got a zero byte"])
    return text
