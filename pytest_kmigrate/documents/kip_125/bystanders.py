"""What a test puts beside a group's members, in one of the two systems only: it reads nothing."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from confluent_kafka import Consumer, TopicPartition
from kazoo.client import KazooClient
from kazoo.security import OPEN_ACL_UNSAFE, make_acl

from pytest_kmigrate.documents.kip_125.group import MigratingGroup
from pytest_kmigrate.documents.kip_125.kinds import BYSTANDER, HIDDEN, IDS, MIGRATING, MODE, NAME, OWNERS, TOPIC
from pytest_kmigrate.model.peer import Znodes
from pytest_kmigrate.waiting import PATIENCE_S, until

_POLL_S = 0.1


@dataclass
class Bystander:
    """A member of the Kafka group that reads nothing."""

    left_ns: int = 0
    """When it began to leave, by the monotonic clock; 0: it has not."""


@contextmanager
def in_kafka(connection: Mapping[str, str], **settings: str) -> Iterator[Bystander]:
    """A member of the Kafka group that has joined, and reads nothing; it leaves at the end of the block."""
    found = Bystander()
    named = {key.replace("_", "."): value for key, value in settings.items()}
    consumer = Consumer({**connection, "group.id": NAME, "client.id": BYSTANDER, **named})
    joined, over = threading.Event(), threading.Event()

    def assigned(consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.assign(partitions)
        consumer.pause(partitions)
        joined.set()

    def poll() -> None:
        while not over.is_set():
            consumer.poll(_POLL_S)
        found.left_ns = time.monotonic_ns()
        consumer.close()

    consumer.subscribe([TOPIC], on_assign=assigned)
    polling = threading.Thread(target=poll, name="bystander", daemon=True)
    polling.start()
    try:
        until(joined.is_set, awaited="a bystander in Kafka's group", within_s=PATIENCE_S)
        yield found
    finally:
        over.set()
        polling.join()


def reactions_s(group: MigratingGroup, connection: Mapping[str, str], count: int) -> list[float]:
    """How soon decisions of Kafka's group reached its member, in ascending order.

    A bystander joins and leaves so often; counted from when it begins to leave.
    """
    found = []
    for _ in range(count):
        with in_kafka(connection) as bystander:
            pass
        after_s = partial(group.revoked_after_s, bystander.left_ns)
        found.append(until(after_s, awaited="a decision of Kafka's group", within_s=PATIENCE_S))
    return sorted(found)


@contextmanager
def in_zookeeper(znodes: Znodes) -> Iterator[None]:
    """A member that is registered in ZooKeeper as migrating, with a stream of the topic, and claims nothing."""
    entry = {"version": 1, "subscription": {TOPIC: 1}, "pattern": "static", "timestamp": "1"}
    paths = (f"{MIGRATING}/{NAME}_bystander", f"{IDS}/{NAME}_bystander")
    znodes.set(paths[0], None)
    znodes.set(paths[1], json.dumps(entry).encode())
    try:
        yield
    finally:
        for path in reversed(paths):
            znodes.delete(path)


@contextmanager
def unreadable_mode(group: MigratingGroup, servers: str) -> Iterator[None]:
    """No client may read the mode, though all may list, write and delete it, until the end of the block."""
    client = KazooClient(servers)
    client.start(PATIENCE_S)
    before = client.get(MODE)[0]
    try:
        group.note_mode(HIDDEN)
        client.set_acls(MODE, [make_acl("world", "anyone", write=True, create=True, delete=True, admin=True)])
        yield
        group.note_mode(before)
        client.set_acls(MODE, OPEN_ACL_UNSAFE)
    finally:
        client.stop()
        client.close()


@contextmanager
def owning(znodes: Znodes, partitions: int) -> Iterator[None]:
    """The owner nodes of all partitions are there, and not a member's, so that no member may read."""
    paths = [f"{OWNERS}/{TOPIC}/{number}" for number in range(partitions)]
    for path in paths:
        znodes.set(path, b"bystander-0")
    try:
        yield
    finally:
        for path in paths:
            znodes.delete(path)
