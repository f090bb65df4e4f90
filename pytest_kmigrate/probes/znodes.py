"""ZooKeeper's side of the metadata: a snapshot of the tree, and the image it stands for.

Watching single znodes while they change is in znode_watcher.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from pytest_kmigrate import redaction
from pytest_kmigrate.model.image import FAMILIES, NO_BROKER, MetadataImage, OfZooKeeper
from pytest_kmigrate.probes import image_spelling as spelling
from pytest_kmigrate.probes.znode_watcher import ZnodeWatcher

__all__ = ["Tree", "ZnodeWatcher", "image_from_znodes", "snapshot"]

Tree = Mapping[str, bytes | None]

_IN_FLIGHT = 500  # requests sent ahead of their answers: enough to hide the latency, few enough not to flood
_CREDENTIAL = re.compile(r"salt=(?P<salt>[^,]+),stored_key=(?P<stored>[^,]+),server_key=(?P<server>[^,]+),")
_DIGEST = re.compile(r"digest=(?P<digest>[^,]+),")
_ITERATIONS = re.compile(r"iterations=(\d+)")
_HOLDS_AN_OBJECT = re.compile(
    r"/(brokers/topics/[^/]+(/partitions/\d+/state)?|config/(topics|brokers|ips)/[^/]+"
    r"|kafka-acl/[^/]+/[^/]+|kafka-acl-extended/[^/]+/[^/]+/[^/]+|delegation_token/tokens/[^/]+)\Z"
)
_MAY_BE_EMPTY = re.compile(
    r"/(config/(users|clients)/[^/]+|config/users/[^/]+/clients/[^/]+|latest_producer_id_block)\Z"
)


def snapshot(client: KazooClient, within_s: float) -> dict[str, bytes | None]:
    """Every znode with its data; one that goes meanwhile is left out, as is ZooKeeper's own subtree.

    ``within_s`` is for each answer: kazoo's errors when one does not come, or the connection ends meanwhile.

    It is not one moment: while Kafka writes, two znodes may be of different times.
    """
    tree: dict[str, bytes | None] = {}
    level = ["/"]
    while level:
        below: list[str] = []
        for begin in range(0, len(level), _IN_FLIGHT):
            paths = level[begin : begin + _IN_FLIGHT]
            asked = [(path, client.get_async(path), client.get_children_async(path)) for path in paths]
            for path, data, children in asked:
                try:
                    tree[path] = data.get(timeout=within_s)[0]
                    below += [f"{path.rstrip('/')}/{child}" for child in children.get(timeout=within_s)]
                except NoNodeError:
                    tree.pop(path, None)
        level = [path for path in below if path != "/zookeeper"]
    return dict(sorted(tree.items()))


def image_from_znodes(tree: Tree) -> MetadataImage:
    """The image a full tree stands for.

    Passwords among brokers' configs are encrypted there with ``password.encoder.secret``, so what they are is not to be
    seen: they are ``[hidden]``, which equals anything.
    Znodes have no partition epoch (the version of the state znode is another count), so that key is absent.
    ``features`` are filled but not ``known``: a migration does not bring metadata.version to ZooKeeper.
    """
    reading = _Reading(tree)
    return MetadataImage(
        source="zookeeper",
        known=tuple(family for family in FAMILIES if family != "features"),
        topics=reading.topics(),
        partitions=reading.partitions(),
        configs=reading.configs(),
        acls=reading.acls(),
        quotas=reading.quotas(),
        scram=reading.scram(),
        delegation_tokens=reading.tokens(),
        producer_ids=reading.producer_ids(),
        features=_json(tree.get("/feature")).get("features", {}),
        extra=OfZooKeeper(
            delete_topics=sorted(reading.children("/admin/delete_topics")),
            reassign_partitions=_json(tree.get("/admin/reassign_partitions")) or None,
            brokers=sorted(int(broker) for broker in reading.children("/brokers/ids")),
            config_changes=sorted(reading.children("/config/changes")),
            controller=_json(tree.get("/controller")) or None,
            controller_epoch=_number(tree.get("/controller_epoch")),
            migration=_json(tree.get("/migration")) or None,
            cluster_id=_json(tree.get("/cluster/id")).get("id"),
            producer_ids_end=reading.producer_ids_end(),
            unread=reading.unread(),
        ),
    )


class _Reading:
    """One reading of a tree, a method per family."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._children: dict[str, list[str]] = {}
        for path in tree:
            parent, _, name = path.rpartition("/")
            if name:
                self._children.setdefault(parent, []).append(name)

    def children(self, path: str) -> list[str]:
        return self._children.get(path, [])

    def unread(self) -> list[str]:
        """Topics, states, configs, quotas, ACLs and tokens that hold no JSON object, or one with nothing in it.

        A user's or client's znode is empty where there is something only below it, the block of producer ids until
        somebody takes one.
        """
        return sorted(
            path
            for path, data in self._tree.items()
            if (_HOLDS_AN_OBJECT.match(path) or (data and _MAY_BE_EMPTY.match(path))) and not _json(data)
        )

    def topics(self) -> dict[str, dict[str, object]]:
        return {topic: {"id": self._topic(topic).get("topic_id")} for topic in sorted(self.children("/brokers/topics"))}

    def _topic(self, topic: str) -> dict[str, Any]:
        return _json(self._tree.get(f"/brokers/topics/{topic}"))

    def partitions(self) -> dict[str, dict[str, object]]:
        images: dict[str, dict[str, object]] = {}
        for topic in self.children("/brokers/topics"):
            value = self._topic(topic)
            for partition, replicas in value.get("partitions", {}).items():
                state = _json(self._tree.get(f"/brokers/topics/{topic}/partitions/{partition}/state"))
                images[f"{topic}-{partition}"] = {
                    "replicas": list(replicas),
                    "isr": sorted(state["isr"]) if "isr" in state else None,
                    "leader": state.get("leader"),
                    "leader_epoch": state.get("leader_epoch"),
                    "adding": sorted(value.get("adding_replicas", {}).get(partition, ())),
                    "removing": sorted(value.get("removing_replicas", {}).get(partition, ())),
                }
        return images

    def configs(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for kind, folder in (("topic", "topics"), ("broker", "brokers")):
            for name in sorted(self.children(f"/config/{folder}")):
                values = _config(self._tree, f"/config/{folder}/{name}")
                if values:
                    shown = {key: _shown(kind, key, value) for key, value in sorted(values.items())}
                    found[spelling.config_key(kind, name)] = shown
        return found

    def acls(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for pattern, root in self._acl_roots():
            for resource in self.children(root):
                for name in self.children(f"{root}/{resource}"):
                    listed = _json(self._tree.get(f"{root}/{resource}/{name}")).get("acls", [])
                    found.setdefault(spelling.acl_key(resource, pattern, name), []).extend(map(_acl_entry, listed))
        return spelling.sorted_acls(found)

    def _acl_roots(self) -> Iterator[tuple[str, str]]:
        yield "LITERAL", "/kafka-acl"
        for pattern in self.children("/kafka-acl-extended"):
            yield pattern.upper(), f"/kafka-acl-extended/{pattern}"

    def quotas(self) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for path, entity in self._quota_entities():
            values = {
                key: number for key, number in map(_quota, _config(self._tree, path).items()) if number is not None
            }
            if values:
                found[spelling.quota_key(entity)] = dict(sorted(values.items()))
        return dict(sorted(found.items()))

    def _quota_entities(self) -> Iterator[tuple[str, dict[str, str | None]]]:
        for kind, root in (("user", "/config/users"), ("client-id", "/config/clients"), ("ip", "/config/ips")):
            for name in self.children(root):
                entity = {kind: spelling.unsanitised(name)}
                yield f"{root}/{name}", entity
                clients = f"{root}/{name}/clients"
                for client in self.children(clients):
                    yield f"{clients}/{client}", {**entity, "client-id": spelling.unsanitised(client)}

    def scram(self) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = {}
        for name in sorted(self.children("/config/users")):
            for mechanism, value in sorted(_config(self._tree, f"/config/users/{name}").items()):
                if mechanism.startswith("SCRAM-"):
                    found[f"{spelling.unsanitised(name) or spelling.DEFAULT}:{mechanism}"] = _credential(value)
        return dict(sorted(found.items()))

    def tokens(self) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = {}
        for token in sorted(self.children("/delegation_token/tokens")):
            value = _json(self._tree.get(f"/delegation_token/tokens/{token}"))
            if value:
                found[token] = spelling.token_value(
                    owner=_principal(value.get("owner", "")),
                    requester=_principal(value.get("tokenRequester", "")),
                    renewers=map(_principal, value.get("renewers", ())),
                    issued_ms=int(value["issueTimestamp"]),
                    max_ms=int(value["maxTimestamp"]),
                    expires_ms=int(value["expiryTimestamp"]),
                )
        return found

    def producer_ids(self) -> dict[str, int]:
        """The first id that was never assigned.

        A ZooKeeper-mode broker stores the block it took, so the next one begins after its end. The KRaft controller
        stores a block of broker -1 that begins at the next id it will assign: no broker took it.
        """
        block, end = self._block(), self.producer_ids_end()
        if end is None:
            return {}
        return {"next": int(block["block_start"]) if int(block["broker"]) == NO_BROKER else end}

    def producer_ids_end(self) -> int | None:
        """A broker in ZooKeeper mode, and a copy, go on there also after a block that no broker took."""
        block = self._block()
        return int(block["block_end"]) + 1 if block else None

    def _block(self) -> dict[str, Any]:
        return _json(self._tree.get("/latest_producer_id_block"))


def _json(data: bytes | None) -> dict[str, Any]:
    try:
        parsed = json.loads(data or b"{}")
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _number(data: bytes | None) -> int | None:
    return int(data) if data and data.strip().isdigit() else None


def _config(tree: Tree, path: str) -> dict[str, str]:
    config = _json(tree.get(path)).get("config")
    return {str(key): str(value) for key, value in config.items()} if isinstance(config, dict) else {}


def _shown(kind: str, key: str, value: str) -> str:
    """A config as the image may hold it; a digest of what is encrypted anew each time would say nothing."""
    return redaction.HIDDEN if kind == "broker" and redaction.is_sensitive(key) else redaction.shown(key, value)


def _quota(item: tuple[str, str]) -> tuple[str, float | None]:
    """The number of a quota; None for SCRAM credentials, which live in the same znode, and for anything unreadable."""
    key, value = item
    if key.startswith("SCRAM-"):
        return key, None
    try:
        return key, float(value)
    except ValueError:
        return key, None


def _credential(value: str) -> dict[str, object]:
    iterations = _ITERATIONS.search(value)
    full, digested = _CREDENTIAL.search(value), _DIGEST.search(value)
    digest = (
        redaction.scram_digest(*full.group("salt", "stored", "server")) if full else digested and digested["digest"]
    )
    return {"iterations": int(iterations[1]) if iterations else None, "digest": digest}


def _acl_entry(value: Mapping[str, str]) -> str:
    return spelling.acl_entry(value["principal"], value["host"], value["operation"], value["permissionType"])


def _principal(sanitised: str) -> str:
    return spelling.unsanitised(sanitised) or ""
