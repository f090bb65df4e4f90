"""Registrations and heartbeats of brokers, sent to one controller byte for byte."""

import struct
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

from kio.schema.broker_heartbeat.v0.request import BrokerHeartbeatRequest
from kio.schema.broker_heartbeat.v0.response import BrokerHeartbeatResponse
from kio.schema.types import BrokerId
from kio.static.primitive import i16, i64, u16

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.control_requests import FrameReader, Layout
from pytest_kmigrate.wire.request import (
    ANSWER_WITHIN_S,
    answer_to_frame,
    api_versions,
    ask,
    decoded_as,
    frame_of,
    named,
)

_PLAINTEXT = 0
_WITH_FLAG, _WITH_LOG_DIRS = 1, 2
_REGISTRATION, _HIGHEST = 62, 4
"""Kafka's number of the request, and the highest version of it here."""
_READY_TAG = 1
_LOG_DIRS_FROM = 1 << 64
"""Kafka reserves the lowest ids of log directories; two brokers must not have the same one."""


@dataclass(frozen=True)
class Registration:
    """How a broker registers with the controllers."""

    broker_id: int
    cluster_id: str
    level: int | tuple[int, int] | None
    """The ``metadata.version`` it supports, or the lowest and the highest; None: it says nothing of it."""
    is_migrating: bool = True
    """Whether it says that it is a broker in ZooKeeper mode that migrates."""
    listeners: Mapping[str, str] = field(default_factory=dict)
    """Where it listens: name -> ``host:port``."""
    incarnation: uuid.UUID = field(default_factory=uuid.uuid4)
    features: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """What else it supports besides ``metadata.version``: by feature, the lowest and the highest level."""
    version: int | None = None
    """Of the request, 0 to 4; None: the highest that the controller knows.

    KIP-866 brought version 1 with ``is_migrating``, and version 2 has log directories.
    """


def register_at(
    controller: Peer | str, registration: Registration, *, within_s: float = ANSWER_WITHIN_S
) -> tuple[str, int]:
    """Kafka's name of the error, ``NONE`` for none, and the broker's epoch (-1 with an error)."""
    chosen = _highest_at(controller, within_s) if registration.version is None else registration.version
    schema, answers = (
        import_module(f"kio.schema.broker_registration.v{chosen}.{part}") for part in ("request", "response")
    )
    request = _request(schema, registration, chosen)
    answer = ask(controller, request, answers.BrokerRegistrationResponse, within_s)
    return named(answer.error_code), int(answer.broker_epoch)


def _highest_at(controller: Peer | str, within_s: float) -> int:
    """The highest version of a registration that both know; 3.6 and earlier know no log directories."""
    known = api_versions(controller, within_s=within_s).api_keys
    return min([_HIGHEST, *(int(each.max_version) for each in known if each.api_key == _REGISTRATION)])


def register_with_tag_at(
    controller: Peer | str, registration: Registration, ready: int | None, *, within_s: float = ANSWER_WITHIN_S
) -> str:
    """Kafka's name of the error that answers a registration whose readiness is a tagged number; ``CLOSED`` for none.

    The layout is that of an early draft of KIP-866: version 1 is version 0 with the tag 1, a byte; None: without it. A
    controller that cannot read it closes the connection.
    """
    schema, answers = (import_module(f"kio.schema.broker_registration.v0.{part}") for part in ("request", "response"))
    frame = frame_of(_request(schema, registration, 0))
    tags = b"\x00" if ready is None else bytes([1, _READY_TAG, 1, ready])
    drafted = frame[:2] + struct.pack(">h", 1) + frame[4:-1] + tags
    try:
        answer = answer_to_frame(controller, drafted, within_s=within_s)
    except AwaitTimeoutError as unanswered:
        if isinstance(unanswered.__cause__, EOFError | ConnectionResetError):
            return "CLOSED"
        raise
    return named(decoded_as(answers.BrokerRegistrationResponse, answer).error_code)


