"""Every directed link of a cluster as a Toxiproxy proxy of its own: cut it, slow it, heal it."""

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property, partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

from pytest_kmigrate.model.errors import ClusterError, EnvironmentLackError, HarnessLostError
from pytest_kmigrate.model.links import Arrived, Disturbance, Link, Stream
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.network.arrivals import counting, onward
from pytest_kmigrate.providers.owned.network.namespaces import HERE, Namespace
from pytest_kmigrate.providers.owned.network.proxies import Accepted
from pytest_kmigrate.providers.owned.network.socket_table import SocketTable

_ESTABLISHED = "01"
_ANSWERED_WITHIN_S = 10
_PAST_EVERY_PROXY = {"http": ""}
"""Where the environment names a proxy for HTTP, as companies do: it would not know these addresses."""
_TOXICS = {
    "cut": ("timeout", {"timeout": 0}),
    "reset": ("reset_peer", {"timeout": 0}),
    "slow": ("latency", {}),
    "throttle": ("bandwidth", {}),
    "slice": ("slicer", {}),
}
"""Our disturbance -> Toxiproxy's toxic and its fixed attributes. ``refuse`` switches the proxy off instead."""
_ATTRIBUTES = {
    "latency_ms": "latency",
    "jitter_ms": "jitter",
    "rate_kb_per_s": "rate",
    "average_bytes": "average_size",
    "delay_us": "delay",
}
_STREAMS = {
    Stream.FORWARD: ("upstream",),
    Stream.BACK: ("downstream",),
    Stream.BOTH: ("upstream", "downstream"),
}


