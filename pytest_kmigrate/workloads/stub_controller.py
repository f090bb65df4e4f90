"""A stub controller: brokers find in it the leader of their quorum, register with it, and are refused.

It has no log. It knows version 1 of registrations only, and records each as the broker sent it.
"""

import struct
import threading
import uuid

from kio.schema.broker_registration.v1.response import BrokerRegistrationResponse
from kio.schema.errors import ErrorCode
from kio.schema.fetch.v13.response import FetchableTopicResponse, FetchResponse, LeaderIdAndEpoch, PartitionData
from kio.schema.types import BrokerId
from kio.static.primitive import i32, i64

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.workloads import RegistrationReceived
from pytest_kmigrate.wire.control_requests import API_VERSIONS, FrameReader
from pytest_kmigrate.wire.frame_server import LOOPBACK, FrameServer, api_versions_answer, written
from pytest_kmigrate.wire.registration import registration_in
from pytest_kmigrate.wire.request import as_timeout, framed

_FETCH, _REGISTRATION = 1, 62
_HIGHEST = {_FETCH: 13, API_VERSIONS: 0, _REGISTRATION: 1}
_HEADER = (("api", ">h", 0), ("version", ">h", 0), ("correlation", ">i", 0))
_EPOCH = i32(1)
_METADATA_TOPIC = uuid.UUID(int=1)
"""The id that Kafka gives the metadata log; brokers of 3.9 look at it alone, which versions before 13 do not have."""


class StubController(FrameServer):
    """Listens from its beginning to ``close``."""

    def __init__(self, controller_id: int, recorder: Recorder, host: str = LOOPBACK) -> None:
        self.controller_id = controller_id
        self.name = f"stub-controller-{controller_id}"
        self.registered = threading.Event()
        """Whether any broker has registered."""
        self._recorder = recorder
        super().__init__(host)

    @property
    def voter(self) -> str:
        """The value of ``controller.quorum.voters`` that makes it the whole quorum."""
        return f"{self.controller_id}@{self.address}"

    def receive(self, frame: bytes) -> bytes:
        """An answer to what brokers ask the leader of their quorum."""
        reader = FrameReader(frame)
        header = reader.fields(_HEADER, 0)
        correlation = int(header["correlation"])
        if header["api"] == API_VERSIONS:
            return api_versions_answer(header["version"], correlation, _HIGHEST)
        reader.skip_client_id()
        reader.tags()
        if header["api"] == _FETCH:
            body = written(self._leads())
        elif header["api"] == _REGISTRATION:
            body = self._refused(reader)
        else:
            raise ClusterError(f"{self.name}: expected a request that it offers, got {header['api']}")
        return framed(struct.pack(">i", correlation) + b"\x00" + body)

    def _leads(self) -> FetchResponse:
        leader = LeaderIdAndEpoch(leader_id=BrokerId(self.controller_id), leader_epoch=_EPOCH)
        partition = PartitionData(
            partition_index=i32(0),
            error_code=ErrorCode.none,
            high_watermark=i64(0),
            log_start_offset=i64(0),
            current_leader=leader,
            aborted_transactions=None,
            records=None,
        )
        topic = FetchableTopicResponse(topic_id=_METADATA_TOPIC, partitions=(partition,))
        return FetchResponse(
            throttle_time=as_timeout(0), error_code=ErrorCode.none, session_id=i32(0), responses=(topic,)
        )

    def _refused(self, reader: FrameReader) -> bytes:
        """The broker tries again and again, as it would with a controller that is not ready yet."""
        received = registration_in(reader)
        event = RegistrationReceived(
            received.broker_id, received.levels, received.is_migrating, received.readiness, received.unread_bytes
        )
        self._recorder.record(event, self.name)
        self.registered.set()
        return written(
            BrokerRegistrationResponse(
                throttle_time=as_timeout(0), error_code=ErrorCode.not_controller, broker_epoch=i64(-1)
            )
        )
