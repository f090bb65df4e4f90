"""Reader of compose files: services whose images run Kafka or ZooKeeper, by the rule of each image's environment."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.redaction import is_sensitive
from pytest_kmigrate.topology.importing.found import Found, FoundNode, Notes, Origin, Setting
from pytest_kmigrate.topology.importing.images import SERVER_ID, Image, of_service
from pytest_kmigrate.topology.importing.names import (
    BROKER_ID,
    NODE_ID,
    PROCESS_ROLES,
    VOTERS,
    ZOOKEEPER_CONNECT,
    roles_in,
)
from pytest_kmigrate.topology.importing.yaml_text import At

KIND = "compose"
_VARIABLE = re.compile(r"\$(?:\$|\{(?P<name>\w+)(?:(?P<how>:?[-?+])(?P<default>[^}]*))?\}|(?P<bare>\w+))")
_DECIDING = re.compile(
    r"KAFKA_(CFG_)?(NODE_ID|BROKER_ID|PROCESS_ROLES|ZOOKEEPER_CONNECT|CONTROLLER_QUORUM_VOTERS)|ZOO\w*_(SERVER|MY)_ID"
)
"""What a cluster's nodes are read from."""
_RESOLVED = "give what `docker compose config` prints, where all is in one file and filled in"
_MOST_COPIES = 199
_GROUPED = (
    "ports",
    "expose",
    "volumes",
    "networks",
    "hostname",
    "container_name",
    "depends_on",
    "healthcheck",
    "restart",
)
_SECRET_WORDS = re.compile(r"PASSWORD|PASSWD|SECRET|JAAS|CREDENTIALS$|TOKEN$|API_KEY$", re.IGNORECASE)


def is_one(at: At) -> bool:
    """Whether a document has services of which one runs Kafka."""
    if not isinstance(at.value, dict) or not isinstance(at.get("services").value, dict):
        return False
    services = [each for each in at.get("services").table().values() if isinstance(each.value, dict)]
    return any(of_service(_image(each), list(_names(each))) for each in services)


def found_in(documents: Sequence[At]) -> Found:
    """One node for each service, or for each copy of it."""
    notes = Notes()
    nodes: list[FoundNode] = []
    for at in documents:
        if at.get("include"):
            raise at.get("include").wrong("no other files", "names of some", _RESOLVED)
        for name, service in at.get("services").table().items():
            nodes += _nodes(name, service, notes)
    if not any(node.role is not Role.ZOOKEEPER for node in nodes):
        text = (
            "services: expected a service with an image of Kafka (confluentinc/cp-kafka, apache/kafka, bitnami/kafka)"
        )
        raise TopologyError(documents[0].file, [f"{text}, got none"])
    return Found(KIND, tuple(nodes), None, tuple(notes.left), tuple(notes.assumed))


def _nodes(name: str, service: At, notes: Notes) -> Iterator[FoundNode]:
    image = of_service(_image(service), list(_names(service)))
    if image is None:
        notes.leave(service.origin, "no service of Kafka or ZooKeeper")
        return
    for key in ("extends", "env_file"):
        if service.get(key):
            raise service.get(key).wrong("all settings in this file", "the name of another", _RESOLVED)
    environment = _filled(service, notes)
    settings = image.properties(environment, notes)
    if image.is_kafka and not settings and (service.get("command") or service.get("entrypoint")):
        notes.leave(service.origin, "a container with Kafka's tools, no node")
        return
    for key in _GROUPED:
        if service.get(key):
            notes.leave(
                Origin(service.file, f"services.*.{key}", f"{service.key}.{key}"),
                "nodes here have addresses and disks of their own",
            )
    copies = _copies(service)
    for _ in range(copies):
        yield _node(name, service, image, settings, notes, is_alone=copies == 1)


def _node(
    name: str, service: At, image: Image, settings: Mapping[str, Setting], notes: Notes, *, is_alone: bool
) -> FoundNode:
    release = image.release(_resolved(_image(service))[0])
    found = Setting(release, service.get("image").origin) if release else None
    if not image.is_kafka:
        own = settings.get(SERVER_ID) if is_alone else None
        kept = {key: each for key, each in settings.items() if key != SERVER_ID}
        return FoundNode(Role.ZOOKEEPER, service.origin, kept, own)
    properties = dict(settings)
    if PROCESS_ROLES not in properties and ZOOKEEPER_CONNECT not in properties:
        notes.assume(
            f"services.{name}",
            "without KAFKA_PROCESS_ROLES and KAFKA_ZOOKEEPER_CONNECT the image runs one combined node",
        )
        properties[PROCESS_ROLES] = Setting("broker,controller", service.get("image").origin)
    roles = properties.get(PROCESS_ROLES)
    own = properties.get(NODE_ID) or properties.get(BROKER_ID)
    if own is None and roles is not None and VOTERS not in properties:
        own = Setting("1", service.origin)
    return FoundNode(
        roles_in(roles) if roles else Role.BROKER, service.origin, properties, own if is_alone else None, found
    )


def _image(service: At) -> str:
    image = service.get("image").value
    return image if isinstance(image, str) else ""


def _names(service: At) -> Iterator[str]:
    environment = service.get("environment")
    if isinstance(environment.value, dict):
        yield from environment.table()
    for each in environment.items() if isinstance(environment.value, list) else ():
        yield each.text().partition("=")[0] if isinstance(each.value, str) else ""


def _filled(service: At, notes: Notes) -> dict[str, Setting]:
    """The environment, its variables replaced by their defaults; what has none, and secrets, are left."""
    found = {}
    for name, value, origin in _environment(service):
        if is_sensitive(name.replace("_", ".")) or _SECRET_WORDS.search(name):
            notes.leave(origin, "secret")
            continue
        filled, lacks = _resolved(value)
        if lacks and _DECIDING.fullmatch(name):
            text = f"expected a value, got the variable {lacks}, which has none in this file: {_RESOLVED}"
            raise origin.wrong(text)
        if lacks:
            notes.leave(origin, f"the variable {lacks} has no value in this file: {_RESOLVED}")
        else:
            found[name] = Setting(filled, origin)
    return found


def _environment(service: At) -> Iterator[tuple[str, str, Origin]]:
    environment = service.get("environment")
    if environment.value is not None and not isinstance(environment.value, dict | list):
        raise environment.wrong("a mapping, or a list of NAME=value")
    if isinstance(environment.value, dict):
        for name, each in environment.table().items():
            yield name, each.text() if each else f"${{{name}}}", Origin(each.file, name, each.key)
    for each in environment.items() if isinstance(environment.value, list) else ():
        name, sign, value = each.text().partition("=")
        yield name, value if sign else f"${{{name}}}", Origin(each.file, name, f"{environment.key}.{name}")


def _resolved(text: str) -> tuple[str, str]:
    """The text with its variables replaced by their defaults, and the first that has none."""
    lacks: list[str] = []

    def value(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        if (match["how"] or "").endswith("-"):
            return match["default"] or ""
        lacks.append(match["name"] or match["bare"])
        return ""

    filled = _VARIABLE.sub(value, text)
    return filled, lacks[0] if lacks else ""


def _copies(service: At) -> int:
    for at in (service.get("scale"), service.get("deploy", "replicas")):
        if at:
            number = at.number()
            if not 1 <= number <= _MOST_COPIES:
                raise at.wrong(f"1 to {_MOST_COPIES} copies", str(number))
            return number
    return 1
