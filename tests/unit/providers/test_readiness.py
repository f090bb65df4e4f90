"""Readiness as seen by a node that is only just there."""

import socket
import threading

import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.owned import readiness
from pytest_kmigrate.providers.owned.network.addresses import JOLOKIA_PORT, ZOOKEEPER_PORT
from pytest_kmigrate.waiting import NotYet, until

ADDRESS = "127.255.77.1"


def test_a_zookeeper_that_forgets_a_question_is_asked_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one does that listens a moment before it serves: it takes connections in, and never answers them."""
    monkeypatch.setattr(readiness, "_AT_ITS_START_WITHIN_S", 0.01)
    asked: list[None] = []

    def asking() -> object:
        asked.append(None)
        return readiness.ready(Role.ZOOKEEPER, ADDRESS)

    with (
        socket.create_server((ADDRESS, ZOOKEEPER_PORT)),
        pytest.raises(AwaitTimeoutError, match="srvr names no mode"),
    ):
        until(asking, awaited="ZooKeeper ready", within_s=1)
    assert (
        len(asked) > 2
    )  # a client that waits for the first answer as long as for any other asks once more, at the end


@pytest.mark.parametrize(
    ("serves", "state", "is_ready"), [(True, "leader", True), (True, "candidate", False), (False, "follower", False)]
)
def test_a_combined_node_is_ready_as_both(
    monkeypatch: pytest.MonkeyPatch, serves: bool, state: str, is_ready: bool
) -> None:
    """Clients can connect, and it takes part in the quorum."""
    monkeypatch.setattr(readiness, "_broker", lambda _: serves or NotYet("BrokerState 1"))
    monkeypatch.setattr(readiness, "_raft_state", lambda _: state)
    assert (readiness.ready(Role.COMBINED, ADDRESS) is True) == is_ready


def test_a_server_that_does_not_serve_has_no_zxid_and_a_controller_that_does_not_answer_does_not_lead() -> None:
    """Nobody listens there."""
    assert readiness.last_zxid(ADDRESS) == -1
    assert not readiness.leads_the_quorum(ADDRESS)


def test_a_node_that_dies_while_it_answers_is_not_ready() -> None:
    """Its answer ends in the middle; that it is dead shows elsewhere."""

    def die() -> None:
        for _ in range(2):
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")

    with socket.create_server((ADDRESS, JOLOKIA_PORT)) as server:
        dying = threading.Thread(target=die)
        dying.start()
        assert isinstance(readiness.ready(Role.CONTROLLER, ADDRESS), NotYet)
        assert not readiness.leads_the_quorum(ADDRESS)
        dying.join()
