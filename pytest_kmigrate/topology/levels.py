"""Rules of levels: no protocol and no metadata.version is higher than the oldest release that has to know it."""

import re
from collections.abc import Iterator

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.format import TopologyFile
from pytest_kmigrate.topology.mistakes import Mistake, shown
from pytest_kmigrate.topology.nodes import node_names, release_of
from pytest_kmigrate.topology.properties import properties_of
from pytest_kmigrate.topology.values import NO_ZOOKEEPER_FROM, version_of

_ABOVE_ALL = (99, 0)
_COUNTS = {
    (1, 0): 1, (1, 1): 1,
    (2, 0): 2, (2, 1): 3, (2, 2): 2, (2, 3): 2, (2, 4): 2, (2, 5): 1, (2, 6): 1, (2, 7): 3, (2, 8): 2,
    (3, 0): 2, (3, 1): 1, (3, 2): 1, (3, 3): 4, (3, 4): 1, (3, 5): 3, (3, 6): 3, (3, 7): 5, (3, 8): 1, (3, 9): 1,
    (4, 0): 4, (4, 1): 2, (4, 2): 2, (4, 3): 1,
}  # fmt: skip
"""How many levels each release has, from IV0 on; Source: MetadataVersion.java of Kafka."""
_PROTOCOL = re.compile(r"[0-9]+(\.[0-9]+){1,2}(-IV[0-9]+)?")
_KAFKA = (Role.BROKER, Role.COMBINED, Role.CONTROLLER)


def levels_are_known(file: TopologyFile) -> Iterator[Mistake]:
    """Every broker knows the protocol of the brokers, and every node the metadata.version of the quorum."""
    yield from _protocols(file)
    if file.metadata_version is None:
        return
    if file.controller is None and file.combined is None:
        text = "expected a [controller] table, whose quorum is formatted with it, got none: leave it out"
        yield Mistake(("metadata_version",), text)
    yield from _metadata_version(file, file.metadata_version)


def _protocols(file: TopologyFile) -> Iterator[Mistake]:
    _, oldest = _oldest(file, NO_ZOOKEEPER_FROM[:2], Role.BROKER)
    for path, name, value in properties_of(file):
        if name != "inter.broker.protocol.version":
            continue
        if not _PROTOCOL.fullmatch(value):
            yield Mistake(path, f'expected a release\'s protocol, such as "3.9" or "3.9-IV0", got {shown(value)}')
        elif missing := _missing(value):
            yield Mistake(path, missing)
        elif _level(value) > oldest:
            text = f"expected at most {oldest[0]}.{oldest[1]}, which the oldest broker knows, got {shown(value)}"
            yield Mistake(path, text)


def _metadata_version(file: TopologyFile, version: str) -> Iterator[Mistake]:
    missing = _missing(version)
    if missing:
        yield Mistake(("metadata_version",), missing)
        return
    name, oldest = _oldest(file, _ABOVE_ALL, *_KAFKA)
    if _level(version) > oldest:
        text = f"expected at most {oldest[0]}.{oldest[1]}, which {name} of {release_of(file, name)} knows"
        advice = "let a test install another release later, as a downgrade would"
        yield Mistake(("metadata_version",), f"{text}, got {shown(version)}: {advice}")


def _oldest(file: TopologyFile, default: tuple[int, ...], *roles: Role) -> tuple[str, tuple[int, ...]]:
    """The node with the oldest release, and that release; ``default`` where all are known by path only."""
    releases = [(name, version_of(release_of(file, name))) for name in node_names(file, *roles)]
    known = [(name, release[:2]) for name, release in releases if release]
    return min(known, key=lambda each: each[1], default=("", default))


def _missing(text: str) -> str | None:
    """Why no release has this level, if none has; releases that are earlier or later than those known here may."""
    release, (_, _, number) = _level(text), text.partition("-IV")
    if not release or not min(_COUNTS) <= release <= max(_COUNTS):
        return None
    if release not in _COUNTS:
        return f"expected the level of a release, got {shown(text)}, and there is no Kafka {release[0]}.{release[1]}"
    levels = [f"{release[0]}.{release[1]}-IV{each}" for each in range(_COUNTS[release])]
    if not number or text in levels:
        return None
    expected = ", ".join(map(shown, [levels[0].partition("-")[0], *levels]))
    return f"expected one of {expected}; got {shown(text)}, which no release has"


def _level(text: str) -> tuple[int, ...]:
    """A level as far as releases differ in it; below all of them when it is none."""
    release = version_of(f"{text.partition('-')[0]}.0")
    return release[:2] if release else ()
