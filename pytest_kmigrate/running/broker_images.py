"""The brokers' image: what each of them tells, and where they do not agree.

A broker that is behind must be a difference, so all of them are asked whatever one broker can know by itself. One that
does not answer makes its families unknown, which ``unanswered`` among the extras says.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.probes.cluster_metadata import image_from_admin
from pytest_kmigrate.probes.image_spelling import DEFAULT, config_key, quota_key, token_value
from pytest_kmigrate.providers.process.cluster import ProcessCluster
from pytest_kmigrate.redaction import HIDDEN, hashed, shown
from pytest_kmigrate.workloads.delegation_tokens import Token, tokens_at
from pytest_kmigrate.workloads.raw_admin import default_broker_configs_at
from pytest_kmigrate.workloads.raw_describing import all_topics_at, features_at, quotas_at

Entries = Mapping[str, Mapping[str, object]]
"""Of one family, as one broker tells it: key -> fields."""

Answers = dict[str, dict[str, Entries]]
"""What brokers told: family -> broker -> entries."""

_WITHIN_S = 5
"""How long one broker may take: an answer is there at once, or the broker stands still."""

_NO_TOKENS = frozenset({"DELEGATION_TOKEN_AUTH_DISABLED", "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"})
"""What a cluster without tokens answers."""

_OF_THE_QUORUM = "kraft.version"
"""A feature that brokers tell of the quorum itself; it is in none of the metadata records."""


def image_of_brokers(cluster: ProcessCluster) -> MetadataImage:
    """What the live brokers answer; those in ZooKeeper mode read much of it from ZooKeeper itself."""
    image = image_from_admin(cluster.client_connection())
    told, unanswered = _asked(cluster)
    families: dict[str, Any] = {family: agreed(by_broker) for family, by_broker in told.items()}
    if "features" in families:
        families["features"] = {name: entry["level"] for name, entry in families["features"].items()}
    extra: dict[str, Any] = {**image.extra, "unanswered": unanswered}
    if "configs" not in families:  # those of all brokers together are not absent, but unknown
        extra["silent_brokers"] = [*extra.get("silent_brokers", ()), DEFAULT]
    families["configs"] = {**image.configs, **families.get("configs", {})}
    known = dict.fromkeys([*image.known, *families])
    return replace(image, known=tuple(known), extra=extra, **families)


def agreed(told: Mapping[str, Entries]) -> dict[str, dict[str, Any]]:
    """Entries as all nodes tell them, field by field; where they do not agree, the field says who tells what."""
    found: dict[str, dict[str, Any]] = {}
    for key in sorted({key for entries in told.values() for key in entries}):
        by_node = {node: entries.get(key, {}) for node, entries in told.items()}
        fields = dict.fromkeys(field for entry in by_node.values() for field in entry)
        found[key] = {field: _agreed({node: entry.get(field) for node, entry in by_node.items()}) for field in fields}
    return found


def _agreed(by_node: dict[str, object]) -> object:
    first, *others = by_node.values()
    return first if all(each == first for each in others) else by_node


def _asked(cluster: ProcessCluster) -> tuple[Answers, dict[str, list[str]]]:
    """What every live broker tells of each family, and per family those that do not answer."""
    told: Answers = {}
    unanswered: dict[str, list[str]] = {}
    for node in cluster.nodes(Role.BROKER):
        if not node.alive:  # ended on purpose: it serves no client who could be told anything wrong
            continue
        for families, ask in _questions(node.mode):
            try:
                for family, entries in ask(cluster.peer(node.name)):
                    told.setdefault(family, {})[node.name] = entries
            except ClusterError:
                for family in families:
                    unanswered.setdefault(family, []).append(node.name)
    return told, unanswered


Question = tuple[Sequence[str], Callable[[Peer], Iterator[tuple[str, Entries]]]]


def _questions(mode: BrokerMode | None) -> list[Question]:
    """What a broker is asked, with the families that it is about."""
    of_any: list[Question] = [
        (("topics", "partitions"), _topics),
        (("configs",), _default_configs),
        (("quotas",), _quotas),
        (("delegation_tokens",), _tokens),
    ]
    return [*of_any, (("features",), _features)] if mode is BrokerMode.KRAFT else of_any


def _topics(peer: Peer) -> Iterator[tuple[str, Entries]]:
    topics = all_topics_at(peer, within_s=_WITHIN_S)
    yield "topics", {name: {"id": topic.topic_id} for name, topic in topics.items()}
    yield (
        "partitions",
        {
            f"{name}-{number}": partition
            for name, topic in topics.items()
            for number, partition in topic.partitions.items()
        },
    )


def _default_configs(peer: Peer) -> Iterator[tuple[str, Entries]]:
    """Of a config that a broker has of its own, too, confluent-kafka's client tells only one of the values."""
    told = default_broker_configs_at(peer, within_s=_WITHIN_S).items()
    values = {name: HIDDEN if value is None else shown(name, value) for name, value in told}
    yield "configs", {config_key("broker", ""): values}


def _quotas(peer: Peer) -> Iterator[tuple[str, Entries]]:
    yield "quotas", {quota_key(entity): dict(values) for entity, values in quotas_at(peer, within_s=_WITHIN_S)}


def _features(peer: Peer) -> Iterator[tuple[str, Entries]]:
    told = features_at(peer, within_s=_WITHIN_S).items()
    yield "features", {name: {"level": level} for name, level in told if name != _OF_THE_QUORUM}


def _tokens(peer: Peer) -> Iterator[tuple[str, Entries]]:
    """Nothing where the cluster has no tokens."""
    error, tokens = tokens_at(peer, within_s=_WITHIN_S)
    if error == "NONE":
        yield "delegation_tokens", {token_id: _value(token) for token_id, token in tokens.items()}
    elif error not in _NO_TOKENS:
        raise ClusterError(f"expected a broker to tell its delegation tokens; got {error}")


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
