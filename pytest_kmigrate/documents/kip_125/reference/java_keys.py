"""Settings of the Java KafkaConsumer, as a user of the document knows them, in the words of librdkafka."""

import re
from collections.abc import Mapping

from pytest_kmigrate.documents.kip_125.reference.settings import RefusedError

_ASSIGNORS = {
    "org.apache.kafka.clients.consumer.RangeAssignor": "range",
    "org.apache.kafka.clients.consumer.RoundRobinAssignor": "roundrobin",
    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor": "cooperative-sticky",
}
_STRATEGY = "partition.assignment.strategy"
_RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
_WITHOUT = re.compile(
    r"auto\.include\.jmx\.reporter|default\.api\.timeout\.ms|exclude\.internal\.topics|interceptor\.classes|internal\..*"
    r"|(key|value)\.deserializer|max\.poll\.records|metadata\.recovery\.strategy|metric\.reporters|metrics\..*"
    r"|security\.providers|socket\.connection\.setup\.timeout\.max\.ms"
    r"|sasl\.(client|login)\..*|sasl\.kerberos\.(min\.time\.before\.relogin|ticket\..*)"
    r"|sasl\.oauthbearer\.(clock|expected|header|jwks|scope\.claim|sub\.claim)\..*"
    r"|ssl\.(enabled\.protocols|engine\.factory\.class|(key|trust)manager\.algorithm|protocol|provider)"
    r"|ssl\.(secure\.random\.implementation|truststore\.(password|type)|keystore\.type)"
)
"""Keys of ConsumerConfig that librdkafka has no word for; what they are about, this client does in its own way."""
_LOGIN = re.compile(r"(username|password)=(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|([^\s;]+))")


def without_effect(given: Mapping[str, str]) -> list[str]:
    """The keys that librdkafka has no word for."""
    return sorted(key for key in given if _WITHOUT.fullmatch(key))


def for_librdkafka(given: Mapping[str, str], prefix: str = "") -> dict[str, str]:
    """The same settings in the words of librdkafka, whose own words remain what they are.

    RefusedError, by the key with its prefix, for a store of a kind that librdkafka does not read, and another assignor.
    """
    found = {_RENAMED.get(key, key): value for key, value in given.items() if not _WITHOUT.fullmatch(key)}
    if _STRATEGY in found:
        found[_STRATEGY] = ",".join(_assignor(each.strip(), prefix) for each in found[_STRATEGY].split(","))
    if "metadata.max.age.ms" in found:
        found.setdefault("topic.metadata.refresh.interval.ms", found["metadata.max.age.ms"])
    if login := found.pop("sasl.jaas.config", ""):
        values = {key: quoted or single or bare for key, quoted, single, bare in _LOGIN.findall(login)}
        found |= {f"sasl.{key}": re.sub(r"\\(.)", r"\1", value) for key, value in values.items()}
    return _with_stores(found, given, prefix)


def _assignor(name: str, prefix: str) -> str:
    word = _ASSIGNORS.get(name, name)
    if word not in _ASSIGNORS.values():
        raise RefusedError(f"{prefix}{_STRATEGY}: expected some of {', '.join(_ASSIGNORS)}; got {name!r}")
    return word


def _with_stores(found: dict[str, str], given: Mapping[str, str], prefix: str) -> dict[str, str]:
    for store, names in (("truststore", ("ca",)), ("keystore", ("certificate", "key"))):
        kind, location = given.get(f"ssl.{store}.type", "JKS").upper(), found.pop(f"ssl.{store}.location", "")
        if location and kind == "PKCS12" and store == "keystore":
            found["ssl.keystore.location"] = location
        elif location and kind != "PEM":
            raise RefusedError(f"{prefix}ssl.{store}.type: expected PEM, which this client reads; got {kind}")
        elif location:
            found |= {f"ssl.{name}.location": location for name in names}
    return found
