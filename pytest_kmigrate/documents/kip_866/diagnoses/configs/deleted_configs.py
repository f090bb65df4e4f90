"""kmigrate-34: a controller that loads its log keeps the config of a deleted topic, and writes it to ZooKeeper."""

from collections.abc import Collection

from pytest_kmigrate.checkers.controllers.znode_changes import writes_to
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.diagnoses.windows import loaded_and_synced
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_TOPIC = "topic:"


@diagnosis("kmigrate-34")
def config_of_a_deleted_topic_came_back(history: History, verdict: Verdict) -> bool:
    """A KRaft controller created the znode of a topic's config after the topic was deleted, and such is all wrong.

    It had taken over, and been started after the deletion. A controller that loads config and deletion from its log
    at once keeps the config.
    """
    wrong = wrong_in(history, verdict)
    if wrong is None or not wrong.places:
        return False
    topics = {topic for label in wrong.lost for topic in history.images[label].topics}
    return all(
        family == "configs"
        and key.startswith(_TOPIC)
        and key.removeprefix(_TOPIC) not in topics
        and _came_back(history, key.removeprefix(_TOPIC), [label for label in wrong.lost if _has(history, label, key)])
        for family, key in wrong.places
    )


def _has(history: History, label: str, key: str) -> bool:
    return key in history.images[label].configs


def _came_back(history: History, topic: str, labels: Collection[str]) -> bool:
    """Whether the last that was written before each image that has the config is its creation by such a sync."""
    subjects, path = (topic, f"{_TOPIC}{topic}"), f"/config/topics/{topic}"
    changes = [each for each in history.of(MetadataChanged) if each.what.subject in subjects]
    if not changes or changes[-1].what.change != "delete-topic" or changes[-1].what.outcome != "ok":
        return False
    taken = [each.at_ns if (each := snapshot(history, label)) else 0 for label in labels]
    written = [(each, write) for each, write in writes_to(history, path) if each.at_ns <= min(taken, default=0)]
    if not written:
        return False
    last, write = written[-1]
    return write.operation == "create" and loaded_and_synced(history, last, changes[-1])
