"""What arrived at the proxies of disturbed links, computed from the kernel's counts of three moments.

Forwards, that is what the accepted side of a connection received; it is bound to the link's own address. Backwards, it
is at least what that side has sent on. What was held back, the side towards the node received, and such sockets of all
links to one node look alike: the one that belongs to an accepted connection is known by having sent on exactly what
that one received. Where several have, the one that received least counts: in doubt too little is reported.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress

from pytest_kmigrate.model.links import Arrived, Stream
from pytest_kmigrate.providers.owned.network.namespaces import HERE, Namespace
from pytest_kmigrate.providers.owned.network.socket_table import Sockets, SocketTable


class Arrivals:
    """A count that is prepared while all is well, and begins link by link, when each is disturbed.

    ``proxies``: where the proxy of each link listens -> where it forwards to.
    """

    def __init__(self, proxies: Mapping[str, str], stream: Stream, read: Callable[[], Sockets]) -> None:
        self._proxies = proxies
        self._stream = stream
        self._read = read
        self._well = read()
        self._before: dict[str, Sockets] = {}

    def begin(self, proxy: str) -> None:
        """Count for this proxy from now on, which is just before it is disturbed.

        Afterwards could be too late: a client that waits for the answer to what came in between sends nothing more.
        """
        self._before[proxy] = self._read()

    def so_far(self) -> Arrived:
        """The bytes since."""
        now, sizes = self._read(), Counter[str]()
        for cookie, accepted in now.items():
            before = self._before.get(accepted.local)
            if before is None:
                continue
            if self._stream is not Stream.BACK:
                sizes[accepted.local] += _received(cookie, before, now)
            if self._stream is not Stream.FORWARD:
                sizes[accepted.local] += max(_sent(cookie, before, now), self._held_back(cookie, before, now))
        return Arrived(sizes.total(), sum(size > 0 for size in sizes.values()))

    def _held_back(self, accepted: bytes, before: Sockets, now: Sockets) -> int:
        # Once forwards is disturbed too, what was sent on says no longer which side belongs to which.
        then = now if self._stream is Stream.BACK else self._well
        one = then.get(accepted)
        if one is None:
            return 0
        sides = _sides_that_sent(one.received_bytes, self._proxies[one.local], then)
        return min((_received(side, before, now) for side in sides), default=0)


def onward(proxies: Mapping[str, str], sockets: Sockets) -> Iterator[str]:
    """The source address of each connection at these proxies as the destination sees it (``host:port``).

    To be asked while all is well. What looks like another one, or has something under way just now, is left out.
    """
    for one in sockets.values():
        if one.local in proxies:
            sides = _sides_that_sent(one.received_bytes, proxies[one.local], sockets)
            alike = [side for side in sides if sockets[side].received_bytes == one.sent_bytes]
            yield from [sockets[alike[0]].local] if len(alike) == 1 else []


def _sides_that_sent(size_bytes: int, destination: str, sockets: Sockets) -> list[bytes]:
    return [
        cookie
        for cookie, other in sockets.items()
        if other.remote == destination and other.sent_bytes == size_bytes > 0
    ]


def _received(cookie: bytes, before: Sockets, now: Sockets) -> int:
    then = before.get(cookie)
    since = now[cookie].received_bytes - (then.received_bytes if then else 0) if cookie in now else 0
    return max(0, since)  # the last byte of one that has ended may have been its end, and is taken off


def _sent(cookie: bytes, before: Sockets, now: Sockets) -> int:
    then = before.get(cookie)
    return now[cookie].sent_bytes - (then.sent_bytes if then else 0)


@contextmanager
def counting(proxies: Mapping[str, str], stream: Stream, namespace: Namespace = HERE) -> Iterator[Arrivals | None]:
    """A count of what arrives at these proxies; None where the kernel does not report it."""
    with ExitStack() as open_until_healed:
        arrivals = None
        with suppress(OSError):
            table = open_until_healed.enter_context(closing(SocketTable(namespace)))
            arrivals = Arrivals(proxies, stream, table.read)
        yield arrivals
