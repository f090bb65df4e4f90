"""A stub controller: it says that it leads, and records registrations in both layouts of version 1."""

import struct
import uuid

import pytest
from kio.schema.api_versions.v0.response import ApiVersionsResponse
from kio.schema.fetch.v13.request import FetchRequest
from kio.schema.fetch.v13.response import FetchResponse
from kio.static.primitive import i16, i32

from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.wire.registration import Registration, register_at, register_with_tag_at
from pytest_kmigrate.wire.request import answer_to_frame, as_timeout, ask, decoded_as
from pytest_kmigrate.workloads.stub_controller import StubController
from tests.unit.fakes import MemoryRecorder

FLAGGED = Registration(5, "cluster", (19, 20), listeners={"INTERNAL": "host:9"}, version=1)


@pytest.fixture
def recorder() -> MemoryRecorder:
    """What the stub records."""
    return MemoryRecorder()


def address(stub: StubController) -> str:
    """Where it listens."""
    return stub.voter.partition("@")[2]


def test_it_listens_where_nodes_reach_it(recorder: MemoryRecorder) -> None:
    """At the loopback address only where nodes have the same."""
    with StubController(3009, recorder, "127.0.0.9") as stub:
        assert stub.voter.startswith("3009@127.0.0.9:")


def test_brokers_find_in_it_the_leader_of_their_quorum(recorder: MemoryRecorder) -> None:
    """By a fetch; of registrations it knows version 1 at most, and clients that ask in a later version ask again."""
    fetch = FetchRequest(max_wait=as_timeout(0), min_bytes=i32(0), topics=(), forgotten_topics_data=())
    with StubController(3009, recorder) as stub:
        assert stub.voter.startswith("3009@127.0.0.1:")
        (topic,) = ask(address(stub), fetch, FetchResponse, 5).responses
        for version, error in ((0, 0), (3, 35)):
            answer = answer_to_frame(address(stub), struct.pack(">hhih", 18, version, 7, -1))
            known = decoded_as(ApiVersionsResponse, answer)
            assert (known.error_code.value, len(known.api_keys)) == (error, 3)
            assert {each.api_key: each.max_version for each in known.api_keys}[i16(62)] == 1
    (partition,) = topic.partitions
    assert (topic.topic_id, partition.current_leader.leader_id, partition.current_leader.leader_epoch) == (
        uuid.UUID(int=1),
        3009,
        1,
    )
    assert recorder.events == []


@pytest.mark.parametrize(("is_migrating", "ready"), [(True, None), (False, None), (None, 0), (None, 1), (None, 200)])
def test_a_registration_is_recorded_as_it_was_sent(
    recorder: MemoryRecorder, is_migrating: bool | None, ready: int | None
) -> None:
    """With the boolean of KIP-866, or the number of its draft; the broker may try again."""
    with StubController(3009, recorder) as stub:
        assert not stub.registered.is_set()
        if is_migrating is None:
            assert register_with_tag_at(address(stub), FLAGGED, ready) == "NOT_CONTROLLER"
        else:
            flagged = Registration(**{**vars(FLAGGED), "is_migrating": is_migrating})
            assert register_at(address(stub), flagged, within_s=5) == ("NOT_CONTROLLER", -1)
        assert stub.registered.is_set()
    (event,) = recorder.of(EventKind.REGISTRATION)
    assert event.node == "stub-controller-3009"
    assert event.data == {
        "broker": 5,
        "levels": {"metadata.version": (19, 20)},
        "unread_bytes": 0,
        "is_migrating": is_migrating,
        "readiness": ready,
    }


def test_another_request_ends_the_connection(recorder: MemoryRecorder) -> None:
    """It has no metadata to give."""
    with StubController(3009, recorder) as stub, pytest.raises(AwaitTimeoutError, match="closed the connection"):
        answer_to_frame(address(stub), struct.pack(">hhihb", 3, 12, 7, -1, 0), within_s=5)
