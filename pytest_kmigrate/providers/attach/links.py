"""The links of a cluster that somebody else runs: none leads through us; its hooks may cut them."""

import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import NoReturn

from pytest_kmigrate.model.capabilities import Capability, require
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.links import Arrived, Disturbance, Link, Stream
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.attach.around import Around
from pytest_kmigrate.providers.attach.journal import Undo

_CLIENTS = "clients"
_DIALS = {
    Role.ZOOKEEPER: {Role.ZOOKEEPER},
    Role.BROKER: {Role.ZOOKEEPER, Role.BROKER, Role.CONTROLLER},
    Role.CONTROLLER: {Role.ZOOKEEPER, Role.BROKER, Role.CONTROLLER},
}
_CUTS = frozenset({Capability.CUTS})


class HookedLinks:
    """Implements ``Links``; what is more than a cut is refused."""

    def __init__(self, around: Around) -> None:
        self._site = around.site
        self._hooks = around.hooks
        self._limits = around.limits
        self._recorder = around.recorder
        self._offered = around.offered
        self._journal = around.journal

    def between(self, sources: Iterable[str], destinations: Iterable[str]) -> tuple[Link, ...]:
        """The links that the roles of these nodes have, each by the port that the file names."""
        dialling, dialled = list(sources), list(destinations)
        require(self._offered, _CUTS, f"the links from {', '.join(dialling)} to {', '.join(dialled)}", self._recorder)
        return tuple(
            Link(source, each, self._site.addresses[each].port)
            for each in dialled
            if each != _CLIENTS
            for source in dialling
            if source != each and self._site.topology.node(each).role in self._dialled_by(source)
        )

    @contextmanager
    def disturb(self, links: Sequence[Link], disturbance: Disturbance) -> Iterator[Callable[[], Arrived | None]]:
        """Cut these links one after the other; whatever happens, each of them is healed."""
        if disturbance.kind != "cut" or disturbance.stream is not Stream.BOTH:
            self._refuse(f"{disturbance.kind} of {disturbance.stream.value}")
        require(self._offered, _CUTS, "a cut", self._recorder)
        self._limits.require_hours("cutting links")
        with ExitStack() as healing:
            for link in links:
                undo = Undo("heal", link.destination, self._of_link(link))
                self._journal.note(undo)
                healing.callback(self._heal, undo)
                self._call("cut", link)
            yield lambda: self._arrived(links)

    def connections(self, links: Sequence[Link]) -> int:
        """Refused."""
        self._refuse("counting connections")

    def accepted(self, links: Sequence[Link]) -> int:
        """Refused."""
        self._refuse("counting connections")

    def origins(self, links: Sequence[Link]) -> tuple[str, ...]:
        """Refused."""
        self._refuse("looking for the origin of connections")

    def _arrived(self, links: Sequence[Link]) -> Arrived:
        counts = [self._counted(link) for link in links]
        return Arrived(sum(counts), sum(count > 0 for count in counts))

    def _counted(self, link: Link) -> int:
        said = self._call("arrived", link)
        if not said.isdecimal():
            raise ClusterError(f"{self._site.path}: hooks.arrived of {link}: expected a number of bytes; got {said!r}")
        return int(said)

    def _heal(self, undo: Undo) -> None:
        self._hooks.call(undo.hook, undo.node, undo.more)
        self._journal.undone(undo)

    def _call(self, action: str, link: Link) -> str:
        return self._hooks.call(action, link.destination, self._of_link(link))

    def _of_link(self, link: Link) -> Mapping[str, str]:
        addresses = self._site.addresses
        at = (
            addresses[link.source].of_host
            if link.source in addresses
            else _our_address(addresses[link.destination].host)
        )
        return {"source": link.source, "source_host": at, "port": str(link.port)}

    def _dialled_by(self, source: str) -> set[Role]:
        return {Role.BROKER} if source == _CLIENTS else _DIALS[self._site.topology.node(source).role]

    def _refuse(self, what: str) -> NoReturn:
        require(self._offered, frozenset({Capability.LINKS}), what, self._recorder)
        raise AssertionError("links are offered, and there are none")


def _our_address(host: str) -> str:
    """The address that this machine dials a host from: clients run here. Nothing is sent."""
    family, kind, _, _, address = socket.getaddrinfo(host, 1, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as dialling:
        dialling.connect(address)
        return str(dialling.getsockname()[0])
