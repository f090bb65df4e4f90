"""What a node and the links of a standing cluster act by."""

from dataclasses import dataclass

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.providers.attach.file.loading import Site
from pytest_kmigrate.providers.attach.hooks import Hooks
from pytest_kmigrate.providers.attach.journal import Journal
from pytest_kmigrate.providers.attach.limits import Limits
from pytest_kmigrate.providers.attach.looking import Looker


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
