"""What a node and the links of a standing cluster act by."""

from dataclasses import dataclass
from datetime import UTC, datetime

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.providers.attach.file.loading import Site
from pytest_kmigrate.providers.attach.file.values import window
from pytest_kmigrate.providers.attach.hooks import Hooks
from pytest_kmigrate.providers.attach.journal import Journal
from pytest_kmigrate.providers.attach.looking import Looker


class Limits:
    """Those of one site. What heals is never limited."""

    def __init__(self, site: Site, looker: Looker) -> None:
        self._site = site
        self._looker = looker

    def require_hours(self, doing: str) -> None:
        """The hours are those in which something may be done."""
        hours, now = self._site.file.limits.within, datetime.now(UTC)
        if hours is not None and not window(hours).is_open(now):
            raise ClusterError(
                f"{self._site.path}: limits.within: expected {doing} at {hours}; got {now:%H:%M} UTC: wait for it"
            )

    def require_up(self, node: str, doing: str) -> None:
        """So many other nodes are down or stand still that this one may be, too."""
        self.require_hours(f"{doing} {node}")
        most = self._site.file.limits.nodes_down_at_once
        down = [each for each in self._looker.down() if each != node]
        if most is not None and len(down) >= most:
            raise ClusterError(
                f"{self._site.path}: limits.nodes_down_at_once: expected no more than {most}; {', '.join(down)} "
                f"{'is' if len(down) == 1 else 'are'} down before {doing} {node}: start what is down first"
            )


@dataclass(frozen=True)
class Around:
    """What looks, what is called, how much of it is allowed, where it is written down, where its undoing is noted."""

    site: Site
    looker: Looker
    hooks: Hooks
    limits: Limits
    recorder: Recorder
    offered: frozenset[Capability]
    journal: Journal


def around(site: Site, recorder: Recorder, offered: frozenset[Capability]) -> Around:
    """That of one run."""
    looker = Looker(site, recorder)
    return Around(site, looker, Hooks(site, recorder), Limits(site, looker), recorder, offered, Journal(site))
