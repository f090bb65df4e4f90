"""The links of a cluster: who dials whom, and what can be done to the way between them."""

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol


class Stream(enum.StrEnum):
    """Which way of a link is disturbed, seen from the node that dials."""

    FORWARD = "forward"
    BACK = "back"
    BOTH = "both"


@dataclass(frozen=True)
class Link:
    """One directed link: ``source`` dials ``destination`` (node names, or "clients") at the destination's ``port``."""

    source: str
    destination: str
    port: int

    def __str__(self) -> str:
        return f"{self.source}->{self.destination}:{self.port}"


@dataclass(frozen=True)
class Disturbance:
    """What is done to a link; ``attributes`` are the disturbance's numbers, in the units their names end with.

    kind: cut (bytes vanish), refuse (connections closed and refused), slow (latency_ms, jitter_ms),
    throttle (rate_kb_per_s), reset (connections reset, as often as they are made), slice (average_bytes, delay_us).
    """

    kind: str
    stream: Stream = Stream.BOTH
    attributes: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Arrived:
    """Bytes that arrived in the disturbed direction since the fault began, and the number of links with any."""

    size_bytes: int
    links: int


class Links(Protocol):
    """All links of a cluster."""

    def between(self, sources: Iterable[str], destinations: Iterable[str]) -> tuple[Link, ...]:
        """The links dialled from any of ``sources`` to any of ``destinations``, never a node's link to itself."""
        ...

    def disturb(
        self, links: Sequence[Link], disturbance: Disturbance
    ) -> AbstractContextManager[Callable[[], Arrived | None]]:
        """Disturb these links for the duration of the block; leaving heals, whatever happened inside.

        The callable returns what has arrived since all of them are disturbed; None if nothing counts it.
        """
        ...

    def connections(self, links: Sequence[Link]) -> int:
        """How many connections cross these links now."""
        ...

    def accepted(self, links: Sequence[Link]) -> int:
        """How many connections were ever made over these links, those included that were severed as they were made."""
        ...

    def origins(self, links: Sequence[Link]) -> tuple[str, ...]:
        """The source addresses of these connections as the destination sees them (``host:port``); no ambiguous ones."""
        ...
