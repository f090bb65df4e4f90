"""What the header of a run says of itself, and of the nodes that were started."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from pytest_kmigrate.distributions.releases import SHAPE, known_releases, locked_release
from pytest_kmigrate.model.events.nodes import NodeInstalled, NodeStarted
from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.recording.disagreement import Disagreement
from pytest_kmigrate.recording.run_folder import RunFolder, run_id_of

_SHA256 = re.compile("[0-9a-f]{64}")
"""A provider that runs no jars, such as the fake one, names no digest of this form."""


def start_of(header: RunHeader) -> datetime | None:
    """When a run began; None where its header has no time there."""
    try:
        return datetime.fromisoformat(header.started_at)
    except ValueError:
        return None


def run_id_is_derived(folder: RunFolder, header: RunHeader) -> Iterator[Disagreement]:
    """The id of a run is derived from its test, its seed and the moment it began."""
    recorded = json.loads(folder.header.read_bytes())["test_id"]  # as it was when the id was derived
    started = start_of(header)
    if started is None:
        yield Disagreement(f"run.json has the id {header.run_id}", f"it has no time of start: {header.started_at!r}")
        return
    derived = run_id_of(recorded, header.seed, started)
    if derived != header.run_id:
        yield Disagreement(f"run.json has the id {header.run_id}", f"its test, seed and start make {derived}")


def releases_are_named(history: History) -> Iterator[Disagreement]:
    """Nodes run software that the header has, or that was installed in the run: its version and, if known, its jars."""
    if history.header.digests is None:
        return
    known = list(_software(history))
    for event in history.of(NodeStarted):
        started = _Software(event.what.kafka, event.what.digest)
        if not any(map(started.may_be, known)):
            yield Disagreement(
                f"event {event.seq} starts {event.node} with Kafka {started}",
                f"run.json has {', '.join(sorted(map(str, known)))}",
            )
            return


@dataclass(frozen=True)
class _Software:
    """One Kafka. Nodes of somebody else's cluster have no digest, and builds beside the one under test no version."""

    version: str | None
    digest: object
    name: str | None = None
    """What the topology names it by."""

    def may_be(self, known: "_Software") -> bool:
        """Whether a node that records this runs that."""
        if self.digest is None:
            return self.version == known.version
        return self.digest == known.digest and known.version in (None, self.version)

    def __str__(self) -> str:
        jars = (
            f" with jars of {self.digest[:12]}"
            if isinstance(self.digest, str) and _SHA256.fullmatch(self.digest)
            else ""
        )
        return f"{self.version or self.name}{jars}"


def _software(history: History) -> Iterator[_Software]:
    header = history.header
    own = name_under_test(header)
    for name, digest in (header.digests or {}).items():
        version = header.release if name == own else name if SHAPE.fullmatch(name) else None
        yield _Software(version, digest, name)
    for event in history.of(NodeInstalled):
        yield _Software(event.what.version, event.what.digest)


def releases_have_their_jars(history: History) -> Iterator[Disagreement]:
    """What is called by the version of a release has the jars of that release; a build is called otherwise."""
    own = name_under_test(history.header)
    for name, digest in (history.header.digests or {}).items():
        called = history.header.kafka if name == own else name
        if called not in known_releases() or not _SHA256.fullmatch(digest):
            continue
        locked = locked_release(called).digest()
        if digest != locked:
            yield Disagreement(
                f"run.json has Kafka {called} with jars of the digest {digest[:12]}",
                f"those of that release have {locked[:12]}",
            )


def name_under_test(header: RunHeader) -> str | None:
    """What the header names the digest of the Kafka under test by: its version, or the path or image of a build.

    Other nodes of a run may have other releases, or other builds. None: the header has no digest of it.
    """
    named = header.digests or {}
    if header.kafka in named:
        return header.kafka
    builds = [each for each in named if not SHAPE.fullmatch(each)]
    own = builds if len(builds) == 1 else [each for each in builds if is_called_by(header.kafka, named[each])]
    return own[0] if own else None


def is_called_by(kafka: str, digest: str) -> bool:
    """Whether a Kafka in reports is that of these jars: a release, or a build whose name ends with their digest."""
    if kafka in known_releases():
        return locked_release(kafka).digest() == digest
    _, is_build, build = kafka.rpartition("+")
    shown = build.rpartition(".")[2]
    return bool(is_build and shown) and digest.startswith(shown)
