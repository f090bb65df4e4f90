"""Images of Kafka and ZooKeeper: how each turns environment variables into properties, and what its tags mean."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pytest_kmigrate.topology.importing.found import Notes, Setting
from pytest_kmigrate.topology.importing.names import BROKER_ID, NODE_ID, ZOOKEEPER_CONNECT
from pytest_kmigrate.topology.importing.versions import of_confluent, of_kafka

SERVER_ID: Final = "serverId"
"""What no property of ZooKeeper holds: it is in a file of its own."""
_OF_KAFKA_ENVIRONMENT = ("KAFKA_PROCESS_ROLES", "KAFKA_ZOOKEEPER_CONNECT", "KAFKA_BROKER_ID", "KAFKA_NODE_ID")
_OF_OTHERS = ("SCHEMA_REGISTRY_", "CONNECT_", "KSQL_", "CONTROL_CENTER_", "KAFKA_REST_")
_NO_PROPERTY = re.compile(
    r"KAFKA_(HEAP_OPTS|OPTS|JVM_PERFORMANCE_OPTS|GC_LOG_OPTS|JMX_\w+|LOG4J_\w+|TOOLS_LOG4J_\w+|DEBUG|MODE|CLUSTERS_\w+)"
)
_RUNS_JVM = "options of the JVM, its logs and its exporters: nodes here have their own"
_CLUSTER_ID = ("CLUSTER_ID", "KAFKA_KRAFT_CLUSTER_ID", "KAFKA_CLUSTER_ID")


@dataclass(frozen=True)
class Image:
    """A family of images: the prefix of variables that become properties, and how names are written in them."""

    is_kafka: bool
    prefix: str
    named: Callable[[str], str]
    release: Callable[[str], str | None]
    others: Mapping[str, str] = field(default_factory=dict)
    """Variables without the rule, and the properties that they set."""

    def properties(self, environment: Mapping[str, Setting], notes: Notes) -> dict[str, Setting]:
        """The properties that these variables come to."""
        found: dict[str, Setting] = {}
        for variable, setting in environment.items():
            if variable in self.others:
                found[self.others[variable]] = setting
            elif variable in _CLUSTER_ID:
                notes.leave(setting.origin, "every cluster here gets an id of its own")
            elif _NO_PROPERTY.fullmatch(variable):
                notes.leave(setting.origin, _RUNS_JVM)
            elif variable.startswith(self.prefix) and len(variable) > len(self.prefix):
                found[self.named(variable.removeprefix(self.prefix))] = setting
            else:
                notes.leave(setting.origin, "a variable of the image, no property of Kafka")
        return found


def _underscores(text: str) -> str:
    """As Confluent's and Apache's images have it: one is a dot, two an underscore, three a dash."""
    return re.sub("_+", lambda match: {1: ".", 2: "_", 3: "-"}.get(len(match[0]), match[0]), text).lower()


def _dots(text: str) -> str:
    return text.lower().replace("_", ".")


def _camel(text: str) -> str:
    """As ZooKeeper's properties are written: ``TICK_TIME`` is ``tickTime``."""
    first, *rest = text.lower().split("_")
    return first + "".join(word.capitalize() for word in rest)


def _tag(image: str) -> str:
    return image.rpartition("/")[2].partition("@")[0].partition(":")[2]


def _kafka_of_tag(image: str) -> str | None:
    return of_kafka(_tag(image))


def _confluent_of_tag(image: str) -> str | None:
    return of_confluent(_tag(image))


def _wurstmeister_of_tag(image: str) -> str | None:
    return of_kafka(_tag(image).partition("-")[2])


def _no_release(_image: str) -> None:
    """Tags of ZooKeeper have releases of its own."""


_CONFLUENT = Image(is_kafka=True, prefix="KAFKA_", named=_underscores, release=_confluent_of_tag)
_APACHE = Image(is_kafka=True, prefix="KAFKA_", named=_underscores, release=_kafka_of_tag)
_BITNAMI = Image(
    is_kafka=True,
    prefix="KAFKA_CFG_",
    named=_dots,
    release=_kafka_of_tag,
    others={"KAFKA_ZOOKEEPER_CONNECT": ZOOKEEPER_CONNECT, "KAFKA_BROKER_ID": BROKER_ID, "KAFKA_NODE_ID": NODE_ID},
)
_WURSTMEISTER = Image(is_kafka=True, prefix="KAFKA_", named=_dots, release=_wurstmeister_of_tag)
_CP_ZOOKEEPER = Image(
    is_kafka=False, prefix="ZOOKEEPER_", named=_camel, release=_no_release, others={"ZOOKEEPER_SERVER_ID": SERVER_ID}
)
_ZOOKEEPER = Image(
    is_kafka=False,
    prefix="ZOO_",
    named=_camel,
    release=_no_release,
    others={"ZOO_MY_ID": SERVER_ID, "ZOO_SERVER_ID": SERVER_ID},
)
_BY_NAME: tuple[tuple[re.Pattern[str], Image], ...] = (
    (re.compile(r"(.*/)?(cp-kafka|cp-server|cp-enterprise-kafka|confluent-local)"), _CONFLUENT),
    (re.compile(r"(.*/)?(bitnami|bitnamilegacy)/kafka"), _BITNAMI),
    (re.compile(r"(.*/)?wurstmeister/kafka"), _WURSTMEISTER),
    (re.compile(r"(.*/)?(apache/kafka|apache/kafka-native|kafka-native)"), _APACHE),
    (re.compile(r"(.*/)?cp-zookeeper"), _CP_ZOOKEEPER),
    (re.compile(r"(.*/)?zookeeper"), _ZOOKEEPER),
)


def of_service(image: str, variables: Sequence[str]) -> Image | None:
    """The family of a service's image: by its name, or by its variables where the image is a name of one's own."""
    name = re.sub(r"^\$\{[^}]*\}/", "x/", image).partition("@")[0]
    name = name.rpartition("/")[0] + "/" * ("/" in name) + name.rpartition("/")[2].partition(":")[0]
    for pattern, family in _BY_NAME:
        if pattern.fullmatch(name):
            return family
    if any(each.startswith(_OF_OTHERS) for each in variables):
        return None
    if any(each.startswith("KAFKA_CFG_") for each in variables):
        return _BITNAMI
    return _APACHE if any(each in variables for each in _OF_KAFKA_ENVIRONMENT) else None
