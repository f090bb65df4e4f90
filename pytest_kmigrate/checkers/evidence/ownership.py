"""Ownership: which member of a group under test owns what, by the members' own reports."""

from collections.abc import Iterable

from pytest_kmigrate.model.event import Event, EventKind

Partition = tuple[str, int]
_KINDS = frozenset((EventKind.MEMBER_OWNS, EventKind.MEMBER_RELEASED, EventKind.MEMBER_ENDED))


def partitions_of(event: Event) -> list[Partition]:
    """Topic and partition of each entry of an event of a member."""
    given = event.data.get("partitions")
    return [(str(each[0]), int(each[1])) for each in given] if isinstance(given, list | tuple) else []


def client_of(event: Event) -> int:
    """The number of the member that an event is about."""
    return int(str(event.data["client"]))


def owners(events: Iterable[Event]) -> dict[Partition, str]:
    """By partition, the name of the member that came to own it last and neither released it nor ended.

    In the order of the members' own times: lines of two members may be read in another order than they happened.
    """
    found: dict[Partition, tuple[str, int]] = {}
    for event in sorted((each for each in events if each.kind in _KINDS), key=happened_ns):
        if event.kind is EventKind.MEMBER_OWNS:
            found |= dict.fromkeys(partitions_of(event), (str(event.data["member"]), client_of(event)))
        elif event.kind is EventKind.MEMBER_RELEASED:
            mine = set(partitions_of(event))
            found = {at: owner for at, owner in found.items() if not (at in mine and owner[1] == client_of(event))}
        elif event.kind is EventKind.MEMBER_ENDED:
            found = {at: owner for at, owner in found.items() if owner[1] != client_of(event)}
    return {at: name for at, (name, _) in found.items()}


def happened_ns(event: Event) -> int:
    """When what an event of a member reports happened: by its own clock, for its line may be read much later.

    Where it does not say, when its line was read.
    """
    return int(str(event.data.get("member_ns", event.at_ns)))
