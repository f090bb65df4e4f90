"""Links as proxies: what is ordered of Toxiproxy when several disturbances meet on one link."""

import socket
import threading
from collections.abc import Iterator

import pytest

from pytest_kmigrate.model.errors import ClusterError, EnvironmentLackError
from pytest_kmigrate.model.links import Disturbance
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.network.links import ProxiedLinks
from tests.unit.fakes import topology

REFUSE = Disturbance("refuse")


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
    made = ProxiedLinks(Addresses(topology(), 7))
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
    links = ProxiedLinks(Addresses(topology(), 7))
    for _ in range(2):
        with links.disturb(links.between(["broker-0"], ["broker-1"]), REFUSE):
            pass
