"""Jars that a topology file adds to the class path of its nodes."""

import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_kmigrate.distributions.manifest import sha256_of
from pytest_kmigrate.model.topology import Jar
from pytest_kmigrate.topology.format import TopologyFile
from pytest_kmigrate.topology.mistakes import KeyPath, Mistake, shown
from pytest_kmigrate.topology.nodes import role_tables


def wrong_jars(file: TopologyFile, folder: Path) -> Iterator[Mistake]:
    """The jars that are not there, or are none; ``folder`` is the file's."""
    for path, jar in _jars(file):
        found = _place(jar, folder)
        got = _wrong(jar, found, folder)
        if got:
            yield Mistake(path, f"expected the path of a jar, from the folder of this file on, got {shown(jar)}: {got}")


def _wrong(jar: str, found: Path | None, folder: Path) -> str:
    """What is at the place of a jar that is none; empty for a jar."""
    if found is None:
        return "a folder" if jar and _is_folder(os.path.join(folder, jar)) else "nothing there"  # noqa: PTH118
    if os.pathsep in str(found):
        return f"a path with {os.pathsep!r} in it, which would divide the class path"
    return "" if zipfile.is_zipfile(found) else "something else"


def _is_folder(path: str) -> bool:
    try:
        return os.path.isdir(path)  # noqa: PTH112 - a path that no file system takes
    except ValueError:
        return False


def jars_at(jars: Iterable[str], folder: Path) -> tuple[Jar, ...]:
    """These jars with their digests."""
    found = [_place(jar, folder) for jar in jars]
    return tuple(Jar(str(place), sha256_of(place)) for place in found if place)


def _jars(file: TopologyFile) -> Iterator[tuple[KeyPath, str]]:
    for role, table in role_tables(file):
        yield from (((role.value, "jars", number), jar) for number, jar in enumerate(table.jars))
    for number, node in enumerate(file.node):
        yield from ((("node", number, "jars", at), jar) for at, jar in enumerate(node.jars))


def _place(jar: str, folder: Path) -> Path | None:
    """The file; None where none is. A path that no file system takes is no error of ours."""
    place = os.path.normpath(os.path.join(folder, os.path.expanduser(jar)))  # noqa: PTH111, PTH118 - never raises
    try:
        return Path(place) if os.path.isfile(place) else None  # noqa: PTH113
    except ValueError:
        return None
