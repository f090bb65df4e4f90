"""Reader of Strimzi's resources: one ``Kafka`` with its ``KafkaNodePool`` resources, in ZooKeeper and in KRaft mode."""

import re
from collections.abc import Iterator, Sequence
from itertools import count

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.importing.found import Found, FoundNode, Notes, Setting
from pytest_kmigrate.topology.importing.names import (
    AUTHORIZER,
    CLIENT_AUTH,
    CONTROLLER_LISTENERS,
    INTER_BROKER,
    KAFKA_AUTHORIZERS,
    LISTENERS,
    LOG_DIRS,
    MECHANISMS,
    PROCESS_ROLES,
    PROTOCOLS,
    ZOOKEEPER_CONNECT,
    ZOOKEEPER_TLS,
    of_listener,
    protocol,
    roles_in,
)
from pytest_kmigrate.topology.importing.versions import of_kafka
from pytest_kmigrate.topology.importing.yaml_text import At

KIND = "strimzi"
_GROUP = "kafka.strimzi.io"
_CLUSTER = "strimzi.io/cluster"
_KRAFT = "strimzi.io/kraft"

_IDS = "strimzi.io/next-node-ids"
_REPLICATION, _CONTROL_PLANE = "REPLICATION-9091", "CONTROLPLANE-9090"
_LOGINS = {"scram-sha-512": "SCRAM-SHA-512", "oauth": "OAUTHBEARER"}
_READ = ("version", "metadataVersion", "replicas", "listeners", "config", "storage", "authorization", "rack")
_MOST_REPLICAS = 1_000
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_OF_KUBERNETES = "the operator and Kubernetes act on it; nodes here are processes of one machine"


def is_one(at: At) -> bool:
    """Whether a document is a resource of a cluster, or a list of such."""
    return any(_kind(each) in ("Kafka", "KafkaNodePool") for each in _resources([at]))


def found_in(documents: Sequence[At]) -> Found:
    """The cluster of the one Kafka resource."""
    notes = Notes()
    resources = list(_resources(documents))
    kafka = _only_kafka([each for each in resources if _kind(each) == "Kafka"], resources)
    for each in resources:
        if _kind(each) not in ("Kafka", "KafkaNodePool"):
            notes.leave(each.get("kind").origin, f"a {_kind(each)} is no part of a cluster's shape")
    name = _name(kafka)
    pools = [each for each in resources if _kind(each) == "KafkaNodePool" and _is_of(each, name)]
    for each in resources:
        if _kind(each) == "KafkaNodePool" and each not in pools:
            notes.leave(each.get("metadata", "labels").origin, "a node pool of another cluster")
    spec = kafka.get("spec")
    nodes = tuple(_Cluster(kafka, pools, notes).nodes())
    level = spec.get("kafka", "metadataVersion")
    _leave_others(spec, notes)
    return Found(KIND, nodes, level.setting() if level else None, tuple(notes.left), tuple(notes.assumed))