class ProxiedLinks:
    """The links of one cluster; the Toxiproxy server must be running at the plan's address."""

    def __init__(self, addresses: Addresses, logs: Path, namespace: Namespace = HERE) -> None:
        """``logs``: the folder of all logs, with that of the server; ``namespace``: where it has its sockets."""
        self._addresses = addresses
        self._namespace = namespace
        self._all = tuple(addresses.links())
        self._added: dict[Link, str] = {}
        self._names = (f"disturbance-{number}" for number in itertools.count(1))
        self._refusals: Counter[Link] = Counter()
        self._counting = threading.Lock()
        self._accepted = Accepted(logs)

    def create(self) -> None:
        """Order all proxies at once, then the slowness that the topology asks for from the start.

        EnvironmentLackError when somebody took an address since the block was looked at.
        """
        try:
            self._call("POST", "/populate", [self._order(link) for link in self._all])
        except ClusterError as error:
            busy = [link for link in self._all if f"{self._listen(link)}: bind: " in str(error)]
            if not busy:
                raise
            raise EnvironmentLackError(
                f"{self._listen(busy[0])}: expected it to be free for the proxy from "
                f"{busy[0].source} to {busy[0].destination}, got another program that listens there: "
                "end it, or run this again, which takes another block"
            ) from error
        self._slow_from_the_start()

    def add(self, links: Sequence[Link]) -> list[str]:
        """Order the proxies of links that the plan does not have, of a dialling process of their own; their addresses.

        All are of one source that no other link has.
        """
        host = self._addresses.added(len({each.source for each in self._added}))
        self._added |= {link: f"{host(link.destination)}:{link.port}" for link in links}
        self._call("POST", "/populate", [self._order(link) for link in links])
        self._all += tuple(links)
        return [self._added[link] for link in links]

    def between(self, sources: Iterable[str], destinations: Iterable[str]) -> tuple[Link, ...]:
        """The links dialled from any of ``sources`` to any of ``destinations``."""
        dialling, dialled = set(sources), set(destinations)
        return tuple(link for link in self._all if link.source in dialling and link.destination in dialled)

    @contextmanager
    def disturb(self, links: Sequence[Link], disturbance: Disturbance) -> Iterator[Callable[[], Arrived | None]]:
        """Disturb these links for the duration of the block; what could be healed is, whatever happened inside."""
        with counting(self._proxies(links), disturbance.stream, self._namespace) as arrivals, ExitStack() as healing:
            for link in links:
                if arrivals is not None:
                    arrivals.begin(self._listen(link))
                self._disturb_one(link, disturbance, healing)
            yield lambda: None if arrivals is None else arrivals.so_far()

    def connections(self, links: Sequence[Link]) -> int:
        """How many TCP connections are established at the proxies of these links."""
        wanted = {_kernel_form(self._listen(link)) for link in links}
        rows = [line.split() for line in self._namespace.tcp.read_text().splitlines()[1:]]
        return sum(row[1] in wanted and row[3] == _ESTABLISHED for row in rows)

    def accepted(self, links: Sequence[Link]) -> int:
        """How many connections the proxies of these links have made to their nodes so far."""
        return self._accepted.by(map(_proxy, links))

    def origins(self, links: Sequence[Link]) -> tuple[str, ...]:
        """The source addresses of the connections over these links as the destination sees them (``host:port``)."""
        try:
            with closing(SocketTable(self._namespace)) as table:
                return tuple(onward(self._proxies(links), table.read()))
        except OSError as error:
            raise ClusterError(f"expected the kernel to report its TCP sockets; it says: {error}") from error

    def _order(self, link: Link) -> dict[str, object]:
        listen, upstream = self._listen(link), self._forwarded_to(link)
        return {"name": _proxy(link), "listen": listen, "upstream": upstream, "enabled": True}

    def _listen(self, link: Link) -> str:
        return self._added.get(link) or self._addresses.listen_address(link)

    def _proxies(self, links: Iterable[Link]) -> dict[str, str]:
        """Where the proxy of each link listens -> where it forwards to."""
        return {self._listen(link): self._forwarded_to(link) for link in links}

    def _forwarded_to(self, link: Link) -> str:
        return f"{self._addresses.real(link.destination)}:{link.port}"

    def _disturb_one(self, link: Link, disturbance: Disturbance, healing: ExitStack) -> None:
        proxy = f"/proxies/{_proxy(link)}"
        if disturbance.kind == "refuse":
            healing.callback(self._refuse_no_longer, link)
            self._refuse(link)
            return
        toxic, fixed = _TOXICS[disturbance.kind]
        chosen = {_ATTRIBUTES[name]: value for name, value in (disturbance.attributes or {}).items()}
        for stream in _STREAMS[disturbance.stream]:
            name = next(self._names)
            body = {"name": name, "type": toxic, "stream": stream, "attributes": {**fixed, **chosen}}
            self._call("POST", f"{proxy}/toxics", body)
            healing.callback(self._call, "DELETE", f"{proxy}/toxics/{name}")

    def _refuse(self, link: Link) -> None:
        """Several may refuse one link at once, and the switch of a proxy is only one: it is counted."""
        with self._counting:
            self._refusals[link] += 1
            self._call("POST", f"/proxies/{_proxy(link)}", {"enabled": False})

    def _refuse_no_longer(self, link: Link) -> None:
        with self._counting:
            self._refusals[link] -= 1
            if self._refusals[link] == 0:
                self._call("POST", f"/proxies/{_proxy(link)}", {"enabled": True})

    def _slow_from_the_start(self) -> None:
        topology = self._addresses.topology
        for spec in topology.links:
            sources = [node.name for node in topology.selected_by(spec.source)]
            links = self.between(sources, [node.name for node in topology.selected_by(spec.destination)])
            for disturbance in _from_the_start(spec.latency_ms, spec.jitter_ms, spec.rate_kb_per_s):
                for link in links:
                    self._disturb_one(link, disturbance, ExitStack())

    def _call(self, method: str, path: str, body: object = None) -> None:
        """Order something of this cluster's Toxiproxy; what shall be deleted may be gone."""
        from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists  # noqa: PLC0415 - as in ``_consumer``

        order = self._consumer.delete if method == "DELETE" else partial(self._consumer.post, json=body)
        try:
            answer = order(path, timeout=_ANSWERED_WITHIN_S, proxies=_PAST_EVERY_PROXY)
        except OSError as error:  # of requests, too
            gone = f"Toxiproxy does not answer {method} {path} ({error}); its links are gone"
            raise HarnessLostError(gone) from error
        except (InvalidToxic, NotFound, ProxyExists) as error:
            if method != "DELETE" or not isinstance(error, NotFound):
                said = error.args[0].decode(errors="replace").strip()
                raise ClusterError(f"Toxiproxy refused {method} {path}: {said}") from error
        else:
            if answer.status_code >= HTTPStatus.BAD_REQUEST:  # the library raises for three of them
                raise ClusterError(f"Toxiproxy refused {method} {path}: {answer.status_code} {answer.text.strip()}")

    @cached_property
    def _consumer(self) -> Any:
        """The library's consumer, as a class of this cluster: the library keeps the address in the class."""
        from toxiproxy.api import APIConsumer  # noqa: PLC0415 - it brings requests, which takes 0.1 s to load

        host, port = self._addresses.toxiproxy
        return type("ToxiproxyOfOneCluster", (APIConsumer,), {"host": host, "port": port})


def _from_the_start(latency_ms: int, jitter_ms: int, rate_kb_per_s: int | None) -> Iterator[Disturbance]:
    if latency_ms or jitter_ms:
        yield Disturbance("slow", Stream.BACK, {"latency_ms": latency_ms, "jitter_ms": jitter_ms})
    if rate_kb_per_s is not None:
        yield Disturbance("throttle", Stream.BOTH, {"rate_kb_per_s": rate_kb_per_s})


def _proxy(link: Link) -> str:
    return f"{link.source}.{link.destination}.{link.port}"


def _kernel_form(address: str) -> str:
    """``127.1.2.3:9092`` as the kernel's socket table writes it: the address byte-swapped, both in hexadecimal."""
    host, _, port = address.partition(":")
    return "".join(f"{int(part):02X}" for part in reversed(host.split("."))) + f":{int(port):04X}"
