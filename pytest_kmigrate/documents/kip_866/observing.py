"""How a migration is watched that an operator does himself: all that only needs to be seen."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.controllers import one_active_controller_per_epoch
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.documents.kip_866.checks.phases_reached import phase_reached
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.document import Watching

_LOG, _ZOOKEEPER, _BROKERS = "log", "zookeeper", "brokers"


def _checks(phase: str, images: Sequence[Sequence[str]]) -> Sequence[Check]:
    return [phase_reached(phase), one_active_controller_per_epoch(), *_equal(images)]


def _equal(images: Sequence[Sequence[str]]) -> Iterator[Check]:
    """What was seen at one moment is the same on every side."""
    for labels in images:
        yield from (metadata_equivalent(left, right) for left, right in pairwise(labels))


WATCHING = Watching(
    sides={
        Phase.ZOOKEEPER.name: (_ZOOKEEPER, _BROKERS),
        Phase.PREPARING.name: (_ZOOKEEPER, _BROKERS),
        Phase.HYBRID.name: (_LOG, _ZOOKEEPER, _BROKERS),
        Phase.ALL_KRAFT.name: (_LOG, _ZOOKEEPER, _BROKERS),
        Phase.FINALIZED.name: (_LOG, _BROKERS),
    },
    checks=_checks,
)
"""While metadata are copied no two sides need to be the same; once finalized, ZooKeeper is no side any more."""