class _Cluster:
    """One cluster as its resources describe it."""

    def __init__(self, kafka: At, pools: Sequence[At], notes: Notes) -> None:
        self._annotations = kafka.get("metadata", "annotations")
        self._spec = kafka.get("spec")
        self._kafka = self._spec.get("kafka")
        self._pools = pools
        self._notes = notes
        mode = self._annotations.table().get(_KRAFT)
        word = mode.text() if mode else ""
        self._migrates = bool(self._spec.get("zookeeper")) and word in ("migration", "rollback")
        self._has_zookeeper = bool(self._spec.get("zookeeper")) and word != "enabled"

    def nodes(self) -> Iterator[FoundNode]:
        if not self._kafka:
            raise self._kafka.wrong("the brokers of the cluster")
        common = self._common()
        if self._has_zookeeper:
            yield from self._zookeepers()
        if self._pools:
            yield from self._of_pools(common)
            return
        replicas = self._kafka.get("replicas")
        if not replicas:
            advice = f"give the KafkaNodePool resources, too, whose label {_CLUSTER} names the cluster"
            raise replicas.wrong("the number of brokers", advice=advice)
        for number in range(_count(replicas)):
            yield FoundNode(
                Role.BROKER,
                replicas.origin,
                {**common, **self._disks(self._kafka.get("storage"))},
                Setting(str(number), replicas.origin),
                self._release(),
            )

    def _of_pools(self, common: dict[str, Setting]) -> Iterator[FoundNode]:
        free = (each for each in count() if each not in self._given())
        for pool in self._pools:
            replicas, roles = pool.get("spec", "replicas"), pool.get("spec", "roles")
            words = ",".join(each.text() for each in roles.items()) or "broker"
            role = roles_in(Setting(words, roles.origin))
            is_kraft = not self._has_zookeeper or role is Role.CONTROLLER
            own = {PROCESS_ROLES: Setting(words, roles.origin)} if is_kraft else {}
            self._leave(pool.get("spec"), ("replicas", "roles", "storage"))
            ids = _ids(pool)
            if not ids:
                self._notes.assume("ids", "node pools get the lowest ids that are free, in the order of the files")
            for number in range(_count(replicas)):
                node_id = ids[number] if number < len(ids) else next(free)
                properties = {**common, **own, **self._disks(pool.get("spec", "storage"))}
                yield FoundNode(
                    role, replicas.origin, properties, Setting(str(node_id), replicas.origin), self._release()
                )

    def _given(self) -> set[int]:
        return {each for pool in self._pools for each in _ids(pool)}

    def _release(self) -> Setting | None:
        version = self._kafka.get("version")
        release = of_kafka(version.text()) if version else None
        return Setting(release, version.origin) if release else None

    def _zookeepers(self) -> Iterator[FoundNode]:
        zookeeper = self._spec.get("zookeeper")
        replicas = zookeeper.get("replicas")
        config = {name: each.setting() for name, each in zookeeper.get("config").table().items() if each}
        self._leave(zookeeper, ("replicas", "config", "storage"))
        if zookeeper.get("storage"):
            self._notes.leave(zookeeper.get("storage").origin, "one disk, of the node itself")
        for number in range(1, _count(replicas) + 1):
            yield FoundNode(Role.ZOOKEEPER, replicas.origin, config, Setting(str(number), replicas.origin))

    def _common(self) -> dict[str, Setting]:
        """What all Kafka nodes have."""
        properties = {name: each.setting() for name, each in self._kafka.get("config").table().items() if each}
        properties |= _Listeners(
            self._kafka.get("listeners"), has_controllers=not self._has_zookeeper or self._migrates
        ).properties()
        authorization = self._kafka.get("authorization")
        if authorization:
            kind = authorization.get("type")
            name = KAFKA_AUTHORIZERS[-1] if kind.text() == "simple" else kind.text()
            properties[AUTHORIZER] = Setting(name, kind.origin)
            if authorization.get("superUsers"):
                properties["super.users"] = Setting("", authorization.get("superUsers").origin)
        if self._has_zookeeper:
            origin = self._spec.get("zookeeper").origin
            self._notes.assume("security.zookeeper", "Strimzi lets brokers reach ZooKeeper by TLS only")
            properties[ZOOKEEPER_TLS] = Setting("true", origin)
            properties[ZOOKEEPER_CONNECT] = Setting("", origin)
        if self._kafka.get("rack"):
            self._notes.leave(self._kafka.get("rack").origin, "Kubernetes gives racks when it places the pods")
        return properties

    def _disks(self, storage: At) -> dict[str, Setting]:
        disks = storage.get("volumes").items()
        return {LOG_DIRS: Setting(",".join(f"disk-{number}" for number in range(max(1, len(disks)))), storage.origin)}

    def _leave(self, table: At, read: Sequence[str]) -> None:
        for name, each in table.table().items():
            if name not in read:
                self._notes.leave(each.origin, _OF_KUBERNETES)


