"""A member's settings: the old consumer's keys, ``coordination.migration.*``, and what is refused."""

import os
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import KafkaException

PREFIX = "coordination.migration."
_OWN = ("enabled", "poll.interval.ms")
"""Keys with the prefix that are the connector's own; the rest belongs to the embedded KafkaConsumer."""
_FORBIDDEN = ("group.id", "client.id", "enable.auto.commit", "enable.auto.offset.store")
"""What the embedded consumer must have its own values of: matching and safety depend on them."""


class RefusedError(Exception):
    """A setting that the connector is not constructed with; the text begins with its key."""


@dataclass(frozen=True)
class Settings:
    """The settings in force."""

    zookeeper: str
    group: str
    consumer_id: str
    client_id: str
    streams: Mapping[str, int]
    """Number of streams by topic."""
    is_migrating: bool = False
    has_listener: bool = False
    """Whether the user has a ConsumerRebalanceListener."""
    session_s: float = 6.0
    commit_every_s: float = 60.0
    reset: str = "latest"
    poll_interval_s: float = 1.0
    embedded: Mapping[str, str] = field(default_factory=dict)
    """The embedded KafkaConsumer's own settings, without the prefix."""
    ignored: tuple[str, ...] = ()
    """Keys that the user set and the connector does not pass on."""

    @property
    def kafka_session_s(self) -> float:
        """The session timeout of the embedded consumer."""
        return int(self.embedded.get("session.timeout.ms", "45000")) / 1000

    @property
    def heartbeat_s(self) -> float:
        """The embedded consumer's heartbeat interval, by default a third of its session and at most 3 s."""
        given = self.embedded.get("heartbeat.interval.ms")
        return int(given) / 1000 if given else min(3.0, self.kafka_session_s / 3)


def read(file: Path, topics: str, *, has_listener: bool = False) -> Settings:
    """The settings of a properties file; RefusedError for what a connector must not be constructed with."""
    given = properties(file.read_text(encoding="utf-8"))
    if given.get("partition.assignment.strategy", "range") != "range":
        raise RefusedError("partition.assignment.strategy: expected range, the only one of this implementation")
    is_migrating = _boolean(given, f"{PREFIX}enabled", default=False)
    prefixed = {key.removeprefix(PREFIX): value for key, value in given.items() if key.startswith(PREFIX)}
    if is_migrating:
        _check_migrating(given)
    return Settings(
        zookeeper=_required(given, "zookeeper.connect"),
        group=_required(given, "group.id"),
        consumer_id=_consumer_id(given),
        client_id=given.get("client.id", given["group.id"]),
        streams=_streams(topics),
        is_migrating=is_migrating,
        has_listener=has_listener,
        session_s=_milliseconds(given, "zookeeper.session.timeout.ms", 6000),
        commit_every_s=_milliseconds(given, "auto.commit.interval.ms", 60_000),
        reset={"smallest": "earliest", "largest": "latest"}.get(given.get("auto.offset.reset", "largest"), "latest"),
        poll_interval_s=_milliseconds(given, f"{PREFIX}poll.interval.ms", 1000),
        embedded={key: value for key, value in prefixed.items() if key not in (*_OWN, *_FORBIDDEN)},
        ignored=tuple(f"{PREFIX}{key}" for key in prefixed if key in _FORBIDDEN),
    )


def properties(text: str) -> dict[str, str]:
    """The keys and values of a Java properties file, of the plain kind: ``key=value`` lines."""
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and line[0] not in "#!")
    return {key.strip(): value.strip() for key, _, value in pairs}


def _check_migrating(given: Mapping[str, str]) -> None:
    """A connector that migrates is defined by three settings together, and cannot follow Kafka without its address."""
    _required(given, f"{PREFIX}bootstrap.servers")
    if given.get("offsets.storage", "zookeeper") != "kafka":
        raise RefusedError(f"offsets.storage: expected kafka with {PREFIX}enabled=true")
    if not _boolean(given, "dual.commit.enabled", default=True):
        raise RefusedError(f"dual.commit.enabled: expected true with {PREFIX}enabled=true")
    session_s = _milliseconds(given, f"{PREFIX}session.timeout.ms", 45_000)
    if _milliseconds(given, f"{PREFIX}heartbeat.interval.ms", 1) >= session_s:
        raise RefusedError(f"{PREFIX}heartbeat.interval.ms: expected less than the session timeout")


def refused_by_the_client(error: KafkaException, prefix: str = "") -> RefusedError:
    """What librdkafka is not constructed with, by its key: an unknown one, or a value out of its range."""
    text = str(error.args[0].str())
    named = re.search(r'"([^"]+)"', text)
    return RefusedError(f"{prefix}{named[1] if named else 'bootstrap.servers'}: {text}")


def _consumer_id(given: Mapping[str, str]) -> str:
    unique = f"{socket.gethostname()}-{time.time_ns() // 1_000_000}-{os.urandom(4).hex()}"
    return f"{given['group.id']}_{given.get('consumer.id', unique)}"


def _streams(topics: str) -> dict[str, int]:
    pairs = (each.partition("=") for each in topics.split(",") if each)
    return {topic: int(streams or 1) for topic, _, streams in pairs}


def _required(given: Mapping[str, str], key: str) -> str:
    if not given.get(key):
        raise RefusedError(f"{key}: expected a value; got none")
    return given[key]


def _boolean(given: Mapping[str, str], key: str, *, default: bool) -> bool:
    value = given.get(key, str(default).lower())
    if value not in ("true", "false"):
        raise RefusedError(f"{key}: expected true or false; got {value!r}")
    return value == "true"


def _milliseconds(given: Mapping[str, str], key: str, default: int) -> float:
    """Seconds of a setting in milliseconds; of 0 a loop would never rest."""
    value = given.get(key, str(default))
    if not value.isdecimal() or int(value) < 1:
        raise RefusedError(f"{key}: expected milliseconds from 1 on; got {value!r}")
    return int(value) / 1000