def _request(schema: Any, registration: Registration, version: int) -> Any:
    later: dict[str, Any] = {}
    if version >= _WITH_FLAG:
        later["is_migrating_zk_broker"] = registration.is_migrating
    if version >= _WITH_LOG_DIRS:
        later["log_dirs"] = (uuid.UUID(int=_LOG_DIRS_FROM + registration.broker_id),)
    return schema.BrokerRegistrationRequest(
        broker_id=BrokerId(registration.broker_id),
        cluster_id=registration.cluster_id,
        incarnation_id=registration.incarnation,
        listeners=tuple(_listener(schema, *each) for each in registration.listeners.items()),
        features=(
            *_features(schema, registration.level),
            *(_feature(schema, name, *levels) for name, levels in registration.features.items()),
        ),
        rack=None,
        **later,
    )


def _features(schema: Any, level: int | tuple[int, int] | None) -> tuple[Any, ...]:
    if level is None:
        return ()
    low, high = level if isinstance(level, tuple) else (level, level)
    return (_feature(schema, "metadata.version", low, high),)


def _feature(schema: Any, name: str, low: int, high: int) -> Any:
    return schema.Feature(name=name, min_supported_version=i16(low), max_supported_version=i16(high))


class HeartbeatAnswer(NamedTuple):
    """What a controller answers to a heartbeat."""

    error: str
    """Kafka's name of it, ``NONE`` for none."""
    is_fenced: bool
    may_stop: bool
    """Whether the broker may end now, as it had asked for."""


def heartbeat_at(
    controller: Peer | str,
    broker_id: int,
    broker_epoch: int,
    offset: int,
    *,
    wants_to_stop: bool = False,
    within_s: float = ANSWER_WITHIN_S,
) -> HeartbeatAnswer:
    """Say that a broker lives and has read the metadata log up to an offset, and whether it wants to stop.

    In version 0, which every release knows; later ones only add log directories.
    """
    request = BrokerHeartbeatRequest(
        broker_id=BrokerId(broker_id),
        broker_epoch=i64(broker_epoch),
        current_metadata_offset=i64(offset),
        want_fence=False,
        want_shut_down=wants_to_stop,
    )
    answer = ask(controller, request, BrokerHeartbeatResponse, within_s)
    return HeartbeatAnswer(named(answer.error_code), bool(answer.is_fenced), bool(answer.should_shut_down))


def _listener(schema: Any, name: str, address: str) -> Any:
    host, _, port = address.rpartition(":")
    return schema.Listener(name=name, host=host, port=u16(int(port)), security_protocol=i16(_PLAINTEXT))


_LAYOUT: Layout = (
    ("broker", ">i", 0),
    ("cluster_id", "string", 0),
    ("incarnation", "uuid", 0),
    ("listeners", (("name", "string", 0), ("host", "string", 0), ("port", ">H", 0), ("protocol", ">h", 0)), 0),
    ("features", (("name", "string", 0), ("lowest", ">h", 0), ("highest", ">h", 0)), 0),
    ("rack", "string", 0),
)
_FLAG: Layout = (("is_migrating", ">?", 1),)


@dataclass(frozen=True)
class ReceivedRegistration:
    """A registration as it was received in version 1, with a flag (KIP-866) or a tagged number (an early draft)."""

    broker_id: int
    levels: Mapping[str, tuple[int, int]]
    is_migrating: bool | None
    readiness: int | None
    unread_bytes: int


def registration_in(body: FrameReader) -> ReceivedRegistration:
    """The registration behind the header of a frame; of both layouts the one that ends with the frame.

    The one with the flag if neither does; ClusterError where the frame ends too early.
    """
    with suppress(ClusterError):
        drafted = _received(body.copy(), _LAYOUT)
        if not drafted.unread_bytes:
            return drafted
    return _received(body, (*_LAYOUT, *_FLAG))


def _received(body: FrameReader, layout: Layout) -> ReceivedRegistration:
    fields, tags = body.fields(layout, 1), body.tags()
    levels = {each["name"]: (each["lowest"], each["highest"]) for each in fields["features"]}
    readiness = int.from_bytes(tags[_READY_TAG], "big") if _READY_TAG in tags else None
    return ReceivedRegistration(fields["broker"], levels, fields.get("is_migrating"), readiness, body.left)
