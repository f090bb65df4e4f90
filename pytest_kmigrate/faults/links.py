"""Faults of links: cut, refuse, slow, throttle, reset, slice; whole nodes isolated, groups of nodes partitioned."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from pytest_kmigrate.faults.effect import Applied, whole_number
from pytest_kmigrate.faults.targets import Target
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.events.faults import NOTHING
from pytest_kmigrate.model.links import Disturbance, Link, Stream
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.model.topology import Role

CLIENTS = "clients"
_NEEDS = frozenset({Capability.LINKS})
_CUTS = frozenset({Capability.CUTS})
_SEVERS = frozenset({"refuse", "reset"})


@dataclass(frozen=True)
class _BetweenTwo(ABC):
    """One disturbance on the links between two targets; ``both_ways`` also on those dialled the other way round."""

    source: Target
    destination: Target
    both_ways: bool = field(default=False, kw_only=True)
    needs = _NEEDS

    def __str__(self) -> str:
        done = self.disturbance()
        arrow = "<->" if self.both_ways else "->"
        way = "" if done.stream is Stream.BOTH else f", {done.stream.value}"
        return f"{done.kind}({self.source}{arrow}{self.destination}{way})"

    @abstractmethod
    def disturbance(self) -> Disturbance:
        """What is done to each link."""

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Disturb every link between the nodes meant."""
        sources, destinations = self.source.nodes(scene), self.destination.nodes(scene)
        links = scene.cluster.links.between(sources, destinations)
        if self.both_ways:
            links += scene.cluster.links.between(destinations, sources)
        targets = tuple(dict.fromkeys([*sources, *destinations]))
        with _disturbed(scene, links, self.disturbance(), targets) as applied:
            yield applied


@dataclass(frozen=True)
class _OnStream(_BetweenTwo):
    """One that can also be done to what flows in one direction only."""

    stream: Stream = Stream.BOTH


@dataclass(frozen=True)
class Cut(_OnStream):
    """Every byte vanishes and connections hang. Healing closes what was cut, so no stream has a hole."""

    needs = _CUTS

    def disturbance(self) -> Disturbance:
        """What is done to each link."""
        return Disturbance("cut", self.stream)


@dataclass(frozen=True)
class Refuse(_BetweenTwo):
    """Connections are closed and new ones refused, always in both directions."""

    def disturbance(self) -> Disturbance:
        """What is done to each link."""
        return Disturbance("refuse")


@dataclass(frozen=True)
class Reset(_OnStream):
    """Each connection is reset as soon as it is made."""

    def disturbance(self) -> Disturbance:
        """What is done to each link."""
        return Disturbance("reset", self.stream)


@dataclass(frozen=True)
class Slow(_OnStream):
    """Every byte arrives late."""

    latency_ms: int = whole_number(300, 0, 600_000)
    jitter_ms: int = whole_number(0, 0, 600_000)

    def disturbance(self) -> Disturbance:
        """What is done to each link."""
        return Disturbance("slow", self.stream, {"latency_ms": self.latency_ms, "jitter_ms": self.jitter_ms})


@dataclass(frozen=True)
class Throttle(_OnStream):
    """The link carries few bytes per second."""

    rate_kb_per_s: int = whole_number(16, 1, 10**6)

    def disturbance(self) -> Disturbance:
        """What is done to each link."""
        return Disturbance("throttle", self.stream, {"rate_kb_per_s": self.rate_kb_per_s})


@dataclass(frozen=True)
class Slice(_OnStream):
    """Data arrives in small pieces."""

    average_bytes: int = whole_number(64, 1, 10**6)
    delay_us: int = whole_number(500, 0, 10**7)

    def disturbance(self) -> Disturbance:
        """What is done to each link."""
        return Disturbance("slice", self.stream, {"average_bytes": self.average_bytes, "delay_us": self.delay_us})


@dataclass(frozen=True)
class Isolate:
    """A node is cut off from all others, or from some roles, both ways; with ``from_clients`` also from the clients."""

    target: Target
    from_roles: tuple[Role, ...] = tuple(Role)
    from_clients: bool = False
    needs = _CUTS

    def __str__(self) -> str:
        some = "" if self.from_roles == tuple(Role) else f" from {'+'.join(role.value for role in self.from_roles)}"
        clients = " and clients" if self.from_clients else ""
        return f"isolate({self.target}{some}{clients})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Cut every link of the nodes meant."""
        names = self.target.nodes(scene)
        nodes = [node for role in self.from_roles for node in scene.cluster.nodes(role)]
        others = [node.name for node in nodes if node.name not in names] + [CLIENTS] * self.from_clients
        links = _both_ways(scene, names, others)
        with _disturbed(scene, links, Disturbance("cut"), names) as applied:
            yield applied


@dataclass(frozen=True)
class Partition:
    """Groups of nodes cannot reach each other; inside a group nothing is disturbed."""

    groups: tuple[Target, ...]
    needs = _CUTS

    def __str__(self) -> str:
        return f"partition({' | '.join(str(group) for group in self.groups)})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Cut every link between two groups; a node named twice belongs to the first group."""
        taken: set[str] = set()
        groups: list[tuple[str, ...]] = []
        for group in self.groups:
            members = tuple(name for name in group.nodes(scene) if name not in taken)
            groups.append(members)
            taken.update(members)
        pairs = itertools.combinations(groups, 2)
        links = tuple(link for one, other in pairs for link in _both_ways(scene, one, other))
        with _disturbed(scene, links, Disturbance("cut"), tuple(taken)) as applied:
            yield applied


def _both_ways(scene: Scene, one: Sequence[str], other: Sequence[str]) -> tuple[Link, ...]:
    links = scene.cluster.links
    return links.between(one, other) + links.between(other, one)


@contextmanager
def _disturbed(
    scene: Scene, links: Sequence[Link], disturbance: Disturbance, targets: tuple[str, ...]
) -> Iterator[Applied]:
    """Disturb the links; it bit when bytes came to one of them, or where the effect severs, when it severed any.

    What resets each connection as it is made leaves none to be counted, so that those made meanwhile count.
    """
    counts = Capability.LINKS in scene.cluster.capabilities
    before = scene.cluster.links.connections(links) if counts else 0
    accepted = scene.cluster.links.accepted(links) if counts else 0
    with scene.cluster.links.disturb(links, disturbance) as arrived:

        def severed() -> str | None:
            now = scene.cluster.links.connections(links)
            if now < before:
                return f"{before - now} of {before} connections severed"
            made = scene.cluster.links.accepted(links) - accepted if disturbance.kind == "reset" else 0
            return f"{made} connections severed as they were made" if made else None

        def reached() -> str | None:
            so_far, where = arrived(), f"{len(links)} links under {disturbance.kind}"
            if so_far is not None:
                return (
                    f"{so_far.size_bytes:,} bytes arrived on {so_far.links} of {where}" if so_far.size_bytes else None
                )
            crossed = max(before, scene.cluster.links.connections(links)) if counts else 0
            return f"{crossed} connections on {where}, whose bytes this kernel does not count" if crossed else None

        severs = disturbance.kind in _SEVERS
        looked_for = f"{'a connection severed' if severs else 'bytes arriving'} on one of {len(links)} links"
        facts: dict[str, object] = {"links": [str(link) for link in links]}
        if counts:
            facts["connections_before"] = before
        yield Applied(targets, looked_for, severed if severs else reached, facts, NOTHING)
