"""ZooKeeper asked from outside: what happens when no server answers, and the password of a session."""

import socket
import threading

import pytest
from kazoo.exceptions import BadVersionError, ConnectionClosedError, ConnectionLoss, NoAuthError, NoNodeError
from kazoo.security import ACL, Id

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.probes import zookeeper
from pytest_kmigrate.probes.zookeeper import ZookeeperClient, session_password


def test_nobody_there_is_an_error_not_a_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request made before any server was reached is given up in time, and the client can still be closed."""
    monkeypatch.setattr(zookeeper, "_ANSWER_WITHIN_S", 0.2)
    client = ZookeeperClient("127.0.73.1:1")
    try:
        with pytest.raises(ClusterError, match="ZooKeeper does not answer for /controller"):
            client.get("/controller")
        with pytest.raises(ClusterError, match="ZooKeeper does not answer for /"):
            client.snapshot()
    finally:
        client.close()


class _Answer:
    def __init__(self, answer: object) -> None:
        self.answer = answer

    def get(self, timeout: float) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("cut_short", [ConnectionLoss(), ConnectionClosedError()], ids=["lost", "not yet begun"])
def test_a_tree_is_read_anew_when_its_reading_was_cut_short(
    monkeypatch: pytest.MonkeyPatch, cut_short: Exception
) -> None:
    """An ensemble that changes its leader ends every connection, and until it first connects a client says "closed"."""
    client = ZookeeperClient("127.0.73.1:1")
    reported = iter([cut_short, (b"root", None)])
    monkeypatch.setattr(client.kazoo, "get_async", lambda _: _Answer(next(reported)))
    monkeypatch.setattr(client.kazoo, "get_children_async", lambda _: _Answer([]))
    try:
        assert client.snapshot() == {"/": b"root"}
    finally:
        client.close()


@pytest.mark.parametrize(
    ("answer", "expected"), [(BadVersionError(), True), (NoAuthError(), False), (NoNodeError(), ClusterError)]
)
def test_whether_a_znode_may_be_written_shows_without_a_write(
    monkeypatch: pytest.MonkeyPatch, answer: Exception, expected: bool | type[ClusterError]
) -> None:
    """ZooKeeper looks at the ACL before the version; a znode that is not there has no ACL."""
    client = ZookeeperClient("127.0.73.1:1")
    versions = list[int]()

    def refuse(_path: str, _data: bytes, version: int) -> _Answer:
        versions.append(version)
        return _Answer(answer)

    monkeypatch.setattr(client.kazoo, "set_async", refuse)
    try:
        if isinstance(expected, bool):
            assert client.may_write("/controller") is expected
        else:
            with pytest.raises(expected, match="/controller"):
                client.may_write("/controller")
    finally:
        client.close()
    assert versions == [2**31 - 1]


def test_a_client_that_was_closed_says_so() -> None:
    """It is not asked again until time is up: closing it ends with it."""
    client = ZookeeperClient("127.0.73.1:1")
    client.close()
    with pytest.raises(ClusterError, match=r"for /controller .* ConnectionClosedError"):
        client.get("/controller")


def test_sessions_are_read_from_every_server_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """With addresses and timeouts; what a server reports of the question itself, which has no session, is left out."""
    reported = (
        b" /127.0.0.1:41234[1](queued=0,recved=9,sent=9,sid=0x100051630f000c,lop=PING,est=1764,to=18000,lcxid=0x7)\n"
        b" /127.0.0.1:41240[0](queued=0,recved=1,sent=0)\n\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        answering = threading.Thread(target=_answer_twice, args=(server, reported))
        answering.start()
        client = ZookeeperClient("127.0.73.1:1")
        try:
            # Only now: the client itself would take this server for a real one.
            monkeypatch.setattr(client, "_hosts", f"127.0.73.1:1,127.0.0.1:{server.getsockname()[1]}/kafka/prod")
            assert client.sessions() == {"127.0.0.1:41234": 0x100051630F000C}
            assert client.session_timeouts() == [18_000]
        finally:
            client.close()
            answering.join()


def _answer_twice(server: socket.socket, reported: bytes) -> None:
    for _ in range(2):
        connection, _ = server.accept()
        with connection:
            assert connection.recv(4) == b"cons"
            connection.sendall(reported)


def test_a_session_password_is_what_java_draws() -> None:
    """Sixteen bytes, the same for the same session, another for another."""
    assert len(session_password(0x1000051630F000C)) == 16
    assert session_password(7) == session_password(7) != session_password(8)


def test_a_znode_that_may_not_be_read_is_no_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the path and what is expected of it."""
    client = ZookeeperClient("127.0.73.1:1")
    monkeypatch.setattr(client.kazoo, "get_async", lambda _: _Answer(NoAuthError()))
    try:
        with pytest.raises(ClusterError, match="/consumers/g: expected a znode that this client may read and write"):
            client.get("/consumers/g")
    finally:
        client.close()


def test_an_acl_is_read_and_written_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Permissions are numbers of ZooKeeper's, and the order of its entries says nothing."""
    client = ZookeeperClient("127.0.73.1:1")
    given: list[tuple[str, list[ACL]]] = []
    held = [ACL(31, Id("sasl", "kafka")), ACL(1, Id("world", "anyone"))]
    monkeypatch.setattr(client.kazoo, "get_acls_async", lambda _: _Answer((held, None)))
    monkeypatch.setattr(client.kazoo, "set_acls_async", lambda *asked: given.append(asked) or _Answer(None))
    try:
        found = client.access("/config/topics")
        assert found == {(31, "sasl", "kafka"), (1, "world", "anyone")}
        client.allow("/config/topics", found)
    finally:
        client.close()
    assert [(path, sorted(acl)) for path, acl in given] == [("/config/topics", sorted(held))]
