"""Raw requests, against a socket that plays a broker."""

import socket
import threading

import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire import admin as raw_admin
from pytest_kmigrate.wire.request import UnsupportedRequestError, first_answering
from tests.unit.workloads.played_broker import Play, played_broker, request_on

HEADER = bytes([0, 0, 0, 1, 0])
"""Correlation id 1 and no tagged fields."""
NOT_CONTROLLER = bytes([0, 41])
DELETED = HEADER + bytes(4) + bytes([2, 2]) + b"a" + NOT_CONTROLLER + bytes([0, 0])
"""DeleteTopics v4: throttle time, one topic called "a", its error, no tagged fields."""


def test_an_answer_comes_back_with_kafka_s_error_name() -> None:
    """The request carries key and version, and the answer is read even when it comes in pieces."""
    requests: list[bytes] = []

    def play(connection: socket.socket) -> None:
        requests.append(request_on(connection))
        frame = len(DELETED).to_bytes(4, "big") + DELETED
        for byte in frame:
            connection.send(bytes([byte]))

    with played_broker(play) as address:
        assert raw_admin.delete_topics_at(address, ["a"]) == {"a": "NOT_CONTROLLER"}
    assert requests[0][:4] == bytes([0, 20, 0, 4])


ACL = raw_admin.AclToRemove(2, "t", 4, "User:a", "*", 4, 3)


@pytest.mark.parametrize(
    ("of_filter", "of_acls", "error"),
    [
        (0, [0], "NONE"),
        (0, [], "NONE"),
        (0, [0, 255], "UNKNOWN_SERVER_ERROR"),
        (31, [], "CLUSTER_AUTHORIZATION_FAILED"),
    ],
    ids=["removed", "none was there", "one stays", "refused"],
)
def test_an_acl_that_stays_is_an_error(of_filter: int, of_acls: list[int], error: str) -> None:
    """DeleteAcls v1 has an error for the request's filter, and one for each ACL that matched it."""

    def text(value: str) -> bytes:
        return len(value).to_bytes(2, "big") + value.encode()

    def code(number: int) -> bytes:
        return b"\xff\xff" if number == 255 else number.to_bytes(2, "big")

    no_message = b"\xff\xff"
    binding = bytes([2]) + text("t") + bytes([4]) + text("User:a") + text("*") + bytes([4, 3])
    acls = b"".join(code(each) + no_message + binding for each in of_acls)
    result = code(of_filter) + no_message + len(of_acls).to_bytes(4, "big") + acls
    requests: list[bytes] = []

    def play(connection: socket.socket) -> None:
        requests.append(request_on(connection))
        frame = HEADER[:4] + bytes(4) + bytes([0, 0, 0, 1]) + result
        connection.sendall(len(frame).to_bytes(4, "big") + frame)

    with played_broker(play) as address:
        assert raw_admin.remove_acl_at(address, ACL) == error
    assert requests[0][:4] == bytes([0, 31, 0, 1])
    assert requests[0].endswith(bytes([0, 0, 0, 1]) + binding)


REPLICAS = b"".join(bytes([0, 0, 0, number]) + bytes(8 + 8 + 1 + 1) for number in (0, 7))
ON_DISK = bytes([2]) + b"a" + bytes([3]) + REPLICAS + bytes(1)
"""Two partitions of a topic called "a", in the words of DescribeLogDirs v3."""


@pytest.mark.parametrize("error", [0, 56], ids=["read", "broken"])
def test_what_lies_on_all_disks_of_a_broker_is_told_or_nothing(error: int) -> None:
    """A disk that cannot be read may hold more: what lies on the other is not the answer then."""
    disks = bytes([0, 0, 2]) + b"x" + bytes([2]) + ON_DISK + bytes([0, 0, error, 2]) + b"y" + bytes([1, 0])
    frame = HEADER + bytes(4) + bytes(2) + bytes([3]) + disks + bytes(1)

    def play(connection: socket.socket) -> None:
        request_on(connection)
        connection.sendall(len(frame).to_bytes(4, "big") + frame)

    with played_broker(play) as address:
        if error:
            with pytest.raises(ClusterError, match="on its disks; got KAFKA_STORAGE_ERROR"):
                raw_admin.replicas_at(address)
        else:
            assert raw_admin.replicas_at(address) == {("a", 0), ("a", 7)}


def test_a_refused_connection_is_definite() -> None:
    """Nothing was sent, so nothing can have happened: not the error that means "indefinite"."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(ClusterError, match=r"expected a broker at 127.0.0.1") as caught:
        raw_admin.replicas_at(address)
    assert not isinstance(caught.value, AwaitTimeoutError)
    with pytest.raises(ClusterError, match="expected a broker that answers"):
        first_answering([Peer(address)])


@pytest.mark.parametrize(
    "answer",
    [b"", bytes([0, 0, 0, 99]) + HEADER, bytes([0, 0, 0, 6]) + HEADER + b"\xff"],
    ids=["none", "cut", "garbage"],
)
def test_a_missing_answer_is_indefinite(answer: bytes) -> None:
    """The request was sent: a closed connection or half an answer does not show whether it took effect."""

    def play(connection: socket.socket) -> None:
        request_on(connection)
        connection.sendall(answer)

    asked_why = [] if answer.endswith(b"\xff") else [play]
    with played_broker(play, *asked_why) as address, pytest.raises(AwaitTimeoutError, match="DeleteTopicsRequest"):
        raw_admin.delete_topics_at(address, ["a"])


def _close(connection: socket.socket) -> None:
    request_on(connection)


def _knowing(versions: bytes) -> Play:
    """Answers which requests a broker knows."""
    known = bytes([0, 0, 0, 1, 0, 0, 2]) + versions + bytes(4) + bytes(1)

    def notify(connection: socket.socket) -> None:
        request_on(connection)
        connection.sendall(len(known).to_bytes(4, "big") + known)

    return notify


@pytest.mark.parametrize(
    ("first", "last", "is_known"), [(4, 4, True), (0, 9, True), (0, 3, False), (5, 9, False)], ids=str
)
def test_a_request_that_the_broker_says_it_does_not_know_changed_nothing(first: int, last: int, is_known: bool) -> None:
    """It closes the connection then, as it does when it ends: the versions it knows distinguish the two."""
    delete_topics = bytes([0, 20, 0, first, 0, last, 0])
    error = AwaitTimeoutError if is_known else UnsupportedRequestError
    with played_broker(_close, _knowing(delete_topics)) as address, pytest.raises(error, match="DeleteTopicsRequest"):
        raw_admin.delete_topics_at(address, ["a"])


def test_a_silent_broker_is_given_up_in_time() -> None:
    """A paused broker takes the connection and says nothing: the limit holds, and the outcome is indefinite."""
    over = threading.Event()
    with played_broker(lambda _connection: bool(over.wait(30)) or None) as address:
        with pytest.raises(AwaitTimeoutError, match=r"not within 0\.2 s"):
            raw_admin.replicas_at(address, within_s=0.2)
        over.set()


def test_the_first_broker_that_answers_is_chosen() -> None:
    """Neither a dead one keeps a request from the others, nor a proxy that takes connections for one that is away."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        dead = f"127.0.0.1:{server.getsockname()[1]}"
    with played_broker(_close) as away, played_broker(_knowing(bytes([0, 20, 0, 4, 0, 4, 0]))) as alive:
        assert first_answering([Peer(dead), Peer(away), Peer(alive)]).address == alive
