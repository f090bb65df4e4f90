"""What each of the two systems assigns to whom."""

from pytest_kmigrate.checkers.evidence.ownership import Partition, client_of, happened_ns, partitions_of
from pytest_kmigrate.checkers.evidence.spans import spans
from pytest_kmigrate.documents.kip_125.evidence.lives import Life
from pytest_kmigrate.documents.kip_125.reference.decision import range_assignment
from pytest_kmigrate.model.events.members import MemberAssigned
from pytest_kmigrate.model.history import History


def assigned_at(history: History, client: int, at_ns: int) -> set[Partition] | None:
    """What Kafka's coordinator had assigned to a member at an instant; None while it had assigned nothing."""
    mine = [event for event in history.of(MemberAssigned) if client_of(event) == client]
    before = [event for event in mine if happened_ns(event) <= at_ns]
    if not before or before[-1].what.what != "assigned":
        return None
    return set(partitions_of(before[-1]))


def assigned_by_kafka(history: History, alive: list[Life], at_ns: int) -> dict[Partition, int] | None:
    """By partition, the client that Kafka's coordinator assigned it to; None while it has not assigned all."""
    mine = {each.client: assigned_at(history, each.client, at_ns) for each in alive if each.is_migrating}
    if not mine or any(each is None for each in mine.values()):
        return None
    return {partition: client for client, those in mine.items() for partition in those or ()}


def assigned_by_range(history: History, alive: list[Life], at_ns: int) -> dict[Partition, int] | None:
    """By partition, the client that ``range`` over the ids in ZooKeeper gives it to; None beside a plain consumer.

    A topic has the partitions that had an owner by then.
    """
    if any(not each.is_of_zookeeper for each in alive):
        return None  # outside of what the document supports
    counts: dict[str, int] = {}
    for topic, number in (each for each, those in spans(history).items() if those[0].began_ns <= at_ns):
        counts[topic] = max(counts.get(topic, 0), number + 1)
    subscriptions = {each.consumer_id: each.streams for each in alive}
    clients = {each.consumer_id: each.client for each in alive}
    found = {}
    for topic, count in counts.items():
        for partition, thread in range_assignment(topic, count, subscriptions).items():
            found[partition] = clients[thread.rpartition("-")[0]]
    return found
