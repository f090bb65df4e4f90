"""Brokers in ZooKeeper mode that know nothing, as no controller sent them anything since they were started."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.checks.settled import BROKERS, ZOOKEEPER
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Verdict
from pytest_kmigrate.probes.metadata_replay import Place

_CONFIGS_OF_A_TOPIC = "topic:"
"""A broker that knows no topic gives none of its configs, though it has read them."""
_ID = {"topics": "id", "partitions": "replicas"}
"""By family, the field that everything has which a broker knows."""


@dataclass(frozen=True)
class Compared:
    """What brokers reported beside what ZooKeeper held, and the places at which they differ."""

    at_ns: int
    """When brokers were asked."""
    asked: MetadataImage
    zookeeper: MetadataImage
    places: Collection[Place]

    def knows_nothing(self, broker: str) -> bool:
        """Whether a broker reports no topic and no partition that another one reports."""
        held = [each.get(field) for family, field in _ID.items() for each in getattr(self.asked, family).values()]
        return bool(held) and all(isinstance(each, Mapping) and each.get(broker, "") is None for each in held)

    def unknown_at(self, place: Place) -> str:
        """The topic of a place if no broker reports it; empty where one does, or the place is of no topic."""
        topic = self._topic_of(place)
        return topic if place[0] in _ID and topic not in self.asked.topics else ""

    def others_agree(self, place: Place, silent: Collection[str]) -> bool:
        """Whether those that know nothing are silent at a place, and the others report what ZooKeeper has."""
        family, key = place
        if not silent or (family not in _ID and not key.startswith(_CONFIGS_OF_A_TOPIC)):
            return False
        of_asked, of_zookeeper = (getattr(each, family) for each in (self.asked, self.zookeeper))
        keys = {each for each in {*of_asked, *of_zookeeper} if self._topic_of((family, each)) == key} or {key}
        return all(_reports(of_asked.get(each, {}), of_zookeeper.get(each, {}), silent) for each in keys)

    def _topic_of(self, place: Place) -> str:
        """Of how many partitions a topic has, its key is the topic itself."""
        topic = place[1].removeprefix(_CONFIGS_OF_A_TOPIC)
        return topic if topic in self.zookeeper.topics else topic.rpartition("-")[0]


def compared(history: History, verdict: Verdict) -> Compared | None:
    """What a comparison of brokers and ZooKeeper found; None of another check, and of other sides."""
    wrong = wrong_in(history, verdict) if verdict.is_of(metadata_equivalent) else None
    images = {history.images[each].source: (each, history.images[each]) for each in verdict.listed("images")}
    if wrong is None or set(images) != {ZOOKEEPER, BROKERS}:
        return None
    (label, asked), (_, zookeeper) = images[BROKERS], images[ZOOKEEPER]
    taken = snapshot(history, label)
    return Compared(taken.at_ns, asked, zookeeper, wrong.places) if taken else None


def _reports(reported: Mapping[str, object], held: Mapping[str, object], silent: Collection[str]) -> bool:
    return bool(reported) and all(
        own == held.get(field)
        for field, value in reported.items()
        for broker, own in (value.items() if isinstance(value, Mapping) else [("", value)])
        if broker not in silent
    )
