"""Many attributes in one request, whatever the node lacks."""

import gc
import json
import threading
import warnings
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.metrics import CATALOGUES
from pytest_kmigrate.providers.jolokia import JolokiaClient

VALUES: dict[str, Any] = {"a": 3, "b": 1.5, "nan": None, "huge": 1e999, "state": "leader", "session": "CONNECTED"}
VALUES |= {"matched": {"a:type=x": {"Value": 1}, "a:type=y": {}}, "matching none": {}}


class Agent(ThreadingHTTPServer):
    """Answers as Jolokia does, and counts requests and connections."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], body: bytes | None = None) -> None:
        super().__init__(address, Asked)
        self.body, self.requests, self.connections = body, 0, 0
        self.open: list[Any] = []
        self.asked: list[dict[str, Any]] = []

    def finish_request(self, request: Any, client_address: Any) -> None:
        """One connection begins."""
        self.connections += 1
        self.open.append(request)
        super().finish_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Quiet: a test takes its connection away when it is done."""


class Asked(BaseHTTPRequestHandler):
    """One connection to the agent."""

    protocol_version = "HTTP/1.1"
    server: Agent

    def do_POST(self) -> None:
        """Answer each question of the bulk."""
        self.server.requests += 1
        questions = self.server.asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answers = [answer(question.get("attribute", "")) for question in questions]
        body = self.server.body if self.server.body is not None else json.dumps(answers).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Quiet."""


def answer(attribute: str) -> dict[str, Any]:
    """A value, or the error Jolokia gives for an MBean that is not there."""
    if attribute in VALUES:
        return {"status": 200, "value": VALUES[attribute]}
    return {"status": 404, "error": "javax.management.InstanceNotFoundException"}


@pytest.fixture
def agent() -> Iterator[Agent]:
    """A running agent on a free port."""
    yield from serving(Agent(("127.0.0.1", 0)))


@pytest.fixture
def client() -> Iterator[JolokiaClient]:
    """Closed when the test ends, as a cluster's own is."""
    with closing(JolokiaClient()) as made:
        yield made


def serving(server: Agent) -> Iterator[Agent]:
    """Run it while the test runs."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def url(server: Agent) -> str:
    """Where the agent is."""
    return f"http://127.0.0.1:{server.server_port}/jolokia"


def asked(*attributes: str) -> dict[str, tuple[str, str]]:
    """Names like their attributes."""
    return {attribute: ("kafka.x:type=Y", attribute) for attribute in attributes}


def test_numbers_texts_and_what_is_absent(client: JolokiaClient, agent: Agent) -> None:
    """Numbers are floats, states the numbers of their table; absent MBeans, NaN and infinity are None."""
    assert client.read_many(url(agent), asked("a", "b", "nan", "huge", "state", "session", "nothing"), 5) == {
        "a": 3.0,
        "b": 1.5,
        "nan": None,
        "huge": None,
        "state": 6.0,
        "session": 4.0,
        "nothing": None,
    }


def test_a_pattern_counts_the_mbeans_that_match_it(client: JolokiaClient, agent: Agent) -> None:
    """None matching is absent, as where the pattern is refused."""
    reported = client.read_many(url(agent), asked("matched", "matching none"), 5)
    assert reported == {"matched": 2, "matching none": None}


def test_requests_are_counted_by_name_and_version(client: JolokiaClient, agent: Agent) -> None:
    """What has no version is a sum of others; a node that received none has no such MBean."""
    bean = "kafka.network:name=RequestsPerSec,request=Fetch,type=RequestMetrics"
    value = {f"{bean},version=17": {"Count": 8}, f"{bean},version=16": {"Count": 2}, bean: {"Count": 10}}
    agent.body = json.dumps([{"status": 200, "value": value}]).encode()
    assert client.requests_at(url(agent), 5) == {("Fetch", 17): 8, ("Fetch", 16): 2}
    agent.body = json.dumps([{"status": 404}]).encode()
    assert client.requests_at(url(agent), 5) == {}


def test_execution_data_are_bytes_which_java_sends_as_numbers_with_a_sign(client: JolokiaClient, agent: Agent) -> None:
    """A node without JaCoCo's agent has no such MBean."""
    agent.body = json.dumps([{"status": 200, "value": [1, -64, -64, 16, 7]}]).encode()
    assert client.executed_at(url(agent), 5, anew=True) == b"\x01\xc0\xc0\x10\x07"
    assert agent.asked[0]["arguments"] == [True]
    agent.body = json.dumps([{"status": 404}]).encode()
    assert client.executed_at(url(agent), 5) is None


def test_no_stack_traces_are_asked_for(client: JolokiaClient, agent: Agent) -> None:
    """Each is several kilobytes, at every sample, for an MBean that is not there."""
    client.read_many(url(agent), asked("a", "gone"), 5)
    assert {question["config"]["includeStackTrace"] for question in agent.asked} == {"false"}


def test_one_request_per_read_and_one_connection_for_all(client: JolokiaClient, agent: Agent) -> None:
    """Sampling twice a second must not cost a handshake each time."""
    client.read_many(url(agent), asked("a", "b", "nothing"), 5)
    client.read_many(url(agent), asked("a"), 5)
    assert (agent.requests, agent.connections) == (2, 1)


def test_a_restarted_node_is_read_again(client: JolokiaClient, agent: Agent) -> None:
    """The kept connection leads nowhere; a new one is made without the caller noticing."""
    client.read_many(url(agent), asked("a"), 5)
    agent.open[0].shutdown(2)
    assert client.read_many(url(agent), asked("a"), 5) == {"a": 3.0}
    assert agent.connections == 2


@pytest.mark.slow
def test_no_socket_is_left_behind(agent: Agent) -> None:
    """Threads that sampled have ended; a suite that runs with ``-W error`` would fail for each socket left open."""
    client, late = JolokiaClient(), JolokiaClient()
    late.close()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for each in (client, late):  # the request of the second is under way when its cluster ends
            sampling = threading.Thread(target=each.read_many, args=(url(agent), asked("a"), 5))
            sampling.start()
            sampling.join()
        client.close()
        del client, late, each, sampling
        gc.collect()
    assert [str(each.message) for each in caught] == []


def test_a_dead_node_is_an_os_error(client: JolokiaClient) -> None:
    """The sampler distinguishes a node that does not answer from one that answers wrongly."""
    server = Agent(("127.0.0.1", 0))
    address = url(server)
    server.server_close()
    with pytest.raises(ConnectionError):
        client.read_many(address, asked("a"), 1)


@pytest.mark.parametrize("body", [b"<html>", b"{}", b"[]"])
def test_an_answer_that_is_not_jolokias_is_named(client: JolokiaClient, body: bytes) -> None:
    """Something else listens at that address."""
    for server in serving(Agent(("127.0.0.1", 0), body)):
        with pytest.raises(ClusterError, match="Jolokia"):
            client.read_many(url(server), asked("a"), 5)


def test_the_catalogues_hold_what_checks_and_views_ask_for() -> None:
    """The names other rooms rely on, per role."""
    state = {"ZkMigrationState", "ActiveControllerCount", "RaftCurrentEpoch", "RaftCurrentState", "RaftHighWatermark"}
    assert state | {"MigratingZkBrokerCount", "ZkWriteBehindLag", "ZkWriteDeltaTimeMs.Max"} <= set(
        CATALOGUES["controller"]
    )
    assert state | {"UnderReplicatedPartitions", "BrokerState", "IsrShrinksPerSec.Count"} <= set(CATALOGUES["broker"])
