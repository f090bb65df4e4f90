"""What an operator does with a group: look at it in both systems, and write the mode."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from pytest_kmigrate.documents.kip_125.evidence.modes import KAFKA, ZOOKEEPER
from pytest_kmigrate.documents.kip_125.reference.answers import is_known_here, plain_listeners
from pytest_kmigrate.model.document import GroupReport
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.peer import Znodes
from pytest_kmigrate.probes.zookeeper import ZookeeperClient

_ANSWER_WITHIN_S = 15.0
_MODES = (KAFKA, ZOOKEEPER)
Offsets = dict[tuple[str, int], int]
OfKafka = tuple[set[str], Offsets, Offsets]
"""Client ids of the members, committed offsets, and the ends of the logs."""


@dataclass(frozen=True)
class _Group:
    """What both systems have of it."""

    ids: frozenset[str]
    migrating: frozenset[str]
    node: str | None
    """The content of the mode node."""
    plain: frozenset[str]
    """Client ids of members of Kafka's group that are not registered in ZooKeeper."""
    has_kafka_members: bool
    owners: Mapping[tuple[str, int], str] = field(default_factory=dict)
    stored: Mapping[tuple[str, int], int] = field(default_factory=dict)
    committed: Mapping[tuple[str, int], int] = field(default_factory=dict)
    ends: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @property
    def older(self) -> list[str]:
        """Members that know no mode, and so force ZooKeeper."""
        return sorted(self.ids - self.migrating)

    @property
    def followed(self) -> str:
        """The system that members with migration follow."""
        return KAFKA if self.node == KAFKA and not self.older else ZOOKEEPER


class Operator:
    """Does it with groups of this document."""

    def __init__(
        self,
        reach: Callable[[str], Znodes] = ZookeeperClient,
        ask: "Callable[[str, str, list[TopicPartition]], OfKafka] | None" = None,
    ) -> None:
        """``reach`` connects to ZooKeeper, ``ask`` asks Kafka's coordinator; by default real ones."""
        self._reach = reach
        self._ask = ask or _by_kafka

    def status(self, group: str, zookeeper: str, bootstrap: str | None) -> GroupReport:
        """The group as both systems have it, and what is to be done before it migrates.

        ``bootstrap`` None: the plain listeners that brokers registered in ZooKeeper. WrongUseError for a group that
        ZooKeeper does not have; ClusterError where a server does not answer.
        """
        with self._reached(zookeeper) as znodes:
            return _report(group, self._seen(group, znodes, bootstrap))

    def toggle(self, group: str, mode: str, zookeeper: str, bootstrap: str | None) -> GroupReport:
        """Write the mode; WrongUseError for what the document forbids, or a mode that it does not have."""
        if mode not in _MODES:
            raise WrongUseError(f"MODE: expected {' or '.join(_MODES)}; got {mode!r}")
        with self._reached(zookeeper) as znodes:
            seen = self._seen(group, znodes, bootstrap)
            if mode == ZOOKEEPER and seen.plain:
                raise WrongUseError(
                    f"{group}: expected no plain KafkaConsumer in the group before ZooKeeper decides, or partitions "
                    f"are read twice; there are {', '.join(sorted(seen.plain))}: replace them by members with "
                    "migration first"
                )
            if mode == KAFKA and not seen.migrating:
                raise WrongUseError(
                    f"{group}: expected a member with migration, which follows the mode; there is none: replace the "
                    "members by such ones first"
                )
            znodes.set(f"/consumers/{group}/migration/mode", mode.encode())
            return _report(group, self._seen(group, znodes, bootstrap))

    @contextmanager
    def _reached(self, zookeeper: str) -> Iterator[Znodes]:
        znodes = self._reach(zookeeper)
        try:
            yield znodes
        finally:
            if isinstance(znodes, ZookeeperClient):
                znodes.close()

    def _seen(self, group: str, znodes: Znodes, bootstrap: str | None) -> _Group:
        root = f"/consumers/{group}"
        if znodes.get(root) is None:
            known = ", ".join(znodes.children("/consumers")) or "none"
            raise WrongUseError(f"GROUP: expected a group that ZooKeeper has ({known}); got {group!r}")
        ids, migrating = frozenset(znodes.children(f"{root}/ids")), frozenset(znodes.children(f"{root}/migration/ids"))
        mode = znodes.get(f"{root}/migration/mode")
        owners = {place: data.decode("utf-8", "replace") for place, data in _below(znodes, f"{root}/owners")}
        stored = {place: int(data) for place, data in _below(znodes, f"{root}/offsets") if data.isdigit()}
        topics = {topic for topic, _ in (*owners, *stored)}
        places = [
            TopicPartition(topic, int(number))
            for topic in sorted(topics)
            for number in znodes.children(f"/brokers/topics/{topic}/partitions")
        ]
        clients, committed, ends = self._ask(group, bootstrap or _registered(znodes), places)
        node = None if mode is None else mode.decode("utf-8", "replace")
        plain = frozenset(clients - migrating)
        return _Group(ids, migrating, node, plain, bool(clients), owners, stored, committed, ends)


