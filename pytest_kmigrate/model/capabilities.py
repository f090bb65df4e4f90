"""What providers can do to the clusters they make, and what is said where one cannot."""

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pytest_kmigrate.model.errors import NotApplicableError

if TYPE_CHECKING:
    from pytest_kmigrate.model.event import Recorder


class Capability(enum.StrEnum):
    """What a provider can do; whatever needs more is NOT_APPLICABLE on it."""

    START = "start"
    """Nodes are formatted, started and stopped."""
    RECONFIGURE = "reconfigure"
    """Properties and the mode of a node are set, in force from its next start."""
    INSTALL = "install"
    """Another Kafka is put under a stopped node."""
    TOOLS = "tools"
    """Kafka's own tools are run."""
    WIPE = "wipe"
    """The disks of a stopped node are emptied."""
    KILL = "kill"
    """A node ends without a goodbye."""
    PAUSE = "pause"
    """A node stands still and goes on."""
    LOG_DIRS = "log-dirs"
    """A log directory of a broker is taken away and given back."""
    LIMITS = "limits"
    """What the kernel grants to the process of a node is lowered: the size of files, how many are open."""
    CLOCKS = "clocks"
    """A node has a clock of its own, which is set while it runs."""
    NAMES = "names"
    """What a node finds by the names of others is changed while it runs."""
    DISKS = "disks"
    """The files of a node that has ended are changed."""
    STARVE = "starve"
    """A node gets a share of the time only that it would run."""
    LINKS = "links"
    """Links are disturbed in every way, and their connections counted."""
    CUTS = "cuts"
    """Links are cut, both ways at once."""
    CRASH_POINTS = "crash-points"
    """A node is held at a place in Kafka's code."""
    EXERCISE = "exercise"
    """Which of Kafka's code nodes execute is recorded."""
    CHECKPOINT = "checkpoint"
    """A cluster begins from copies of the disks of one that was stopped."""
    LOGS = "logs"
    """What each node says is kept in a file."""
    IDENTITY = "identity"
    """What each node has in its meta.properties is recorded."""
    METRICS = "metrics"
    """The metrics of brokers and controllers are read."""
    ZNODES = "znodes"
    """ZooKeeper is read past the links."""
    ZNODE_WRITES = "znode-writes"
    """ZooKeeper is written past the links, and sessions in it are ended."""
    ZOOKEEPER_LOG = "zookeeper-log"
    """The transaction log of ZooKeeper is read."""
    METADATA_LOG = "metadata-log"
    """The metadata log of a node is read."""
    REQUESTS = "requests"
    """A chosen node is sent Kafka's requests past the links, and asked at each start which of them it accepts."""
    TRAFFIC = "traffic"
    """Clients write records to topics of their own, and read them."""
    CHANGE = "change"
    """Metadata of every family is changed."""


Needs = frozenset[Capability]

_IMPLIED = {Capability.LINKS: Capability.CUTS, Capability.CHANGE: Capability.TRAFFIC}
"""Who offers the one offers the other; older run folders name the first alone."""

SIDES: Mapping[str, Needs] = {
    "log": frozenset({Capability.METADATA_LOG, Capability.METRICS}),
    "zookeeper": frozenset({Capability.ZNODES}),
    "brokers": frozenset(),
}
"""What looking at a side of a cluster's metadata needs; metrics show whose log it is."""

Made = TypeVar("Made", bound=Callable[..., object])


def needing(*needs: Capability, **where_named: Iterable[Capability]) -> Callable[[Made], Made]:
    """Declare what a test needs of the provider that uses a fixture, below ``@pytest.fixture``.

    ``where_named``: what it needs besides where its code has this name, or a text that ends with it after a hyphen:
    of a method of the fixture, say.
    """

    def declared(made: Made) -> Made:
        vars(made).update(needs=frozenset(needs), needs_where_named=_as_sets(where_named))
        return made

    return declared


def _as_sets(where_named: Mapping[str, Iterable[Capability]]) -> dict[str, Needs]:
    return {name: frozenset(needs) for name, needs in where_named.items()}


def with_implied(offered: Iterable[str]) -> frozenset[str]:
    """Capabilities by name, with those that some of them imply."""
    named = frozenset(offered)
    return named | {less for more, less in _IMPLIED.items() if more in named}


def require(offered: frozenset[Capability], needs: Needs, what: object, recorder: "Recorder") -> None:
    """NotApplicableError, recorded and naming the capabilities, where ``what`` needs more than is offered."""
    from pytest_kmigrate.model.events.evidence import CapabilityLacking  # noqa: PLC0415 - not at pytest's start

    if lacking := sorted(needs - offered):
        recorder.record(CapabilityLacking(str(what), lacking))
        raise NotApplicableError(not_offered(str(what), lacking))


def not_offered(what: str, lacking: Iterable[str]) -> str:
    """The sentence about it."""
    return f"{what} needs what this provider does not offer: {', '.join(lacking)}"


@dataclass(frozen=True)
class Own:
    """What a run may call its own: how the names of its topics and groups begin, and how many records it writes per s.

    Nothing and None: all of a cluster that was made for it, and any number.
    """

    topics: str = ""
    groups: str = ""
    records_per_s: int | None = None
