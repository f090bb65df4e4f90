"""A member's side of ZooKeeper: registration, watches, owner nodes, offsets and the lease of its session.

Every call is asynchronous, so that a ZooKeeper that stands still stops no delivery before the lease is out; answers are
posted to the connector's loop.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException, NoAuthError, NodeExistsError, NoNodeError

from pytest_kmigrate.documents.kip_125.reference import answers
from pytest_kmigrate.documents.kip_125.reference.decision import TopicPartition
from pytest_kmigrate.documents.kip_125.reference.settings import Settings

Post = Callable[[Callable[[], None]], None]
Then = Callable[[Any], None]
"""Takes what ZooKeeper answered, or the exception."""


@dataclass(frozen=True)
class Snapshot:
    """What decides about assignment and mode, read together."""

    subscriptions: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By registered consumer, its number of streams by topic."""
    migrating: frozenset[str] = frozenset()
    mode: bytes | None = None
    partitions: Mapping[str, int] = field(default_factory=dict)
    """By topic, how many it has."""
    may_read_mode: bool = True
    """Whether the mode node lets this member read it; what it cannot read means ZooKeeper, as an unknown word does."""


class ZookeeperLink:
    """One session after the other; ``on_change`` and ``on_lost`` are called in the connector's loop."""

    def __init__(
        self, settings: Settings, post: Post, on_change: Callable[[], None], on_lost: Callable[[], None]
    ) -> None:
        self._settings = settings
        self._post = post
        self._on_change, self._on_lost = on_change, on_lost
        self._group = f"/consumers/{settings.group}"
        self._client = KazooClient(settings.zookeeper, timeout=settings.session_s)
        self._client.add_listener(self._on_state)
        self._session_s = settings.session_s
        self._measure_session()
        self._valid_until = 0.0
        self._registered: int | None = None
        self._known: dict[str, Mapping[str, int]] = {}

    def _measure_session(self) -> None:
        """Have the lease follow what the server grants, which may be less than was asked for.

        kazoo does not publish it: what it waits for an answer is two thirds of it.
        """
        connection = self._client._connection  # noqa: SLF001
        connect = connection._connect  # noqa: SLF001

        def connected(*where: Any) -> Any:
            read_ms, connect_ms = connect(*where)
            self._session_s = min(self._settings.session_s, read_ms * 1.5 / 1000)
            return read_ms, connect_ms

        connection._connect = connected  # noqa: SLF001

    @property
    def session_s(self) -> float:
        """The session timeout in force: what was asked for, or less."""
        return self._session_s

    def start(self) -> None:
        """Connect; ``on_change`` follows."""
        self._client.start_async()

    def close(self) -> None:
        """End the session."""
        self._client.stop()
        self._client.close()

    def _on_state(self, state: str) -> None:
        # On kazoo's own thread, in the order of the states: a lost session is known before a new one answers anything.
        if state == KazooState.LOST:
            self._post(self._lost)
        elif state == KazooState.CONNECTED:
            self._post(self._on_change)

    def _lost(self) -> None:
        self._registered, self._valid_until = None, 0.0
        self._on_lost()

    @property
    def session(self) -> int | None:
        """The session that the member is registered with; None: it is registered with none."""
        return self._registered

    @property
    def may_deliver(self) -> bool:
        """Whether no other session can own what this one owns: the server cannot have expired it yet.

        Measured from when a request was sent that was answered, because the server's clock starts no earlier. The
        time decides, not an event: a process that stood still hears of its expiry too late. The guard is for
        ensembles, whose leader may hear of a request from a follower later.
        """
        return time.monotonic() < self._valid_until

    def renew(self) -> None:
        """Ask anything, so that the lease is renewed."""
        self._ask(self._client.exists_async(self._group), lambda _: None)

    def _ask(self, asked: Any, then: Then) -> None:
        sent, session = time.monotonic(), self._session_now()
        asked.rawlink(lambda result: self._post(lambda: self._take(result, sent, session, then)))

    def _take(self, result: Any, sent: float, session: int, then: Then) -> None:
        answer = answers.answer(result)
        was_answered = not isinstance(answer, KazooException) or answers.is_an_answer(answer)
        # An answer to a former session says nothing about this one.
        if was_answered and session == self._registered:
            guard_s = min(0.5, self._session_s / 6)
            self._valid_until = max(self._valid_until, sent + self._session_s - guard_s)
        then(answer)

    def _session_now(self) -> int:
        return int(self._client.client_id[0]) if self._client.client_id else 0

    # --- registration: both nodes in one transaction, so that no other member takes this one for an older build

    def register(self, then: Then) -> None:
        """Register the member; ``then`` gets None, or an exception."""
        parents = [f"{self._group}/{each}" for each in ("ids", "owners", "offsets", *self._own_rooms)]
        ensured = [self._client.ensure_path_async(each) for each in parents]
        answers.gather(ensured, lambda _: self._post(lambda: self._register_now(then)))

    @property
    def _own_rooms(self) -> tuple[str, ...]:
        return ("migration/ids",) if self._settings.is_migrating else ()

    @property
    def _own_nodes(self) -> list[str]:
        return [f"{self._group}/{each}/{self._settings.consumer_id}" for each in (*self._own_rooms, "ids")]

    def _register_now(self, then: Then) -> None:
        session = self._session_now()
        entry = {"version": 1, "subscription": dict(self._settings.streams), "pattern": "static"}
        payload = json.dumps({**entry, "timestamp": str(time.time_ns() // 1_000_000)}).encode()
        transaction = self._client.transaction()
        for path in self._own_nodes:
            transaction.create(path, payload if "/migration/" not in path else b"", ephemeral=True)

        def done(answer: Any) -> None:
            wrong = answers.wrong(answer)
            if wrong is None and session == self._session_now():
                self._registered = session
            then(wrong)

        self._ask(transaction.commit_async(), done)

    def deregister(self) -> None:
        """Take both registrations away in one transaction; returns when they are gone, or ZooKeeper does not answer."""
        over = threading.Event()
        transaction = self._client.transaction()
        for path in reversed(self._own_nodes):
            transaction.delete(path)
        transaction.commit_async().rawlink(lambda _: over.set())
        over.wait(2)

    # --- what decides: read together, with a watch on each, and read again every second by the connector

    def look(self, then: Callable[[Snapshot | None], None]) -> None:
        """Read the group's state; None when ZooKeeper did not answer.

        The requests go out together, so that a slow link costs one round trip. The ids are read before and after the
        ids of those that migrate: a member that joins or leaves in between is in one list only, and left out.
        """
        client, group, watch = self._client, self._group, self._changed
        topics = list(self._settings.streams)
        asked = [client.get_children_async(f"{group}/ids", watch=watch)]
        if self._settings.is_migrating:
            asked += [
                client.get_children_async(f"{group}/migration/ids", watch=watch),
                client.get_children_async(f"{group}/ids"),
                client.exists_async(f"{group}/migration/mode", watch=watch),  # fires when it appears, too
                client.get_async(f"{group}/migration/mode"),
            ]
        asked += [client.get_async(f"/brokers/topics/{topic}", watch=watch) for topic in topics]
        answers.gather(asked, lambda read: self._post(lambda: self._read_ids(read, topics, then)))

    def _changed(self, _: object) -> None:
        self._post(self._on_change)

    def _read_ids(self, read: Sequence[Any], topics: Sequence[str], then: Callable[[Snapshot | None], None]) -> None:
        # Newer servers refuse to say whether a node exists, too.
        mode_refused = self._settings.is_migrating and any(isinstance(each, NoAuthError) for each in read[3:5])
        answered = [*read[:3], NoNodeError(), NoNodeError(), *read[5:]] if mode_refused else list(read)
        if any(answers.wrong(each) and not isinstance(each, NoNodeError) for each in answered):
            then(None)
            return
        found = [None if isinstance(each, NoNodeError) else each for each in answered]
        ids, at = set(found[0] or ()), 1
        migrating, mode = frozenset[str](), None
        if self._settings.is_migrating:
            ids &= set(found[2] or ())
            migrating, mode, at = frozenset(found[1] or ()), found[4] and found[4][0], 5
        counts = {topic: answers.partition_count(each) for topic, each in zip(topics, found[at:], strict=True)}
        unknown = sorted(ids - self._known.keys())
        asked = [self._client.get_async(f"{self._group}/ids/{each}") for each in unknown]

        def known(payloads: Sequence[Any]) -> None:
            self._known.update({each: answers.subscription(data) for each, data in zip(unknown, payloads, strict=True)})
            subscriptions = {each: self._known[each] for each in sorted(ids) if each in self._known}
            then(Snapshot(subscriptions, migrating, mode, counts, may_read_mode=not mode_refused))

        answers.gather(asked, lambda payloads: self._post(lambda: known(payloads)))

    # --- owner nodes: the lock between members, in both modes

    def own(self, partition: TopicPartition, thread: str, then: Then) -> None:
        """Create the owner node; ``then`` gets True, False (somebody else's), or an exception."""
        path = self._owner(partition)

        def created(answer: Any) -> None:
            if not isinstance(answer, NodeExistsError):
                then(True if answers.wrong(answer) is None else answer)
                return
            self._ask(self._client.get_async(path, watch=self._changed), found)

        def found(answer: Any) -> None:
            # Its own node means that the answer to an earlier try was lost.
            wrong = answers.wrong(answer)
            then(wrong or answer[1].ephemeralOwner == self._session_now())

        self._ask(self._client.create_async(path, thread.encode(), ephemeral=True, makepath=True), created)

    def disown(self, partition: TopicPartition, then: Then) -> None:
        """Delete the own owner node; ``then`` gets None when it is gone, or an exception."""
        asked = self._client.delete_async(self._owner(partition))
        self._ask(asked, lambda answer: then(None if isinstance(answer, NoNodeError) else answers.wrong(answer)))

    def _owner(self, partition: TopicPartition) -> str:
        return f"{self._group}/owners/{partition[0]}/{partition[1]}"

    # --- offsets: decimal text, written with the version that was read, so that no write hits a successor's

    def offset(self, partition: TopicPartition, then: Then) -> None:
        """Read a stored offset; ``then`` gets (offset or None, version), or an exception."""

        def read(answer: Any) -> None:
            if isinstance(answer, NoNodeError):
                then((None, -1))
            else:
                wrong = answers.wrong(answer)
                then(wrong or (answers.number(answer[0]), answer[1].version))

        self._ask(self._client.get_async(self._stored(partition)), read)

    def store(self, partition: TopicPartition, offset: int, version: int, then: Then) -> None:
        """Write an offset over this version (-1: none is stored); ``then`` gets the new version, or an exception."""
        path, data = self._stored(partition), str(offset).encode()
        if version < 0:
            asked = self._client.create_async(path, data, makepath=True)
            self._ask(asked, lambda answer: then(answers.wrong(answer) or 0))
        else:
            asked = self._client.set_async(path, data, version)
            self._ask(asked, lambda answer: then(answers.wrong(answer) or answer.version))

    def _stored(self, partition: TopicPartition) -> str:
        return f"{self._group}/offsets/{partition[0]}/{partition[1]}"
