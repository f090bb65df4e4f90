"""What nodes and their threads say last, and the known bugs that they then die of."""

from collections.abc import Sequence

from pytest_kmigrate.checkers.findings import signatures_of_all
from pytest_kmigrate.model.event import Event

_DYING_OF = {
    "Should not have ZK migrations enabled on a cluster running metadata.version 3.0-IV1": (
        "controller-ends-after-a-lost-bootstrap"
    ),
    "already exists, can't register another one": "channel-to-the-controller-ends",
}
"""What is said last, and the signature of the known bug."""


def signatures_of_last_words(deaths: Sequence[Event]) -> list[str]:
    """The known bugs that all these deaths look like by what was said last; none if one death is another's."""
    named = [[name for words, name in _DYING_OF.items() if words in str(event.data.get("said"))] for event in deaths]
    return signatures_of_all(named)
