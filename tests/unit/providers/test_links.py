"""Links as proxies: what is ordered of Toxiproxy when several disturbances meet on one link."""

import pytest

from pytest_kmigrate.model.protocols import Disturbance
from pytest_kmigrate.providers.process.addresses import Addresses
from pytest_kmigrate.providers.process.links import ProxiedLinks
from tests.unit.fakes import topology

REFUSE = Disturbance("refuse")


class Switches:
    """Stands for Toxiproxy: remembers which proxies are switched off."""

    def __init__(self) -> None:
        self.off: set[str] = set()

    def call(self, _method: str, path: str, body: object = None) -> None:
        """As ``ProxiedLinks`` orders it."""
        if path == "/reset":
            self.off.clear()
        elif body == {"enabled": False}:
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


def test_ends_after_everything_was_healed_do_not_count(links: ProxiedLinks, switches: Switches) -> None:
    """What ``heal_all`` switched on stays so for whoever comes later, also when the old blocks end meanwhile."""
    link = links.between(["broker-0"], ["broker-1"])
    with links.disturb(link, REFUSE):
        links.heal_all()
        assert switches.off == set()
    with links.disturb(link, REFUSE):
        assert len(switches.off) == len(link)
    assert switches.off == set()
