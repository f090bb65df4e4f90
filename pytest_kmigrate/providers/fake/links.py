"""Links in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from pytest_kmigrate.model.links import Arrived, Disturbance, Link
from pytest_kmigrate.providers.owned.network.addresses import Addresses

_SEVERS = frozenset({"refuse", "reset"})


class FakeLinks:
    """The same links as a cluster of processes has; each carries one connection unless it is idle or severed.

    On each that does, ``sent_bytes`` arrive while it is disturbed; None: they are not counted.
    """

    def __init__(self, addresses: Addresses) -> None:
        self._all = tuple(addresses.links())
        self._in_force: list[tuple[Link, Disturbance]] = []
        self.is_idle = False
        self.dialled = 0
        """How many connections were made in vain since the beginning, over all links."""
        self.sent_bytes: int | None = 100
        self.done: list[tuple[Link, Disturbance]] = []
        """Every disturbance there ever was, in order."""

    def add(self, links: Sequence[Link]) -> None:
        """Links of a process besides nodes."""
        self._all += tuple(links)

    def between(self, sources: Iterable[str], destinations: Iterable[str]) -> tuple[Link, ...]:
        """The links dialled from any of ``sources`` to any of ``destinations``."""
        dialling, dialled = set(sources), set(destinations)
        return tuple(link for link in self._all if link.source in dialling and link.destination in dialled)

    @contextmanager
    def disturb(self, links: Sequence[Link], disturbance: Disturbance) -> Iterator[Callable[[], Arrived | None]]:
        """Note the disturbance for the duration of the block."""
        pairs = [(link, disturbance) for link in links]
        self._in_force += pairs
        self.done += pairs
        try:
            yield lambda: self._arrived(links)
        finally:
            healed = [pair for pair in self._in_force if not any(pair is each for each in pairs)]
            self._in_force = healed

    def connections(self, links: Sequence[Link]) -> int:
        """One for every link that carries any."""
        severed = {link for link, disturbance in self._in_force if disturbance.kind in _SEVERS}
        return 0 if self.is_idle else sum(link not in severed for link in links)

    def accepted(self, links: Sequence[Link]) -> int:
        """Those that were made in vain."""
        return self.dialled if links else 0

    def origins(self, links: Sequence[Link]) -> tuple[str, ...]:
        """Each that carries a connection, by its own name."""
        return () if self.is_idle else tuple(str(link) for link in links)

    def _arrived(self, links: Sequence[Link]) -> Arrived | None:
        if self.sent_bytes is None:
            return None
        carrying = self.connections(links) if self.sent_bytes else 0
        return Arrived(self.sent_bytes * carrying, carrying)

    def disturbed(self, kind: str | None = None) -> set[Link]:
        """The links under a disturbance (of this kind) now."""
        return {link for link, disturbance in self._in_force if kind in (None, disturbance.kind)}