class _Listeners:
    """Strimzi's listeners in Kafka's words: those of clients, and the two that Strimzi has for itself, by TLS."""

    def __init__(self, at: At, *, has_controllers: bool) -> None:
        self._at = at
        self._has_controllers = has_controllers

    def properties(self) -> dict[str, Setting]:
        names, protocols, more = [_REPLICATION], [f"{_REPLICATION}:SSL"], {}
        for each, name in self._named():
            login = each.get("authentication", "type").text() if each.get("authentication") else ""
            has_login = login in _LOGINS or (
                login == "custom" and each.get("authentication", "sasl").truth(default=False)
            )
            has_tls = each.get("tls").truth(default=False)
            names.append(name)
            protocols.append(f"{name}:{protocol(has_tls=has_tls, has_login=has_login)}")
            if login in _LOGINS:
                more[of_listener(name, MECHANISMS)] = Setting(_LOGINS[login], each.get("authentication").origin)
            elif login == "tls":
                more[of_listener(name, CLIENT_AUTH)] = Setting("required", each.get("authentication").origin)
        if self._has_controllers:
            protocols.append(f"{_CONTROL_PLANE}:SSL")
            more[CONTROLLER_LISTENERS] = Setting(_CONTROL_PLANE, self._at.origin)
        origin = self._at.origin
        return {
            LISTENERS: Setting(",".join(f"{name}://" for name in names), origin),
            PROTOCOLS: Setting(",".join(protocols), origin),
            INTER_BROKER: Setting(_REPLICATION, origin),
            **more,
        }

    def _named(self) -> Iterator[tuple[At, str]]:
        """Each listener with the name that Strimzi makes; as a list, or as early releases had them."""
        if isinstance(self._at.value, dict):
            for name, each in self._at.table().items():
                own = {key: found.value for key, found in each.table().items()}
                yield At(each.file, each.key, {"tls": str(name == "tls").lower(), **own}), name.upper()
            return
        for each in self._at.items():
            yield each, f"{each.get('name').text()}-{each.get('port').text()}".upper()


def _resources(documents: Sequence[At]) -> Iterator[At]:
    """The resources, those in a list one by one."""
    for at in documents:
        if not isinstance(at.value, dict):
            continue
        if at.get("items") and isinstance(at.get("items").value, list):
            yield from _resources(at.get("items").items())
        elif str(at.get("apiVersion").value or "").startswith(_GROUP) or at.get("kind"):
            yield at


def _kind(at: At) -> str:
    of_strimzi = str(at.get("apiVersion").value or "").startswith(_GROUP)
    kind = str(at.get("kind").value or "resource without a kind")
    return kind if of_strimzi or kind not in ("Kafka", "KafkaNodePool") else f"{kind} of another group"


def _name(at: At) -> str:
    name = at.get("metadata", "name")
    return name.text() if name else ""


def _only_kafka(kafkas: Sequence[At], resources: Sequence[At]) -> At:
    if len(kafkas) == 1:
        return kafkas[0]
    place = resources[0]
    if not kafkas:
        raise TopologyError(
            place.file, ["kind: expected one Kafka resource beside its node pools, got none: give its file, too"]
        )
    names = ", ".join(map(_name, kafkas))
    text = f"kind: expected one Kafka resource, got {len(kafkas)} ({names}): import each cluster by itself"
    raise TopologyError(kafkas[1].file, [text])


def _is_of(pool: At, cluster: str) -> bool:
    label = pool.get("metadata", "labels").table().get(_CLUSTER)
    return label is not None and label.text() == cluster


def _count(replicas: At) -> int:
    """How many nodes; TopologyError for so many that no machine has room for them."""
    number = replicas.number()
    if number > _MOST_REPLICAS:
        raise replicas.wrong(f"at most {_MOST_REPLICAS} replicas", str(number))
    return number


def _ids(pool: At) -> list[int]:
    """The ids that a pool has or is given next: of its status, or of the annotation."""
    status = pool.get("status", "nodeIds")
    if status:
        return [each.number() for each in status.items()]
    annotation = pool.get("metadata", "annotations").table().get(_IDS)
    found: list[int] = []
    for match in _RANGE.finditer(annotation.text() if annotation else ""):
        found += range(int(match[1]), min(int(match[2] or match[1]), int(match[1]) + 999) + 1)
    return found


def _leave_others(spec: At, notes: Notes) -> None:
    for name, each in spec.get("kafka").table().items():
        if name not in _READ:
            notes.leave(each.origin, _OF_KUBERNETES)
    for name, each in spec.table().items():
        if name not in ("kafka", "zookeeper"):
            notes.leave(each.origin, "no part of the cluster that is tested")
