"""Control requests: real frames of Kafka 3.9.1 are read to their last byte, and a stub broker answers them."""

import json
import socket
import struct

import pytest

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.control_requests import answer_to, decoded, empty_update_metadata_at
from pytest_kmigrate.wire.registration import HeartbeatAnswer, Registration
from pytest_kmigrate.workloads import stub_broker
from pytest_kmigrate.workloads.stub_broker import StubBroker
from tests.unit.fakes import MemoryRecorder

LEADER_AND_ISR = bytes.fromhex(
    "00040007000000010004333030300000000bb80100000005000000000000002b01020b65766572797768657265ec6ed3"
    "664d0c4b0c9cd3bed7698026b20200000000000000010000000100000000040000000100000002000000000000000005"
    "0000000100000002000000000000000901010100000002000000010962726f6b65722d31000023840000"
)
UPDATE_METADATA = bytes.fromhex(
    "00060008000000030004333030300000000bb80100000005000000000000002b020b6576657279776865726500000000"
    "000000000000000000000000020000000000000005fffffffe0000000004000000010000000200000000000000000500"
    "00000100000002000000000000000905000000010000000200000000000000090000050000000003000023840962726f"
    "6b65722d3009494e5445524e414c000000000023860c3132372e312e3235302e3207434c49454e540000000000000000"
    "0103000023840962726f6b65722d3109494e5445524e414c000000000023860c3132372e312e3235302e3307434c4945"
    "4e54000000000000000009020000a3e70a3132372e302e302e3109494e5445524e414c00000000000000000203000023"
    "840962726f6b65722d3209494e5445524e414c000000000023860c3132372e312e3235302e3407434c49454e54000000"
    "000001000101"
)
STOP_REPLICA = bytes.fromhex(
    "00050004000000040004333030300000000bb80100000005000000000000002b020b657665727977686572650200000000fffffffe01000000"
)
"""What a KRaft controller sent to broker 9 about a topic ``everywhere`` that it created and deleted."""


@pytest.mark.parametrize(
    ("frame", "name", "version"),
    [(LEADER_AND_ISR, "LeaderAndIsr", 7), (UPDATE_METADATA, "UpdateMetadata", 8), (STOP_REPLICA, "StopReplica", 4)],
)
def test_a_real_frame_is_read_to_its_last_byte(frame: bytes, name: str, version: int) -> None:
    """Name, version, flag and topic; a frame of which the end is missing is no request, and one with more says so."""
    request = decoded(frame)
    assert (request.name, request.version, request.left) == (name, version, 0)
    assert (request.body["controller_id"], request.body["is_kraft"]) == (3000, True)
    assert [topic["name"] for topic in request.body["topics"]] == ["everywhere"]
    assert decoded(frame + b"\x00\x00").left == 2
    with pytest.raises(ClusterError, match="more bytes of a control request"):
        decoded(frame[:-3])


def drafted(frame: bytes, controller: int = -1, kraft_controller: int = 3000) -> bytes:
    """A real frame in the layout of the draft: four bytes in the place of the flag."""
    header, rest = frame[:15], frame[20:]
    return header + struct.pack(">ii", controller, kraft_controller) + rest


@pytest.mark.parametrize("frame", [LEADER_AND_ISR, UPDATE_METADATA, STOP_REPLICA])
def test_a_frame_with_an_id_in_the_place_of_the_flag_is_read_to_its_last_byte(frame: bytes) -> None:
    """Its other fields are those of the frame with the flag."""
    request, other = decoded(drafted(frame)), decoded(frame)
    assert (request.body["controller_id"], request.body["kraft_controller_id"], request.left) == (-1, 3000, 0)
    assert {key: value for key, value in request.body.items() if key in other.body and key != "controller_id"} == {
        key: value for key, value in other.body.items() if key not in ("controller_id", "is_kraft")
    }
    assert request.tags == other.tags


def test_a_frame_that_neither_layout_ends_with_is_read_by_the_one_with_the_flag() -> None:
    """As before, with what is left of it."""
    request = decoded(drafted(STOP_REPLICA) + bytes(2))
    assert "kraft_controller_id" not in request.body
    assert request.left


def test_partitions_and_brokers_are_read_field_by_field() -> None:
    """Replicas, what is deleted, and who lives."""
    (partition,) = decoded(LEADER_AND_ISR).body["topics"][0]["partitions"]
    assert (partition["leader"], partition["replicas"], partition["is_new"]) == (1, [1, 2, 0, 9], True)
    (partition,) = decoded(STOP_REPLICA).body["topics"][0]["partitions"]
    assert partition["is_deleted"] is True
    assert [broker["id"] for broker in decoded(UPDATE_METADATA).body["live_brokers"]] == [0, 1, 9, 2]


