"""What the header of a run says of itself, and of the nodes that were started."""

import json
from collections.abc import Iterator
from datetime import datetime

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.recording.disagreement import Disagreement
from pytest_kmigrate.recording.run_folder import RunFolder, run_id_of


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
    digests = history.header.extra.get("distribution_digests")
    if not isinstance(digests, dict):
        return
    known = {history.header.kafka, *digests}
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
