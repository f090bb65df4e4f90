"""A broker in ZooKeeper mode that has just started reports no broker and no topic; our clients must outlive that."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from confluent_kafka.admin import AdminClient
from kio.schema.api_versions.v3.response import ApiVersion, ApiVersionsResponse
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v7.response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i16, i32

from pytest_kmigrate.wire.request import as_timeout
from pytest_kmigrate.workloads.clients.client_properties import QUICK_FAILOVER
from tests.unit.workloads.played_broker import answer_on, request_on

API_VERSIONS, METADATA = ApiVersionsResponse.__api_key__, MetadataResponse.__api_key__
NEWEST = {METADATA: 7, API_VERSIONS: 3}
TOPIC = TopicName("orders")
WITHIN_S = 10


def test_a_client_that_is_told_of_no_broker_keeps_those_it_knew() -> None:
    """From librdkafka 2.10 on it forgets them, closes its connections, and may find no broker any more (5301)."""
    with _lone_broker() as broker:
        client = AdminClient({**QUICK_FAILOVER, "bootstrap.servers": broker.address, "log_level": 2})
        client.list_topics("orders", WITHIN_S)
        knew = len(broker.served)

        broker.has_just_started = True
        assert not client.list_topics("orders", WITHIN_S).brokers
        broker.has_just_started = False

        assert list(client.list_topics("orders", WITHIN_S).brokers) == [0]
        assert len(broker.served) == knew


@dataclass
class LoneBroker:
    """The only broker of a cluster with one topic, as far as it knows of itself."""

    server: socket.socket
    has_just_started: bool = False
    served: list[tuple[socket.socket, threading.Thread]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """``host:port``."""
        return f"127.0.0.1:{self.server.getsockname()[1]}"

    def serve(self) -> None:
        """Each connection in a thread of its own, until the server is closed."""
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._answer_all, args=(connection,))
            self.served.append((connection, thread))
            thread.start()

    def _answer_all(self, connection: socket.socket) -> None:
        with suppress(ConnectionError), connection:
            while request := request_on(connection):
                correlation_id, key = request[4:8], int.from_bytes(request[:2], "big")
                answer_on(connection, correlation_id, _versions() if key == API_VERSIONS else self._metadata())

    def _metadata(self) -> MetadataResponse:
        itself = MetadataResponseBroker(node_id=BrokerId(0), host="127.0.0.1", port=i32(self.server.getsockname()[1]))
        known = MetadataResponseTopic(error_code=ErrorCode.none, name=TOPIC, partitions=(_partition(),))
        unknown = MetadataResponseTopic(error_code=ErrorCode.unknown_topic_or_partition, name=TOPIC, partitions=())
        return MetadataResponse(
            throttle_time=as_timeout(0),
            brokers=() if self.has_just_started else (itself,),
            topics=(unknown if self.has_just_started else known,),
        )


@contextmanager
def _lone_broker() -> Iterator[LoneBroker]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        broker = LoneBroker(server)
        thread = threading.Thread(target=broker.serve)
        thread.start()
        try:
            yield broker
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection, answering in broker.served:
                with suppress(OSError):  # the client may have closed it
                    connection.shutdown(socket.SHUT_RDWR)
                answering.join()


def _partition() -> MetadataResponsePartition:
    return MetadataResponsePartition(error_code=ErrorCode.none, partition_index=i32(0), leader_id=BrokerId(0))


def _versions() -> ApiVersionsResponse:
    keys = tuple(ApiVersion(api_key=key, min_version=i16(0), max_version=i16(newest)) for key, newest in NEWEST.items())
    return ApiVersionsResponse(error_code=ErrorCode.none, api_keys=keys, throttle_time=as_timeout(0))