def test_an_older_version_is_refused() -> None:
    """Its layout is another one, which no broker of 3.4 or later is sent."""
    with pytest.raises(ClusterError, match="UpdateMetadata: expected version 6 or later, got 5"):
        decoded(struct.pack(">hhi", 6, 5, 1))


def asked(stub: StubBroker, frame: bytes) -> bytes:
    """The answer of a stub to one frame, without its length."""
    host, _, port = stub.address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(struct.pack(">i", len(frame)) + frame)
        length = int.from_bytes(connection.recv(4), "big")
        return connection.recv(length)


def test_a_stub_registers_where_nodes_reach_it() -> None:
    """In ZooKeeper, too."""
    with StubBroker(9, MemoryRecorder(), list, "127.0.0.9") as stub:
        assert json.loads(stub.znode())["host"] == "127.0.0.9"


def test_a_stub_records_and_accepts_what_it_is_sent() -> None:
    """Each request is an event of its own node; an ApiVersions request is answered and is none."""
    recorder = MemoryRecorder()
    with StubBroker(9, recorder, list) as stub:
        for frame in (UPDATE_METADATA, drafted(LEADER_AND_ISR), STOP_REPLICA):
            assert struct.pack(">i", len(asked(stub, frame))) + asked(stub, frame) == answer_to(decoded(frame))
        assert asked(stub, struct.pack(">hhih", 18, 0, 7, -1))[:6] == struct.pack(">ih", 7, 0)
        assert stub.deleted == {"everywhere"}
    update, _, with_id, *_, stop = recorder.of(EventKind.CONTROL_REQUEST)
    assert (with_id.data["kraft_controller_id"], with_id.data["is_kraft"]) == (3000, None)
    assert "kraft_controller_id" not in update.data
    assert (update.node, update.data["request"], update.data["tags"]) == ("stub-9", "UpdateMetadata", [0])
    assert (update.data["live_brokers"], update.data["is_full"]) == ([0, 1, 2, 9], False)
    assert (stop.data["topics"], stop.data["deleted"]) == ({"everywhere": 1}, ["everywhere"])
    assert (stop.data["deleted_epochs"], update.data["replicas"], update.data["offline"]) == ([-2], [], [])


def test_a_request_of_a_client_is_neither_answered_nor_recorded() -> None:
    """Its connection ends; it found the stub among the brokers that ZooKeeper has."""
    recorder = MemoryRecorder()
    with StubBroker(9, recorder, list) as stub:
        assert asked(stub, struct.pack(">hhih", 3, 12, 7, -1)) == b""
        with pytest.raises(ClusterError, match="stub-9: expected a control request, got one of API 3"):
            stub.receive(struct.pack(">hhih", 3, 12, 7, -1))
    assert not recorder.of(EventKind.CONTROL_REQUEST)


def test_a_registration_that_no_controller_takes_starts_no_heartbeat() -> None:
    """Without an active controller the answer is that of one that is none."""
    with StubBroker(9, MemoryRecorder(), list) as stub:
        assert stub.register("cluster", 21) == "NOT_CONTROLLER"


def test_an_empty_request_with_an_id_is_answered() -> None:
    """It names a controller of KRaft, and nothing else."""
    recorder = MemoryRecorder()
    with StubBroker(9, recorder, list) as stub:
        assert empty_update_metadata_at(stub.address, kraft_controller_id=3000) == "NONE"
    (event,) = recorder.of(EventKind.CONTROL_REQUEST)
    assert (event.data["version"], event.data["controller_id"], event.data["kraft_controller_id"]) == (8, -1, 3000)
    assert (event.data["topics"], event.data["live_brokers"], event.data["unread_bytes"]) == ({}, [], 0)


def test_a_stub_in_kraft_mode_asks_to_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """It supports what it is given, lives by heartbeats, and is let go by the answer to one of them."""
    registered: list[Registration] = []
    wishes: list[bool] = []

    def register(_: object, registration: Registration, **__: object) -> tuple[str, int]:
        registered.append(registration)
        return "NONE", 40

    def beat(_: object, broker_id: int, epoch: int, *__: int, wants_to_stop: bool, **___: object) -> HeartbeatAnswer:
        assert (broker_id, epoch) == (9, 40)
        wishes.append(wants_to_stop)
        return HeartbeatAnswer("NONE", is_fenced=wants_to_stop, may_stop=wants_to_stop)

    monkeypatch.setattr(stub_broker, "register_at", register)
    monkeypatch.setattr(stub_broker, "heartbeat_at", beat)
    with StubBroker(9, MemoryRecorder(), lambda: [Peer("127.0.0.1:1")]) as stub:
        assert stub.join("cluster", {"metadata.version": (1, 21), "group.version": (0, 1)}) == "NONE"
        assert wishes == [False], "it is alive"
        assert stub.leave()
    (registration,) = registered
    assert (registration.level, registration.features) == ((1, 21), {"group.version": (0, 1)})
    assert not registration.is_migrating
    assert wishes[-1]
