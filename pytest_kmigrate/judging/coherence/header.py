"""What the header of a run says of itself, and of the nodes that were started."""

import json
import re
from collections.abc import Iterator
from datetime import datetime

from pytest_kmigrate.distributions.releases import SHAPE, known_releases, locked_release
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.recording.disagreement import Disagreement
from pytest_kmigrate.recording.run_folder import RunFolder, run_id_of

_SHA256 = re.compile("[0-9a-f]{64}")
"""A provider that runs no jars, such as the fake one, names no digest of this form."""


def run_id_is_derived(folder: RunFolder, header: RunHeader) -> Iterator[Disagreement]:
    """The id of a run is derived from its test, its seed and the moment it began."""
    recorded = json.loads(folder.header.read_bytes())["test_id"]  # as it was when the id was derived
    try:
        derived = run_id_of(recorded, header.seed, datetime.fromisoformat(header.started_at))
    except ValueError:
        yield Disagreement(f"run.json has the id {header.run_id}", f"it has no time of start: {header.started_at!r}")
        return
    if derived != header.run_id:
        yield Disagreement(f"run.json has the id {header.run_id}", f"its test, seed and start make {derived}")


def releases_are_named(history: History) -> Iterator[Disagreement]:
    """Nodes run what the header has digests of, or what was installed in the run."""
    if history.header.digests is None:
        return
    known = {history.header.kafka, *history.header.digests}
    known |= {
        str(event.data.get(key)) for event in history.of(EventKind.NODE_INSTALLED) for key in ("kafka", "version")
    }
    for event in history.of(EventKind.NODE_STARTED):
        kafka = str(event.data.get("kafka"))
        if kafka not in known:
            yield Disagreement(
                f"event {event.seq} starts {event.node} with Kafka {kafka}", f"run.json has {', '.join(sorted(known))}"
            )
            return


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

    Other nodes of a run may have other releases. None: the header has no digest of it.
    """
    named = header.digests or {}
    if header.kafka in named:
        return header.kafka
    builds = [each for each in named if not SHAPE.fullmatch(each)]
    return builds[0] if len(builds) == 1 else None
