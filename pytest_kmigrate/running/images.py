"""Metadata images of a live cluster at one named moment: metadata log, ZooKeeper, brokers."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pytest_kmigrate.distributions.cds import flags_to_use
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.protocols import View
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.probes.cluster_metadata import image_from_admin
from pytest_kmigrate.probes.image_spelling import config_key, token_value
from pytest_kmigrate.probes.metadata_log import decoded, image_from_records
from pytest_kmigrate.probes.znodes import image_from_znodes
from pytest_kmigrate.probes.zookeeper import ZookeeperClient
from pytest_kmigrate.providers.process.cluster import ProcessCluster
from pytest_kmigrate.redaction import HIDDEN, hashed, shown
from pytest_kmigrate.waiting import NotYet, until
from pytest_kmigrate.workloads.delegation_tokens import Token, tokens_at
from pytest_kmigrate.workloads.raw_admin import default_broker_configs_at

Taken = dict[str, tuple[MetadataImage, int]]
"""Images by label, each with the time its taking began (nanoseconds since the run began)."""

Entries = Mapping[str, Mapping[str, object]]
"""Of one family, as one broker tells it: key -> fields."""

LOG, ZOOKEEPER, BROKERS = "log", "zookeeper", "brokers"
_DUMP_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class ImageSource:
    """Takes images of one cluster."""

    def __init__(self, cluster: ProcessCluster, view: View, zookeeper: ZookeeperClient | None) -> None:
        self._cluster = cluster
        self._view = view
        self._zookeeper = zookeeper

    def of_log(self) -> MetadataImage:
        """The metadata log of the quorum's leader, decoded by Kafka's own tool."""
        leader = self._view.quorum_leader()
        if leader is None:
            raise ClusterError("expected a quorum leader to read the metadata log of; there is none now")
        node = self._cluster.node(leader)
        archive = node.distribution.cds_archive
        flags = (*_DUMP_FLAGS, *(flags_to_use(archive) if archive else ()))
        java = self._cluster.software.java
        return image_from_records(decoded(node.disk, java, node.distribution.classpath, flags))

    def of_zookeeper(self) -> MetadataImage:
        """The whole ZooKeeper tree."""
        if self._zookeeper is None:
            raise ClusterError("expected a cluster with ZooKeeper; this topology has none")
        return image_from_znodes(self._zookeeper.snapshot())

    def of_brokers(self) -> MetadataImage:
        """What the brokers answer; in ZooKeeper mode they read much of it from ZooKeeper itself."""
        image = image_from_admin(self._cluster.client_connection())
        image = replace(image, configs={**image.configs, **agreed(self._told(_default_configs))})
        if tokens := self._told(_tokens):
            image = replace(image, known=(*image.known, "delegation_tokens"), delegation_tokens=agreed(tokens))
        return image

    def _told(self, ask: Callable[[Peer], Entries | None]) -> dict[str, Entries]:
        """What each broker tells; nothing of one that does not answer or has nothing of the kind."""
        told = {}
        for node in self._cluster.nodes(Role.BROKER):
            with suppress(ClusterError, AwaitTimeoutError):
                entries = ask(self._cluster.peer(node.name))
                if entries is not None:
                    told[node.name] = entries
        return told

    def sides(self) -> dict[str, Callable[[], MetadataImage]]:
        """The sides that can be asked now."""
        sides: dict[str, Callable[[], MetadataImage]] = {BROKERS: self.of_brokers}
        if self._zookeeper is not None:
            sides[ZOOKEEPER] = self.of_zookeeper
        if any(node.alive for node in self._cluster.nodes(Role.CONTROLLER)):
            sides[LOG] = self.of_log
        return sides


def agreed(told: Mapping[str, Entries]) -> dict[str, dict[str, Any]]:
    """Entries as all nodes tell them, field by field; where they do not agree, the field says who tells what."""
    found: dict[str, dict[str, Any]] = {}
    for key in sorted({key for entries in told.values() for key in entries}):
        by_node = {node: entries.get(key, {}) for node, entries in told.items()}
        fields = dict.fromkeys(field for entry in by_node.values() for field in entry)
        found[key] = {field: _agreed({node: entry.get(field) for node, entry in by_node.items()}) for field in fields}
    return found


def _agreed(by_node: Mapping[str, object]) -> object:
    first, *others = by_node.values()
    return first if all(each == first for each in others) else "; ".join(f"{k}: {v}" for k, v in by_node.items())


def _default_configs(peer: Peer) -> Entries:
    """Of a config that a broker has of its own, too, confluent-kafka's client tells only one of the values."""
    told = default_broker_configs_at(peer).items()
    return {config_key("broker", ""): {name: HIDDEN if value is None else shown(name, value) for name, value in told}}


def _tokens(peer: Peer) -> Entries | None:
    error, tokens = tokens_at(peer)
    return {token_id: _value(token) for token_id, token in tokens.items()} if error == "NONE" else None


def _value(token: Token) -> dict[str, object]:
    value = token_value(
        owner=token.owner,
        requester=token.requester,
        renewers=token.renewers,
        issued_ms=token.issued_ms,
        max_ms=token.max_ms,
        expires_ms=token.expires_ms,
    )
    return {**value, "digest": hashed(token.hmac.hex())}


def settled(take: Callable[[], Taken], differences: Callable[[Taken], int], within_s: float) -> tuple[Taken, float]:
    """Images taken again until they agree or time is up, and the seconds it took: writing behind takes its time.

    AwaitTimeoutError when a side could not be seen in the end: what it was before says nothing of the others now.
    """
    began = time.monotonic()
    images: Taken = {}

    def agree() -> bool | NotYet:
        nonlocal images
        images = {}
        try:
            images = take()
        except ClusterError as error:  # nobody answers, during an election say
            return NotYet(error)
        silent = sorted(broker for image, _ in images.values() for broker in image.silent)
        if silent:
            return NotYet(f"no configs of {', '.join(silent)}")
        found = differences(images)
        return found == 0 or NotYet(f"{found} differences")

    try:
        until(agree, awaited="equal metadata on every side", within_s=within_s, every_s=0.2)
    except AwaitTimeoutError:
        if not images:
            raise
        # The images as they are go into the history; the checker says what differs.
    return images, time.monotonic() - began
