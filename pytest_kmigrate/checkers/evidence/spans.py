"""Spans of ownership, as the members themselves report them."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.ownership import Partition, client_of, happened_ns, partitions_of
from pytest_kmigrate.model.event import Recorded, is_a
from pytest_kmigrate.model.events.members import MemberEnded, MemberOwns, MemberReleased
from pytest_kmigrate.model.history import History

FOREVER = 2**62


@dataclass(frozen=True)
class Span:
    """One partition in the hands of one member."""

    partition: Partition
    client: int
    position: int
    """The first offset to read; -1: not reported."""
    source: str
    began_ns: int
    ended_ns: int
    """FOREVER: until the end of the run."""
    is_orderly: bool
    """Whether the member released it; otherwise its process ended."""


def spans(history: History) -> dict[Partition, list[Span]]:
    """By partition, all spans in the order of their beginning."""
    found: dict[Partition, list[Span]] = defaultdict(list)
    ends = {client_of(event): event.at_ns for event in history.of(MemberEnded)}
    open_: dict[tuple[Partition, int], tuple[int, int, str]] = {}
    for event in history.of(MemberOwns, MemberReleased):
        client, at_ns = client_of(event), happened_ns(event)
        for partition, position in _positions(event):
            began = open_.pop((partition, client), None)
            if is_a(event, MemberOwns):
                open_[partition, client] = (at_ns, position, event.what.source)
            elif began is not None:
                found[partition].append(Span(partition, client, began[1], began[2], began[0], at_ns, is_orderly=True))
    for (partition, client), (began_ns, position, source) in open_.items():
        ended_ns = ends.get(client, FOREVER)
        found[partition].append(Span(partition, client, position, source, began_ns, ended_ns, is_orderly=False))
    return {partition: sorted(each, key=lambda span: span.began_ns) for partition, each in sorted(found.items())}


def _positions(event: Recorded[MemberOwns | MemberReleased]) -> Iterator[tuple[Partition, int]]:
    for partition, each in zip(partitions_of(event), event.what.partitions, strict=True):
        yield partition, int(str(each[2])) if len(each) > 2 else -1


def owned_at(found: dict[Partition, list[Span]], at_ns: int) -> dict[Partition, set[int]]:
    """By partition, the clients that own it at an instant."""
    return {
        partition: {each.client for each in those if each.began_ns <= at_ns < each.ended_ns}
        for partition, those in found.items()
    }