def _report(group: str, seen: _Group) -> GroupReport:
    kinds = {each: "with migration" if each in seen.migrating else "without migration" for each in sorted(seen.ids)}
    members = [*kinds.items(), *((each, "plain KafkaConsumer") for each in sorted(seen.plain))]
    places = sorted({*seen.owners, *seen.stored, *seen.committed})
    columns: tuple[Mapping[tuple[str, int], object], ...] = (seen.owners, seen.stored, seen.committed, seen.ends)
    partitions = [(f"{place[0]}-{place[1]}", *(str(each.get(place, "-")) for each in columns)) for place in places]
    node = "absent" if seen.node is None else repr(seen.node[:100])
    return GroupReport(group, node, seen.followed, members, partitions, tuple(_findings(seen)))


def _findings(seen: _Group) -> Iterator[str]:
    if seen.node == KAFKA and seen.older:
        yield f"ZooKeeper decides, though the mode is kafka: {', '.join(seen.older)} cannot follow it"
    if seen.node is not None and seen.node not in _MODES:
        yield f"the mode node holds {seen.node[:100]!r}, which means ZooKeeper"
    if seen.plain and seen.followed == ZOOKEEPER:
        yield f"partitions are read twice: plain KafkaConsumers ({', '.join(sorted(seen.plain))}) beside ZooKeeper"
    if seen.committed and seen.ids and not seen.has_kafka_members:
        yield (
            "members commit to Kafka, and cannot any more when the first one with migration joins: set "
            "offsets.storage=zookeeper and dual.commit.enabled=false first"
        )


def _below(znodes: Znodes, path: str) -> Iterator[tuple[tuple[str, int], bytes]]:
    for topic in znodes.children(path):
        for number in znodes.children(f"{path}/{topic}"):
            data = znodes.get(f"{path}/{topic}/{number}")
            if data is not None and number.isdigit():
                yield (topic, int(number)), data


def _registered(znodes: Znodes) -> str:
    """The plain listeners of registered brokers whose host this machine knows."""
    payloads = [znodes.get(f"/brokers/ids/{each}") for each in znodes.children("/brokers/ids")]
    listeners = [each for data in payloads if data for each in plain_listeners(json.loads(data))]
    known = [f"{host}:{port}" for host, port in listeners if is_known_here(host)]
    if not known:
        raise WrongUseError(
            "--bootstrap: expected servers, as ZooKeeper has no broker with a plain listener known here"
        )
    return ",".join(known)


def _by_kafka(group: str, bootstrap: str, places: list[TopicPartition]) -> OfKafka:
    """Client ids of the members, committed offsets, and the ends of the logs."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    try:
        described = _answer(admin.describe_consumer_groups([group])[group])
        clients = {each.client_id for each in described.members}
        if not places:
            return clients, {}, {}
        asked = ConsumerGroupTopicPartitions(group, places)
        found = _answer(admin.list_consumer_group_offsets([asked])[group]).topic_partitions
        committed = {(each.topic, each.partition): each.offset for each in found if each.offset >= 0}
        latest = admin.list_offsets({each: OffsetSpec.latest() for each in places})
        ends = {(each.topic, each.partition): _answer(future).offset for each, future in latest.items()}
    except (KafkaException, TimeoutError) as error:
        raise ClusterError(f"{bootstrap}: expected Kafka to describe the group {group}; got {error}") from error
    return clients, committed, ends


def _answer(future: Any) -> Any:
    return future.result(_ANSWER_WITHIN_S)
