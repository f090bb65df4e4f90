"""The brokers' image: what each of them reports, and where they do not agree.

A broker that is behind must be a difference, so all of them are asked. One that does not answer makes its families
unknown, which ``unanswered`` among the extras says; what a broker has of its own no other reports, so it is among
``silent_brokers`` without an answer, also when it was ended on purpose.

Mind: a broker in ZooKeeper mode answers about configs, ACLs and credentials from ZooKeeper, also in hybrid mode. Only
brokers already in KRaft mode are a third opinion.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.image import MetadataImage, OfBrokers
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.protocols import Cluster, Node
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.probes.image_spelling import (
    acl_entry_of,
    acl_key_of,
    config_key_of,
    quota_key,
    scram_mechanism,
    token_value,
)
from pytest_kmigrate.redaction import HIDDEN, hashed, shown
from pytest_kmigrate.wire.admin import BROKER_RESOURCE
from pytest_kmigrate.wire.describing import (
    TOPIC_RESOURCE,
    Resource,
    acls_at,
    all_topics_at,
    configs_at,
    features_at,
    quotas_at,
    scram_at,
)
from pytest_kmigrate.wire.request import UnsupportedRequestError
from pytest_kmigrate.wire.tokens import Token, tokens_at

Entries = Mapping[str, Mapping[str, object]]
"""Of one family, as one broker reports it: key -> fields."""

Answers = dict[str, dict[str, Entries]]
"""What brokers reported: family -> broker -> entries."""

_WITHIN_S = 5
"""How long one broker may take: an answer is there at once, or the broker stands still."""

_NO_TOKENS = frozenset({"DELEGATION_TOKEN_AUTH_DISABLED", "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"})
"""What a cluster without tokens answers."""

_OF_THE_QUORUM = "kraft.version"
"""A feature that brokers report about the quorum itself; it is in none of the metadata records."""

_OWN_CONFIGS = "own configs"
"""What each broker has for itself; no family, since no other broker could agree."""

_ONLY_FIELD = {"features": "level", "acls": "entries"}
"""Families whose entries are one value."""


def image_of_brokers(cluster: Cluster) -> MetadataImage:
    """What the live brokers answer, without what Kafka keeps secret.

    SCRAM credentials have iterations only, and a sensitive config is ``[hidden]``: compare the keys that both sides
    have, and let ``[hidden]`` equal anything. Without authorizer ACLs are unknown.
    """
    reported, unanswered = _asked(cluster)
    of_one = reported.pop(_OWN_CONFIGS, {})
    families: dict[str, Any] = {family: agreed(by_broker) for family, by_broker in reported.items()}
    for family in _ONLY_FIELD.keys() & families.keys():
        families[family] = {key: entry[_ONLY_FIELD[family]] for key, entry in families[family].items()}
    if "configs" in families:
        families["configs"].update(entry for entries in of_one.values() for entry in entries.items())
    silent = [node.spec.node_id for node in cluster.nodes(Role.BROKER) if node.name not in of_one]
    extra = OfBrokers(silent_brokers=silent, unanswered=unanswered)
    return MetadataImage(source="admin", known=tuple(families), extra=extra, **families)


def agreed(reported: Mapping[str, Entries]) -> dict[str, dict[str, Any]]:
    """Entries as all nodes report them, field by field; where they disagree, the field has each node's value."""
    found: dict[str, dict[str, Any]] = {}
    for key in sorted({key for entries in reported.values() for key in entries}):
        by_node = {node: entries.get(key, {}) for node, entries in reported.items()}
        fields = dict.fromkeys(field for entry in by_node.values() for field in entry)
        found[key] = {field: _agreed({node: entry.get(field) for node, entry in by_node.items()}) for field in fields}
    return found


def _agreed(by_node: dict[str, object]) -> object:
    first, *others = by_node.values()
    return first if all(each == first for each in others) else by_node


