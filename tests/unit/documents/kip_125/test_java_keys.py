"""The reference takes the settings of the Java KafkaConsumer, which users of the document know."""

import pytest
from confluent_kafka import Consumer

from pytest_kmigrate.documents.kip_125.kinds import ROUND_ROBIN
from pytest_kmigrate.documents.kip_125.reference.java_keys import for_librdkafka, without_effect
from pytest_kmigrate.documents.kip_125.reference.settings import RefusedError

OF_JAVA = {
    "allow.auto.create.topics": "true",
    "auto.include.jmx.reporter": "true",
    "check.crcs": "true",
    "client.dns.lookup": "use_all_dns_ips",
    "client.rack": "",
    "connections.max.idle.ms": "540000",
    "default.api.timeout.ms": "60000",
    "enable.metrics.push": "true",
    "exclude.internal.topics": "true",
    "fetch.max.bytes": "52428800",
    "fetch.max.wait.ms": "500",
    "fetch.min.bytes": "1",
    "group.protocol": "classic",
    "heartbeat.interval.ms": "3000",
    "interceptor.classes": "",
    "internal.leave.group.on.close": "true",
    "isolation.level": "read_uncommitted",
    "key.deserializer": "org.apache.kafka.common.serialization.ByteArrayDeserializer",
    "max.partition.fetch.bytes": "1048576",
    "max.poll.interval.ms": "300000",
    "max.poll.records": "500",
    "metadata.max.age.ms": "300000",
    "metadata.recovery.strategy": "none",
    "metric.reporters": "",
    "metrics.num.samples": "2",
    "partition.assignment.strategy": (
        "org.apache.kafka.clients.consumer.RangeAssignor, org.apache.kafka.clients.consumer.RoundRobinAssignor"
    ),
    "receive.buffer.bytes": "65536",
    "reconnect.backoff.max.ms": "1000",
    "reconnect.backoff.ms": "50",
    "request.timeout.ms": "30000",
    "retry.backoff.max.ms": "1000",
    "retry.backoff.ms": "100",
    "sasl.login.connect.timeout.ms": "1000",
    "security.protocol": "PLAINTEXT",
    "security.providers": "",
    "send.buffer.bytes": "131072",
    "session.timeout.ms": "45000",
    "socket.connection.setup.timeout.max.ms": "30000",
    "socket.connection.setup.timeout.ms": "10000",
    "ssl.enabled.protocols": "TLSv1.2,TLSv1.3",
    "ssl.protocol": "TLSv1.3",
    "value.deserializer": "org.apache.kafka.common.serialization.ByteArrayDeserializer",
}
"""Keys of ConsumerConfig 3.9 with their defaults, or a value of their kind."""


def test_a_consumer_is_constructed_with_javas_keys() -> None:
    """All at once; those without a counterpart are named as having no effect."""
    given = for_librdkafka(OF_JAVA)
    Consumer({"bootstrap.servers": "127.0.0.1:9", "group.id": "g", "log_level": 0, **given}).close()
    assert given["partition.assignment.strategy"] == "range,roundrobin"
    assert given["fetch.wait.max.ms"] == "500"
    assert {"max.poll.records", "key.deserializer", "interceptor.classes"} <= set(without_effect(OF_JAVA))
    assert not set(without_effect(OF_JAVA)) & given.keys()


def test_words_of_librdkafka_remain() -> None:
    """A key that neither client knows is left to the client's own refusal."""
    assert for_librdkafka(
        {"partition.assignment.strategy": "roundrobin", "fetch.wait.max.ms": "5", "no.such": "1"}
    ) == {
        "partition.assignment.strategy": "roundrobin",
        "fetch.wait.max.ms": "5",
        "no.such": "1",
    }


def test_topics_are_looked_at_as_often_as_metadata() -> None:
    """The Java client has one interval for both."""
    assert for_librdkafka({"metadata.max.age.ms": "1000"})["topic.metadata.refresh.interval.ms"] == "1000"


def test_a_login_and_stores_in_pem_are_taken() -> None:
    """A login module's options become the login; a PEM file has certificate and key."""
    jaas = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="a\\"b";'
    given = {"sasl.jaas.config": jaas, "sasl.mechanism": "SCRAM-SHA-512"}
    stores = {"ssl.truststore.type": "PEM", "ssl.truststore.location": "/ca", "ssl.keystore.type": "PEM"}
    assert for_librdkafka({**given, **stores, "ssl.keystore.location": "/me"}) == {
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "me",
        "sasl.password": 'a"b',
        "ssl.ca.location": "/ca",
        "ssl.certificate.location": "/me",
        "ssl.key.location": "/me",
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"ssl.truststore.location": "/jks"}, "coordination.migration.ssl.truststore.type: expected PEM"),
        (
            {"partition.assignment.strategy": "com.example.Mine"},
            "strategy: .*got 'com.example.Mine'",
        ),
    ],
)
def test_what_this_client_cannot_do_is_refused_by_its_key(given: dict[str, str], expected: str) -> None:
    """A store of Java's own format, and an assignor that is a class of the user."""
    with pytest.raises(RefusedError, match=expected):
        for_librdkafka(given, "coordination.migration.")


def test_the_suite_passes_javas_words() -> None:
    """A vendor's consumer in Java gets the names of classes, and needs no table of librdkafka's words."""
    assert all(value.startswith("org.apache.kafka.clients.consumer.") for value in ROUND_ROBIN.values())
