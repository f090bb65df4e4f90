"""Leading: since when a KRaft controller was seen to lead, by samples of its metrics."""

from collections.abc import Iterator

from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.documents.kip_866.checks.nodes.starts import start_at
from pytest_kmigrate.model.history import History, Sample

UNSEEN_NS = 3_000_000_000
"""A leader that was not seen for so long may have been restarted meanwhile, and brokers have to find it anew."""


def leading(history: History) -> Iterator[tuple[Sample, int]]:
    """Yield the samples of active controllers, each with the time since when that one has been seen to lead."""
    last: Sample | None = None
    since_ns = 0
    for each in _of_active(history):
        if last is None or each.node != last.node or each.at_ns - last.at_ns > UNSEEN_NS:
            since_ns = each.at_ns
        last = each
        yield each, since_ns


def is_led(history: History, from_ns: int, to_ns: int) -> bool:
    """Whether one controller was seen to lead all of that time."""
    return any(since_ns <= from_ns and to_ns - UNSEEN_NS <= sample.at_ns for sample, since_ns in leading(history))


def is_of_a_migration(history: History, sample: Sample) -> bool:
    """Whether the migration is enabled in the node of a sample, as far as its start was seen."""
    start = start_at(history, sample.node, sample.at_ns)
    return start is None or start.is_migrating


def _of_active(history: History) -> list[Sample]:
    by_role = roles(history)
    reported = [each for each in history.samples if by_role.get(each.node) == "controller"]
    return [each for each in reported if each.values.get("ActiveControllerCount") == 1]
