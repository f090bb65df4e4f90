"""What an operator does with a group: look at it in both systems, and write the mode."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from pytest_kmigrate.documents.kip_125.evidence.modes import KAFKA, ZOOKEEPER
from pytest_kmigrate.documents.kip_125.reference.answers import is_known_here, plain_listeners
from pytest_kmigrate.documents.kip_125.reference.java_keys import for_librdkafka
from pytest_kmigrate.documents.kip_125.reference.settings import RefusedError
from pytest_kmigrate.model.document import GroupReport, Servers
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.peer import Znodes
from pytest_kmigrate.probes.zookeeper import ZookeeperClient

_ANSWER_WITHIN_S = 15.0
_URGENT_WITHIN_S = 3.0
"""The way back to ZooKeeper is taken without Kafka when it does not answer: it may be what is broken."""
_BROKERS = "/brokers/ids"
_MODES = (KAFKA, ZOOKEEPER)
Offsets = dict[tuple[str, int], int]
OfKafka = tuple[set[str], Offsets, Offsets]
"""Client ids of the members, committed offsets, and the ends of the logs."""
Ask = Callable[[str, Mapping[str, str], list[TopicPartition], float], OfKafka]
"""Asks Kafka about a group, by these settings of a client, within so many seconds; ClusterError without an answer."""


@dataclass(frozen=True)
class _Group:
    """What both systems have of it."""

    ids: frozenset[str]
    migrating: frozenset[str]
    node: str | None
    """The content of the mode node."""
    clients: frozenset[str]
    """Client ids of members of Kafka's group."""
    owners: Mapping[tuple[str, int], str] = field(default_factory=dict)
    stored: Mapping[tuple[str, int], int] = field(default_factory=dict)
    committed: Mapping[tuple[str, int], int] = field(default_factory=dict)
    ends: Mapping[tuple[str, int], int] = field(default_factory=dict)
    unanswered: str = ""
    """Why nothing is known of Kafka's half; empty: it answered."""

    @property
    def plain(self) -> frozenset[str]:
        """Client ids of members of Kafka's group that are not registered in ZooKeeper."""
        return self.clients - self.migrating

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

    def __init__(self, reach: "Callable[[Servers], Znodes] | None" = None, ask: Ask | None = None) -> None:
        """``reach`` connects to ZooKeeper, ``ask`` asks Kafka's coordinator; by default real ones."""
        self._reach = reach or _by_zookeeper
        self._ask = ask or _by_kafka

    def status(self, group: str, servers: Servers) -> GroupReport:
        """The group as both systems have it, and what is to be done before it migrates.

        WrongUseError for a group that ZooKeeper does not have; ClusterError where a server does not answer.
        """
        with self._reached(servers) as znodes:
            return _report(group, self._seen(group, znodes, servers))

    def toggle(self, group: str, mode: str, servers: Servers) -> GroupReport:
        """Write the mode; WrongUseError for what the document forbids, or a mode that it does not have.

        The way back to ZooKeeper needs no Kafka: if that does not answer soon, the mode is written all the same.
        """
        if mode not in _MODES:
            raise WrongUseError(f"MODE: expected {' or '.join(_MODES)}; got {mode!r}")
        with self._reached(servers) as znodes:
            seen = self._seen(group, znodes, servers, is_urgent=mode == ZOOKEEPER)
            if refusal := _refusal(group, mode, seen):
                raise WrongUseError(refusal)
            znodes.set(f"/consumers/{group}/migration/mode", mode.encode())
            if seen.unanswered:
                return _report(group, replace(seen, node=mode))
            return _report(group, self._seen(group, znodes, servers, is_urgent=True))

    @contextmanager
    def _reached(self, servers: Servers) -> Iterator[Znodes]:
        znodes = self._reach(servers)
        try:
            yield znodes
        finally:
            if isinstance(znodes, ZookeeperClient):
                znodes.close()

    def _seen(self, group: str, znodes: Znodes, servers: Servers, *, is_urgent: bool = False) -> _Group:
        root = f"/consumers/{group}"
        if znodes.get(root) is None:
            raise WrongUseError(_unknown(group, znodes, servers.zookeeper))
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
        node = None if mode is None else mode.decode("utf-8", "replace")
        try:
            client = {**_client(servers), "bootstrap.servers": servers.bootstrap or _registered(znodes)}
            within_s = _URGENT_WITHIN_S if is_urgent else _ANSWER_WITHIN_S
            clients, committed, ends = self._ask(group, client, places, within_s)
        except (ClusterError, _NoBrokerError) as error:
            if not is_urgent:
                raise
            return _Group(ids, migrating, node, frozenset(), owners, stored, unanswered=str(error))
        return _Group(ids, migrating, node, frozenset(clients), owners, stored, committed, ends)


class _NoBrokerError(WrongUseError):
    """ZooKeeper has no broker that can be asked from here."""


