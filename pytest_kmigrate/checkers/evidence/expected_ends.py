"""Ends of nodes that a test expects, because Kafka must refuse what they were started with."""

from dataclasses import dataclass

from pytest_kmigrate.model.event import Event, Recorded
from pytest_kmigrate.model.events.evidence import EndExpected
from pytest_kmigrate.model.events.nodes import NodeDied
from pytest_kmigrate.model.history import History

_SEEN_WITHIN_NS = 1_000_000_000
"""So long after it a death may be recorded."""


@dataclass(frozen=True)
class ExpectedEnd:
    """One node that must end by itself; ``end`` is its first death in that time, None if there was none."""

    expectation: Recorded[EndExpected]
    node: str
    end: Recorded[NodeDied] | None

    @property
    def naming(self) -> str:
        """The words that the node must give as its reason; empty if the test names none."""
        return self.expectation.what.naming or ""


def expected_ends(history: History) -> list[ExpectedEnd]:
    """One for each node of each expectation that is a claim, in their order."""
    return [each for each in _ends(history) if not each.expectation.what.is_optional]


def is_expected_end(history: History, death: Event) -> bool:
    """Whether a test expected this death, or allowed it."""
    return any(each.end is not None and each.end.seq == death.seq for each in _ends(history))


def is_while_an_end_is_expected(history: History, event: Event) -> bool:
    """Whether an event lies between the beginning of such an expectation and its end."""
    return any(_began_ns(each) <= event.at_ns <= each.at_ns for each in history.of(EndExpected))


def _ends(history: History) -> list[ExpectedEnd]:
    return [
        ExpectedEnd(event, node, _first_death(history, event, node))
        for event in history.of(EndExpected)
        for node in event.what.nodes
    ]


def _first_death(history: History, expectation: Recorded[EndExpected], node: str) -> Recorded[NodeDied] | None:
    """The first one in time: a node that takes longer may end while the test still waits for its start."""
    deaths = (each for each in history.of(NodeDied) if each.node == node)
    in_time_ns = _began_ns(expectation) + int(expectation.what.within_s * 1e9) + _SEEN_WITHIN_NS
    until_ns = min(in_time_ns, expectation.at_ns)
    return next((each for each in deaths if _began_ns(expectation) <= each.at_ns <= until_ns), None)


def _began_ns(expectation: Recorded[EndExpected]) -> int:
    return expectation.what.began_ns
