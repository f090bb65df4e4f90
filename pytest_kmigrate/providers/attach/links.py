"""The links of a cluster that somebody else runs: none leads through us."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import NoReturn

from pytest_kmigrate.model.capabilities import Capability, require
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.links import Arrived, Disturbance, Link


class NoLinks:
    """Implements ``Links``; every disturbance is refused."""

    def __init__(self, recorder: Recorder, offered: frozenset[Capability]) -> None:
        self._recorder = recorder
        self._offered = offered

    def between(self, sources: Iterable[str], destinations: Iterable[str]) -> tuple[Link, ...]:
        """Refused."""
        self._refuse(f"the links from {', '.join(sources)} to {', '.join(destinations)}")

    def disturb(
        self, links: Sequence[Link], disturbance: Disturbance
    ) -> AbstractContextManager[Callable[[], Arrived | None]]:
        """Refused."""
        self._refuse(disturbance.kind)

    def connections(self, links: Sequence[Link]) -> int:
        """Refused."""
        self._refuse("counting connections")

    def origins(self, links: Sequence[Link]) -> tuple[str, ...]:
        """Refused."""
        self._refuse("looking for the origin of connections")

    def _refuse(self, what: str) -> NoReturn:
        require(self._offered, frozenset({Capability.LINKS}), what, self._recorder)
        raise AssertionError("links are offered, and there are none")