def _unknown(group: str, znodes: Znodes, zookeeper: str) -> str:
    """What is wrong where a group is not found: the path below which it is looked for, or its name."""
    if znodes.get(_BROKERS) is None:
        return (
            f"--zookeeper: expected the path below which Kafka is registered; got {zookeeper!r}, where {_BROKERS} is "
            "missing: check the chroot"
        )
    known = ", ".join(znodes.children("/consumers")) or "none"
    return f"GROUP: expected a group that ZooKeeper has ({known}); got {group!r}"


def _refusal(group: str, mode: str, seen: _Group) -> str:
    """Why a group must not follow this mode now; empty: it may."""
    if mode == ZOOKEEPER and seen.plain:
        return (
            f"{group}: expected no plain KafkaConsumer in the group before ZooKeeper decides, or partitions "
            f"are read twice; there are {', '.join(sorted(seen.plain))}: replace them by members with "
            "migration first"
        )
    if mode == ZOOKEEPER:
        return ""
    if not seen.migrating:
        return (
            f"{group}: expected a member with migration, which follows the mode; there is none: replace the "
            "members by such ones first"
        )
    if seen.older:
        return (
            f"{group}: expected only members that follow the mode; {', '.join(seen.older)} cannot, and so ZooKeeper "
            "would decide on: replace them by members with migration first"
        )
    if absent := sorted(seen.migrating - seen.clients):
        return (
            f"{group}: expected every member with migration in Kafka's group, which is to decide; "
            f"{', '.join(absent)} is not: look at its log, and at its coordination.migration.bootstrap.servers"
        )
    return ""


def _report(group: str, seen: _Group) -> GroupReport:
    kinds = {each: "with migration" if each in seen.migrating else "without migration" for each in sorted(seen.ids)}
    members = [*kinds.items(), *((each, "plain KafkaConsumer") for each in sorted(seen.plain))]
    places = sorted({*seen.owners, *seen.stored, *seen.committed})
    columns: tuple[Mapping[tuple[str, int], object], ...] = (seen.owners, seen.stored, seen.committed, seen.ends)
    partitions = [(f"{place[0]}-{place[1]}", *(str(each.get(place, "-")) for each in columns)) for place in places]
    node = "absent" if seen.node is None else repr(seen.node[:100])
    return GroupReport(group, node, seen.followed, members, partitions, tuple(_findings(seen)))


def _findings(seen: _Group) -> Iterator[str]:
    if seen.unanswered:
        yield (
            f"Kafka was not asked for its half: {seen.unanswered}. KafkaConsumers that are in the group read every "
            "partition of theirs twice: look for them as soon as Kafka answers"
        )
    if seen.node == KAFKA and seen.older:
        yield f"ZooKeeper decides, though the mode is kafka: {', '.join(seen.older)} cannot follow it"
    if seen.node is not None and seen.node not in _MODES:
        yield f"the mode node holds {seen.node[:100]!r}, which means ZooKeeper"
    if seen.plain and seen.followed == ZOOKEEPER:
        yield f"partitions are read twice: plain KafkaConsumers ({', '.join(sorted(seen.plain))}) beside ZooKeeper"
    if seen.committed and seen.ids and not seen.clients:
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
        raise _NoBrokerError(
            "--bootstrap: expected servers, as ZooKeeper has no broker with a plain listener known here"
        )
    return ",".join(known)


def _client(servers: Servers) -> dict[str, str]:
    """Settings of a Kafka client, in librdkafka's words or in Java's; WrongUseError for what it cannot take."""
    try:
        return for_librdkafka(servers.client)
    except RefusedError as refused:
        raise WrongUseError(f"--client: {refused}") from refused


def _by_zookeeper(servers: Servers) -> Znodes:
    return ZookeeperClient(servers.zookeeper, servers.login, tls=servers.tls)


def _by_kafka(group: str, client: Mapping[str, str], places: list[TopicPartition], within_s: float) -> OfKafka:
    """Client ids of the members, committed offsets, and the ends of the logs."""
    asked = client["bootstrap.servers"]
    until = time.monotonic() + within_s

    def answer(future: Any) -> Any:
        return future.result(max(0.1, until - time.monotonic()))

    try:
        admin = AdminClient({**client, "log_level": 0})
        described = answer(admin.describe_consumer_groups([group], request_timeout=within_s)[group])
        clients = {each.client_id for each in described.members}
        if not places:
            return clients, {}, {}
        stored = [ConsumerGroupTopicPartitions(group, places)]
        found = answer(admin.list_consumer_group_offsets(stored, request_timeout=within_s)[group]).topic_partitions
        committed = {(each.topic, each.partition): each.offset for each in found if each.offset >= 0}
        latest = admin.list_offsets({each: OffsetSpec.latest() for each in places}, request_timeout=within_s)
        ends = {(each.topic, each.partition): answer(future).offset for each, future in latest.items()}
    except TimeoutError as error:
        raise ClusterError(f"{asked}: expected Kafka to answer within {within_s:g} s; it did not") from error
    except KafkaException as error:
        reason = str(error.args[0].str()) or str(error.args[0].name())
        raise ClusterError(f"{asked}: expected Kafka to describe the group {group}; got {reason}") from error
    return clients, committed, ends
