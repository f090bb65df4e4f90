"""Is a node ready? Asked through an API, never read from a log sentence."""

import http.client
import json
import socket
import urllib.error
import urllib.parse
from contextlib import suppress
from pathlib import Path

from pytest_kmigrate.distributions.distribution import Image
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.past_proxies import opened
from pytest_kmigrate.providers.owned.network.addresses import CLIENT_PORT, JOLOKIA_PORT, ZOOKEEPER_PORT
from pytest_kmigrate.providers.zookeeper_words import mode_of, srvr
from pytest_kmigrate.waiting import NotYet

_RUNNING = 3
_JVM = "java"
_RAFT_AT_WORK = ("leader", "follower")
_ANSWER_WITHIN_S = 2.0
_AT_ITS_START_WITHIN_S = 0.5
_NO_ANSWER = (OSError, ValueError, http.client.HTTPException)
"""What is raised by a node that is not there, and by one that dies while it answers."""


def ready(role: Role, address: str) -> bool | NotYet:
    """True when the node at ``address`` serves; otherwise what it says instead.

    ZooKeeper: ``srvr`` names a mode. Broker: ``BrokerState`` is 3 (running), in either mode, and clients can
    connect. Controller: its raft state is leader or follower. Combined node: both.
    """
    try:
        if role is Role.ZOOKEEPER:
            return _zookeeper(address)
        if role is Role.BROKER:
            return _broker(address)
        if role is Role.COMBINED and (serves := _broker(address)) is not True:
            return serves
        state = _raft_state(address)
        return state in _RAFT_AT_WORK or NotYet(f"raft state {state}")
    except _NO_ANSWER as error:
        return NotYet(f"no answer yet ({error})")


def must_be_its_jvm(node: str, pid: int | None, image: Image | None) -> None:
    """ClusterError when the process of a node is a script of its image, and its JVM a child of that.

    A signal would meet the script: a node that is said to stand still would run on.
    """
    if image is None:
        return
    with suppress(OSError):  # it has just ended, as will be reported
        program = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
        if program != _JVM:
            raise ClusterError(
                f"{node}: expected {image.kafka[0]} to become the JVM, got a process {program} that runs it: "
                "let the script end with exec"
            )


def zookeeper_mode(address: str, within_s: float = _ANSWER_WITHIN_S) -> str | None:
    """``leader``, ``follower`` or ``standalone``; None when the server does not serve, or does not say so in time."""
    return mode_of((address, ZOOKEEPER_PORT), within_s)


def last_zxid(address: str) -> int:
    """The last transaction that a ZooKeeper server knows; -1 when it does not serve."""
    return int(srvr((address, ZOOKEEPER_PORT), _ANSWER_WITHIN_S).get("Zxid", "-1"), 0)


def leads_the_quorum(address: str) -> bool:
    """Whether a controller reports that it leads; one that does not answer does not."""
    try:
        return _raft_state(address) == "leader"
    except _NO_ANSWER:
        return False


def _zookeeper(address: str) -> bool | NotYet:
    """A server may take a question in while it starts and never answer it: better to ask again soon."""
    return zookeeper_mode(address, _AT_ITS_START_WITHIN_S) is not None or NotYet("srvr names no mode")


def _broker(address: str) -> bool | NotYet:
    """A broker in KRaft mode says that it is running some milliseconds before it listens.

    Whether it listens is asked first: to ask for its state costs a JVM that is not warm a good part of its start.
    """
    socket.create_connection((address, CLIENT_PORT), timeout=_ANSWER_WITHIN_S).close()
    state = _attribute(address, "kafka.server:type=KafkaServer,name=BrokerState", "Value")
    return state == _RUNNING or NotYet(f"BrokerState {state}")


def _raft_state(address: str) -> object:
    return _attribute(address, "kafka.server:type=raft-metrics", "current-state")


def _attribute(address: str, mbean: str, attribute: str) -> object:
    url = f"http://{address}:{JOLOKIA_PORT}/jolokia/read/{urllib.parse.quote(mbean, safe=':,=')}/{attribute}"
    with opened(url, _ANSWER_WITHIN_S) as response:
        return json.load(response).get("value")