def _asked(cluster: Cluster) -> tuple[Answers, dict[str, list[str]]]:
    """What every live broker reports of each family, and per family those that do not answer."""
    reported: Answers = {}
    unanswered: dict[str, list[str]] = {}
    for node in cluster.nodes(Role.BROKER):
        if not node.alive:  # ended on purpose: it serves no client that could receive anything wrong
            continue
        for families, ask in _questions(node):
            try:
                for family, entries in ask(cluster.peer(node.name)):
                    reported.setdefault(family, {})[node.name] = entries
            except UnsupportedRequestError:
                continue  # what brokers of this release and mode cannot report makes none late
            except ClusterError:
                for family in families:
                    unanswered.setdefault(family, []).append(node.name)
    return reported, unanswered


Question = tuple[Sequence[str], Callable[[Peer], Iterator[tuple[str, Entries]]]]


def _questions(node: Node) -> list[Question]:
    """What a broker is asked, with the families that it is about."""
    of_any: list[Question] = [
        (("topics", "partitions"), _topics),
        (("configs",), lambda peer: _configs(peer, node.spec.node_id)),
        (("acls",), _acls),
        (("quotas",), _quotas),
        (("scram",), _scram),
        (("delegation_tokens",), _tokens),
    ]
    return [*of_any, (("features",), _features)] if node.mode is BrokerMode.KRAFT else of_any


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


def _configs(peer: Peer, node_id: int) -> Iterator[tuple[str, Entries]]:
    """Those of topics and of all brokers together, and its own."""
    topics = all_topics_at(peer, within_s=_WITHIN_S)
    own, of_all = (BROKER_RESOURCE, str(node_id)), (BROKER_RESOURCE, "")
    reported = configs_at(peer, [*((TOPIC_RESOURCE, name) for name in topics), of_all, own], within_s=_WITHIN_S)
    yield _OWN_CONFIGS, dict([_config(own, reported.pop(own))])
    yield "configs", dict(_config(resource, values) for resource, values in reported.items() if values)


def _config(resource: Resource, values: Mapping[str, str | None]) -> tuple[str, dict[str, object]]:
    return config_key_of(*resource), {
        name: HIDDEN if value is None else shown(name, value) for name, value in sorted(values.items())
    }


def _acls(peer: Peer) -> Iterator[tuple[str, Entries]]:
    """Nothing without authorizer; a double entry stays double, since that is a finding."""
    acls = acls_at(peer, within_s=_WITHIN_S)
    if acls is None:
        return
    found: dict[str, list[str]] = {}
    for acl in acls:
        key = acl_key_of(acl.resource_type, acl.pattern_type, acl.resource)
        found.setdefault(key, []).append(acl_entry_of(acl.principal, acl.host, acl.operation, acl.permission))
    yield "acls", {key: {"entries": sorted(entries)} for key, entries in found.items()}


def _scram(peer: Peer) -> Iterator[tuple[str, Entries]]:
    """Nothing from a broker that cannot report it."""
    reported = scram_at(peer, within_s=_WITHIN_S)
    if reported is not None:
        yield (
            "scram",
            {
                f"{user}:{scram_mechanism(mechanism)}": {"iterations": iterations}
                for (user, mechanism), iterations in reported.items()
            },
        )


def _quotas(peer: Peer) -> Iterator[tuple[str, Entries]]:
    yield "quotas", {quota_key(entity): dict(values) for entity, values in quotas_at(peer, within_s=_WITHIN_S)}


def _features(peer: Peer) -> Iterator[tuple[str, Entries]]:
    reported = features_at(peer, within_s=_WITHIN_S).items()
    yield "features", {name: {"level": level} for name, level in reported if name != _OF_THE_QUORUM}


def _tokens(peer: Peer) -> Iterator[tuple[str, Entries]]:
    """Nothing where the cluster has no tokens."""
    error, tokens = tokens_at(peer, within_s=_WITHIN_S)
    if error == "NONE":
        yield "delegation_tokens", {token_id: _value(token) for token_id, token in tokens.items()}
    elif error not in _NO_TOKENS:
        raise ClusterError(f"expected a broker to report its delegation tokens; got {error}")


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
