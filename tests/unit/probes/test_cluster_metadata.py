"""What an admin client tells becomes an image in the words of the other two."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AclOperation, AclPermissionType, ResourcePatternType, ResourceType, ScramMechanism

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.probes.cluster_metadata import image_from_admin


def answered(value: Any) -> "Future[Any]":
    """A future that is there; an error code becomes the client's exception."""
    future: Future[Any] = Future()
    if isinstance(value, KafkaError):
        future.set_exception(KafkaException(value))
    else:
        future.set_result(value)
    return future


def entry(name: str, value: str | None, source: int, *synonyms: Any) -> Any:
    """A config entry."""
    return SimpleNamespace(name=name, value=value, source=source, synonyms={each.name: each for each in synonyms})


def an_acl() -> Any:
    """The right to write idempotently to the cluster."""
    return SimpleNamespace(
        restype=ResourceType.BROKER,
        resource_pattern_type=ResourcePatternType.LITERAL,
        name="kafka-cluster",
        principal="User:a",
        host="*",
        operation=AclOperation.IDEMPOTENT_WRITE,
        permission_type=AclPermissionType.ALLOW,
    )


class FakeAdmin:
    """Brokers 1 and 2 with one topic; ``answers`` replaces single answers, an answer in a list is given once."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers

    def _next(self, name: str, otherwise: Any) -> Any:
        given = self.answers.get(name, otherwise)
        if isinstance(given, list) and name in self.answers:
            return given.pop(0) if given else otherwise
        return given

    def list_topics(self, **_: float) -> Any:
        """Two brokers, one topic."""
        return SimpleNamespace(brokers={2: None, 1: None}, topics={"t": None})

    def describe_configs(self, resources: Any, **_: float) -> Any:
        """Own values, defaults and inherited ones."""
        return {resource: answered(self._next(f"configs-{resource.name}", configs(resource))) for resource in resources}

    def describe_acls(self, _anything: Any, **_: float) -> Any:
        """One ACL."""
        return answered(self._next("acls", (an_acl(),)))

    def describe_user_scram_credentials(self, **_: float) -> Any:
        """One user."""
        credential = SimpleNamespace(mechanism=ScramMechanism.SCRAM_SHA_512, iterations=8192)
        return answered(self._next("scram", {"u": SimpleNamespace(scram_credential_infos=[credential])}))


def configs(resource: Any) -> dict[str, Any]:
    """A topic inherits a default broker config; a broker has it too, and a password of its own."""
    default = entry("log.retention.ms", "7", 3)
    if resource.name == "t":
        return {"a": entry("retention.ms", "7", 3, default), "b": entry("max.message.bytes", "9", 1)}
    password = entry("ssl.key.password", None, 2)
    return {"a": entry("log.retention.ms", "8", 2, default), "b": password, "c": entry("num.io.threads", "8", 5)}


def test_every_family_in_the_words_of_the_other_images() -> None:
    """Dynamic configs only, librdkafka's "broker" as Kafka's cluster; nothing that each broker must be asked for."""
    image = image_from_admin(FakeAdmin())
    assert image.configs == {
        "broker:1": {"log.retention.ms": "8", "ssl.key.password": "[hidden]"},
        "broker:2": {"log.retention.ms": "8", "ssl.key.password": "[hidden]"},
        "topic:t": {"max.message.bytes": "9"},
    }
    assert image.acls == {"Cluster:LITERAL:kafka-cluster": ["User:a|*|IdempotentWrite|Allow"]}
    assert image.scram == {"u:SCRAM-SHA-512": {"iterations": 8192}}
    assert image.known == ("configs", "acls", "scram")


def test_a_family_that_is_not_answered_is_unknown_not_empty() -> None:
    """Without authorizer "no ACL" would be a claim nobody made."""
    image = image_from_admin(FakeAdmin(acls=KafkaError(KafkaError.SECURITY_DISABLED)))
    assert "acls" not in image.known
    assert image.acls == {}
    assert "scram" in image.known


def test_a_topic_that_goes_meanwhile_is_left_out() -> None:
    """Between the list and the description it was deleted."""
    image = image_from_admin(FakeAdmin(**{"configs-t": KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)}))
    assert list(image.configs) == ["broker:1", "broker:2"]


def test_a_question_that_went_to_a_dead_broker_is_asked_again() -> None:
    """In hybrid mode the metadata may name a dead broker as controller."""
    image = image_from_admin(FakeAdmin(scram=[KafkaError(KafkaError._TIMED_OUT)]))
    assert set(image.scram) == {"u:SCRAM-SHA-512"}


def test_a_broker_that_does_not_tell_its_configs_is_named() -> None:
    """It is listed although it is dead: the others still make an image."""
    image = image_from_admin(FakeAdmin(**{"configs-2": KafkaError(KafkaError._TIMED_OUT)}))
    assert image.extra == {"brokers": [1, 2], "silent_brokers": [2]}
    assert "broker:2" not in image.configs
    assert "broker:1" in image.configs


def test_no_answer_and_a_refusal_are_told_apart() -> None:
    """Silence names what was awaited; a refusal says what to check."""
    with pytest.raises(AwaitTimeoutError, match="answer about ACLs"):
        image_from_admin(FakeAdmin(acls=KafkaError(KafkaError._TIMED_OUT)), within_s=0)
    with pytest.raises(ClusterError, match="expected the brokers to tell ACLs"):
        image_from_admin(FakeAdmin(acls=KafkaError(KafkaError.INVALID_REQUEST)))
