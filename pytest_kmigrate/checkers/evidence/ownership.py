"""Ownership: which member of a group under test owns what, by the members' own reports."""

from collections.abc import Iterable

from pytest_kmigrate.model.event import Event, Recorded, is_a, only
from pytest_kmigrate.model.events.members import MemberEnded, MemberOwns, MemberReleased, OfMember, WithPartitions

Partition = tuple[str, int]


def partitions_of(event: Recorded[WithPartitions]) -> list[Partition]:
    """Topic and partition of each entry of an event of a member."""
    return [(str(each[0]), int(str(each[1]))) for each in event.what.partitions]


def client_of(event: Recorded[OfMember]) -> int:
    """The number of the member that an event is about."""
    return event.what.client


def owners(events: Iterable[Event]) -> dict[Partition, str]:
    """By partition, the name of the member that came to own it last and neither released it nor ended.

    In the order of the members' own times: lines of two members may be read in another order than they happened.
    """
    found: dict[Partition, tuple[str, int]] = {}
    for event in sorted(only(events, MemberOwns, MemberReleased, MemberEnded), key=happened_ns):
        if is_a(event, MemberOwns):
            found |= dict.fromkeys(partitions_of(event), (event.what.member, client_of(event)))
        elif is_a(event, MemberReleased):
            mine = set(partitions_of(event))
            found = {at: owner for at, owner in found.items() if not (at in mine and owner[1] == client_of(event))}
        else:
            found = {at: owner for at, owner in found.items() if owner[1] != client_of(event)}
    return {at: name for at, (name, _) in found.items()}


def happened_ns(event: Recorded[OfMember]) -> int:
    """When what an event of a member reports happened: by its own clock, for its line may be read much later.

    Where it does not say, as of the end of its process, when that was seen.
    """
    what = event.what
    return event.at_ns if isinstance(what, MemberEnded) else what.member_ns or event.at_ns
