"""Histories of groups in a few words: members, what they own and follow, and what ZooKeeper logged of them."""

from collections.abc import Sequence
from typing import Any

from pytest_kmigrate.documents.kip_125.kinds import IDS, MIGRATING, MODE, NAME, OFFSETS, OWNERS, TOPIC, WITH
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import Transaction, Write
from tests.unit.checkers.histories import FAILED, MS, Row, committed, consumed, event, sent

ORDERS_0, ORDERS_1 = (TOPIC, 0), (TOPIC, 1)


def member(client: int, kind: str = WITH, at_ms: int = 0) -> Event:
    """A member was constructed; its consumer id is ``c`` and its number."""
    who = {"member": f"{kind}-{client}", "client": client, "member_kind": kind, "consumer_id": f"c{client}"}
    return event(EventKind.MEMBER_STARTED, at_ms, group=NAME, topics={TOPIC: 1}, member_ns=at_ms * MS, **who)


def ended(client: int, at_ms: int, how: str = "stopped", kind: str = WITH, **more: Any) -> Event:
    """Its process is gone."""
    return event(EventKind.MEMBER_ENDED, at_ms, member=f"{kind}-{client}", client=client, how=how, **more)


def owns(client: int, at_ms: int, *partitions: int, source: str = "zookeeper", topic: str = TOPIC) -> Event:
    """It owns partitions of a topic from now on."""
    listed = [[topic, each, 0] for each in partitions]
    who = {"member": f"{WITH}-{client}", "client": client}
    return event(EventKind.MEMBER_OWNS, at_ms, partitions=listed, source=source, member_ns=at_ms * MS, **who)


def released(client: int, at_ms: int, *partitions: int) -> Event:
    """It handed over their last record."""
    listed = [[TOPIC, each] for each in partitions]
    who = {"member": f"{WITH}-{client}", "client": client}
    return event(EventKind.MEMBER_RELEASED, at_ms, partitions=listed, member_ns=at_ms * MS, **who)


def assigned(client: int, at_ms: int, *partitions: int, what: str = "assigned", read_ms: int | None = None) -> Event:
    """Kafka's coordinator decided about it; ``read_ms``: its line was read later."""
    listed = [[TOPIC, each] for each in partitions]
    who = {"member": f"{WITH}-{client}", "client": client}
    read_ms = at_ms if read_ms is None else read_ms
    return event(EventKind.MEMBER_ASSIGNED, read_ms, what=what, partitions=listed, member_ns=at_ms * MS, **who)


def follows(client: int, at_ms: int, mode: str, read_ms: int | None = None) -> Event:
    """It follows this system from now on; ``read_ms``: its line was read later."""
    who = {"member": f"{WITH}-{client}", "client": client}
    read_ms = at_ms if read_ms is None else read_ms
    return event(EventKind.MEMBER_MODE, read_ms, mode=mode, member_ns=at_ms * MS, **who)


def wrote(at_ms: int, mode: str | None) -> Event:
    """The operator wrote the mode, or deleted it."""
    return event(EventKind.ZNODE_WRITTEN, at_ms, path=MODE, data=mode)


def closed(zxid: int, at_ms: int, session: int) -> Transaction:
    """ZooKeeper closed a session."""
    return Transaction(at_ms * MS, zxid, session)


def resumed(client: int, at_ms: int) -> Event:
    """It goes on."""
    return event(EventKind.MEMBER_RESUMED, at_ms, member=f"{WITH}-{client}")


def acked(at_ms: int, *offsets: int, partition: int = 0) -> list[Row]:
    """These records of a partition were acknowledged."""
    return [sent(each, topic=TOPIC, partition=partition, began_ns=at_ms * MS, ended_ns=at_ms * MS) for each in offsets]


def answered(client: int, at_ms: int, offset: int, error: str = "", partition: int = 0) -> Row:
    """Kafka answered a member's commit; ``error``: it refused it."""
    row = committed(offset, at_ms, client=client, topic=TOPIC, partition=partition)
    return {**row, "outcome": FAILED, "error": error} if error else row


def paused(client: int, at_ms: int, kind: str = WITH) -> Event:
    """It stands still."""
    return event(EventKind.MEMBER_PAUSED, at_ms, member=f"{kind}-{client}")


def gauges(client: int, at_ms: int, values: dict[str, float], read_ms: int | None = None) -> Event:
    """Its gauges; ``read_ms``: their line was read later."""
    who = {"member": f"{WITH}-{client}", "client": client}
    read_ms = at_ms if read_ms is None else read_ms
    return event(EventKind.MEMBER_GAUGES, read_ms, gauges=values, member_ns=at_ms * MS, **who)


def described(
    at_ms: int, members: dict[str, list[list[object]]], state: str = "STABLE", asked_ms: int | None = None
) -> Event:
    """The coordinator described the group; ``asked_ms``: it was asked earlier."""
    asked_ns = (at_ms if asked_ms is None else asked_ms) * MS
    return event(EventKind.GROUP_DESCRIBED, at_ms, group=NAME, state=state, members=members, asked_ns=asked_ns)


def worked_until(at_ms: int) -> Event:
    """Clients ended: the members end next."""
    return event(EventKind.WORKLOAD_ENDED, at_ms, workload="clients", acked=1)


def read(client: int, at_ms: int, *offsets: int, partition: int = 0) -> list[Row]:
    """It read these offsets of a partition, all in one batch."""
    place: dict[str, Any] = {"client": client, "group": NAME, "topic": TOPIC, "partition": partition}
    return [consumed(each, at_ms, **place) for each in offsets]


def logged(zxid: int, at_ms: int, session: int, *writes: Write) -> Transaction:
    """ZooKeeper logged one transaction."""
    return Transaction(at_ms * MS, zxid, session, writes, is_multi=len(writes) > 1)


PAYLOAD = '{"version": 1, "subscription": {"orders": 1}, "pattern": "static", "timestamp": "1"}'


def ids(client: int, operation: str = "create", data: str | None = PAYLOAD) -> Write:
    """A write of a member's entry in ``ids``."""
    return Write(operation, f"{IDS}/c{client}", data, 0, is_ephemeral=operation == "create")


def migrating(client: int, operation: str = "create", *, is_ephemeral: bool = True) -> Write:
    """A write of a member's entry among those that migrate."""
    return Write(operation, f"{MIGRATING}/c{client}", "", 0, is_ephemeral=is_ephemeral)


def owner(partition: int, data: str, *, is_ephemeral: bool = True) -> Write:
    """An owner node was created."""
    return Write("create", f"{OWNERS}/{TOPIC}/{partition}", data, 0, is_ephemeral=is_ephemeral)


def disowned(partition: int) -> Write:
    """An owner node was deleted."""
    return Write("delete", f"{OWNERS}/{TOPIC}/{partition}")


def offset(partition: int, data: str) -> Write:
    """An offset was written."""
    return Write("set-data", f"{OFFSETS}/{TOPIC}/{partition}", data, 1)


def joined(*clients: int) -> Sequence[Transaction]:
    """Members registered one after the other, each with the session of its number."""
    return [logged(each, each, each, migrating(each), ids(each)) for each in clients]
