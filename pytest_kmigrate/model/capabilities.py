"""What providers can do to the clusters they make, and what is said where one cannot."""

import enum
from collections.abc import Iterable

from pytest_kmigrate.model.errors import NotApplicableError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import CapabilityLacking


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
    LINKS = "links"
    """Links are disturbed, and their connections counted."""
    CRASH_POINTS = "crash-points"
    """A node is held at a place in Kafka's code."""
    CHECKPOINT = "checkpoint"
    """A cluster begins from copies of the disks of one that was stopped."""
    LOGS = "logs"
    """What each node says is kept in a file."""
    IDENTITY = "identity"
    """What each node has in its meta.properties is recorded."""
    METRICS = "metrics"
    """The metrics of brokers and controllers are read."""
    ZNODES = "znodes"
    """ZooKeeper is read and written past the links."""
    ZOOKEEPER_LOG = "zookeeper-log"
    """The transaction log of ZooKeeper is read."""
    METADATA_LOG = "metadata-log"
    """The metadata log of a node is read."""
    REQUESTS = "requests"
    """A chosen node is sent Kafka's requests past the links, and asked at each start which of them it accepts."""
    CHANGE = "change"
    """Clients write records, and change metadata."""


Needs = frozenset[Capability]


def require(offered: frozenset[Capability], needs: Needs, what: object, recorder: Recorder) -> None:
    """NotApplicableError, recorded and naming the capabilities, where ``what`` needs more than is offered."""
    if lacking := sorted(needs - offered):
        recorder.record(CapabilityLacking(str(what), lacking))
        raise NotApplicableError(not_offered(str(what), lacking))


def not_offered(what: str, lacking: Iterable[str]) -> str:
    """The sentence about it."""
    return f"{what} needs what this provider does not offer: {', '.join(lacking)}"
