"""Links as proxies: what is ordered of Toxiproxy when several disturbances meet on one link."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import ClusterError, EnvironmentLackError, HarnessLostError
from pytest_kmigrate.model.links import Disturbance
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.network.links import ProxiedLinks
from tests.unit.fakes import topology

REFUSE = Disturbance("refuse")
NO_LOGS = Path("/nowhere")


class Switches:
    """Stands for Toxiproxy: remembers which proxies are switched off."""

    def __init__(self) -> None:
        self.off: set[str] = set()

    def call(self, _method: str, path: str, body: object = None) -> None:
        """As ``ProxiedLinks`` orders it."""
        if body == {"enabled": False}:
            self.off.add(path)
        elif body == {"enabled": True}:
            self.off.discard(path)


@pytest.fixture
def switches() -> Switches:
    """All on."""
    return Switches()


@pytest.fixture
def links(switches: Switches, monkeypatch: pytest.MonkeyPatch) -> ProxiedLinks:
    """The links of a small cluster."""
    made = ProxiedLinks(Addresses(topology(), 7), NO_LOGS)
    monkeypatch.setattr(made, "_call", switches.call)
    return made


def test_a_link_refused_twice_is_refused_until_both_have_ended(links: ProxiedLinks, switches: Switches) -> None:
    """The switch of a proxy is only one, so who switches it on again is the last."""
    link = links.between(["broker-0"], ["broker-1"])
    with links.disturb(link, REFUSE):
        with links.disturb(link, REFUSE):
            pass
        assert len(switches.off) == len(link)
    assert switches.off == set()


def test_an_address_that_somebody_took_meanwhile_is_a_lack_of_this_machine(
    links: ProxiedLinks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With who shall listen there and what to do."""

    def refused(*_: object) -> None:
        raise ClusterError("Toxiproxy refused POST /populate: 500 listen tcp 127.7.2.3:9092: bind: address in use")

    monkeypatch.setattr(links, "_call", refused)
    reported = (
        r"127\.7\.2\.3:9092: expected it to be free for the proxy from broker-0 to broker-1, got another .* end it"
    )
    with pytest.raises(EnvironmentLackError, match=reported):
        links.create()


@pytest.fixture
def forgetful() -> Iterator[tuple[str, int]]:
    """A server that promises to keep a connection, and closes it: what Toxiproxy does when nothing comes for long."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n")

        serving = threading.Thread(target=answer)
        serving.start()
        yield server.getsockname()
        server.shutdown(socket.SHUT_RDWR)
        serving.join()


def test_a_connection_that_was_closed_meanwhile_breaks_no_order(
    forgetful: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Minutes may lie between two faults: whatever became of the connection, the second is ordered as the first was."""
    monkeypatch.setattr(Addresses, "toxiproxy", forgetful)
    links = ProxiedLinks(Addresses(topology(), 7), NO_LOGS)
    for _ in range(2):
        with links.disturb(links.between(["broker-0"], ["broker-1"]), REFUSE):
            pass


Answers = dict[str, tuple[int, str]]
"""Method -> status and text."""


@contextmanager
def toxiproxy(answers: Answers) -> Iterator[tuple[tuple[str, int], list[str]]]:
    """A server that answers so, where it listens, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append(f"{self.command} {self.path}")
            status, text = answers.get(self.command, (200, "{}"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_DELETE = _answer  # noqa: N815 - as http.server has it

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield ("127.0.0.1", server.server_port), asked
        finally:
            server.shutdown()
            serving.join()


class PlacedAddresses(Addresses):
    """Those of a cluster whose Toxiproxy is elsewhere."""

    def __init__(self, place: tuple[str, int]) -> None:
        super().__init__(topology(), 7)
        self._place = place

    @property
    def toxiproxy(self) -> tuple[str, int]:
        """There."""
        return self._place


def cut(place: tuple[str, int]) -> None:
    """Cut a link of the cluster whose Toxiproxy is there, and heal it."""
    links = ProxiedLinks(PlacedAddresses(place), NO_LOGS)
    with links.disturb(links.between(["broker-0"], ["broker-1"]), Disturbance("cut")):
        pass


@pytest.mark.parametrize(
    ("answers", "reported"),
    [
        ({"POST": (500, "no room\n")}, r"refused POST /proxies/\S+/toxics: 500 no room$"),
        ({"POST": (400, "bad stream")}, r"refused POST /proxies/\S+/toxics: bad stream$"),
        ({"POST": (404, "no proxy")}, r"refused POST /proxies/\S+/toxics: no proxy$"),
        ({"POST": (409, "it is there")}, r"refused POST /proxies/\S+/toxics: it is there$"),
        ({"DELETE": (400, "bad name")}, r"refused DELETE /proxies/\S+/toxics/disturbance-1: bad name$"),
    ],
)
def test_a_refused_order_is_reported_in_the_words_of_toxiproxy(answers: Answers, reported: str) -> None:
    """Also where its library raises nothing."""
    with toxiproxy(answers) as (place, _), pytest.raises(ClusterError, match=reported):
        cut(place)


def test_what_is_healed_may_be_gone_already() -> None:
    """A proxy that ended took its toxics with it."""
    with toxiproxy({"DELETE": (404, "no toxic")}) as (place, asked):
        cut(place)
    assert [each.split()[0] for each in asked] == ["POST", "POST", "DELETE", "DELETE"]


def test_links_without_toxiproxy_are_gone() -> None:
    """Nothing listens there any more."""
    with toxiproxy({}) as (place, _):
        pass
    with pytest.raises(HarnessLostError, match=r"^Toxiproxy does not answer POST .*; its links are gone:"):
        cut(place)


def test_each_cluster_has_a_toxiproxy_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two clusters in one process, and a proxy of the company for everything else."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with toxiproxy({}) as (first, of_first), toxiproxy({}) as (second, of_second):
        links = [ProxiedLinks(PlacedAddresses(place), NO_LOGS) for place in (first, second, first)]
        for each in links:
            with each.disturb(each.between(["broker-0"], ["broker-1"]), REFUSE):
                pass
    assert (len(of_first), len(of_second)) == (4, 2)


def accepted(link: str) -> str:
    """What Toxiproxy logs of a connection."""
    return f'{{"level":"info","name":"{link}","client":"127.0.0.1:5","time":"...","message":"Accepted client"}}\n'


def test_connections_that_were_ever_made_are_counted_by_link(tmp_path: Path) -> None:
    """As Toxiproxy logs them, whole lines only, and nothing else that it logs; without a log there is none."""
    links = ProxiedLinks(Addresses(topology(), 7), tmp_path)
    there = links.between(["broker-0"], ["broker-1"])
    assert links.accepted(there) == 0
    (name,) = {f"{each.source}.{each.destination}.{each.port}" for each in there}
    log = tmp_path / "toxiproxy" / "server.log"
    log.parent.mkdir()
    whole = accepted(name)
    log.write_text(whole + accepted("broker-1.broker-0.9092") + whole.replace("Accepted client", "Started proxy"))
    assert links.accepted(there) == 1
    with log.open("a") as more:
        more.write(whole + whole[:30])
    assert links.accepted(there) == 2
    with log.open("a") as more:
        more.write(whole[30:])
    assert links.accepted(there) == 3
    with log.open("a") as more:
        more.write(whole + whole.replace("Accepted client", "Unable to open connection to upstream"))
    assert links.accepted(there) == 3  # the node was down
