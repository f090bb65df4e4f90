"""The embedded KafkaConsumer: a member of the Kafka group that never fetches, polled by a thread of its own."""

import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from pytest_kmigrate.documents.kip_125.reference import decision
from pytest_kmigrate.documents.kip_125.reference.java_keys import for_librdkafka
from pytest_kmigrate.documents.kip_125.reference.lines import Lines
from pytest_kmigrate.documents.kip_125.reference.settings import PREFIX, Settings
from pytest_kmigrate.documents.kip_125.reference.zookeeper import Post

_SLICE_S = 0.2
_COORDINATOR_WITHIN_S = 3.0
"""How long a start waits for the offsets that Kafka has; then ZooKeeper's are taken alone: duplicates, no loss."""
_NO_MEMBER = "_STATE"
"""The error of a commit that is not sent, as librdkafka calls what its state does not allow."""

Assigned = Callable[[str, frozenset[decision.TopicPartition], threading.Event], None]
"""Called in the connector's loop with ``assigned``, ``revoked`` or ``lost``; the event ends a revocation's wait."""


class EmbeddedConsumer:
    """Joins the group as one member, whatever the number of streams; its client id is the parent's consumer id."""

    def __init__(self, settings: Settings, lines: Lines, post: Post, on_assignment: Assigned) -> None:
        self._lines = lines
        self._settings = settings
        self._post = post
        self._on_assignment = on_assignment
        self._guard_s = min(0.5, settings.kafka_session_s / 6)
        self._valid_until = 0.0
        self._is_member = False
        self._over = threading.Event()
        config = {
            "heartbeat.interval.ms": int(settings.heartbeat_s * 1000),
            "auto.offset.reset": settings.reset,
            **for_librdkafka(settings.embedded, PREFIX),
            # Its positions are those at which it was paused: committing them would take the group back.
            "enable.auto.commit": False,
            "group.id": settings.group,
            "client.id": settings.consumer_id,
        }
        self._consumer = Consumer(config)
        # A broker answers the requests of one connection in turn, and a member's request to join when all others have
        # joined. A lookup on that connection would wait as long, so another consumer, which never joins, does it.
        self._reader = Consumer(config)
        self._thread = threading.Thread(target=self._poll, name="embedded-consumer", daemon=True)
        # One worker each: commits keep their order, and none waits behind a coordinator that does not answer.
        self._commits = ThreadPoolExecutor(1)
        self._lookups = ThreadPoolExecutor(1)
        self._asked: queue.SimpleQueue[tuple[decision.TopicPartition, Callable[[int | None], None]]]
        self._asked = queue.SimpleQueue()

    @property
    def may_deliver(self) -> bool:
        """Whether the coordinator cannot have evicted this member yet.

        A commit of a member renews its session, so a commit that succeeded counts from when it was sent. Callbacks
        come from polls only: a member that stood still would hear of its eviction too late.
        """
        return time.monotonic() < self._valid_until

    def start(self) -> None:
        """Join the group; nothing when it has joined."""
        if self._thread.is_alive():
            return
        self._consumer.subscribe(
            sorted(self._settings.streams), on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
        )
        self._thread.start()

    def _poll(self) -> None:
        # Polled at least every interval; in slices, so that leaving does not wait for one.
        while not self._over.is_set():
            self._look_at(self._consumer.poll(min(_SLICE_S, self._settings.poll_interval_s)))
        self._consumer.close()

    def _look_at(self, polled: Message | None) -> None:
        """Nothing is fetched, so what is polled is an error: the coordinator refuses a session timeout, say."""
        error = polled.error() if polled is not None else None
        if error is not None and not error.retriable():
            self._post(lambda: self._lines.warn_once(f"kafka-{error.name().lower()}", str(error.str())))

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        # Paused in the callback, every time: what a later rebalance brings would be fetched otherwise.
        consumer.assign(partitions)
        consumer.pause(partitions)
        self._is_member = True
        self._renewed(time.monotonic() - self._settings.heartbeat_s)
        self._report("assigned", partitions)

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """The group goes on when this returns, so it returns when nothing of these is delivered any more."""
        self._report("revoked", partitions).wait(self._settings.kafka_session_s)
        consumer.unassign()

    def _lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._valid_until, self._is_member = 0.0, False
        self._report("lost", partitions)
        consumer.unassign()

    def _report(self, what: str, partitions: list[TopicPartition]) -> threading.Event:
        over = threading.Event()
        named = frozenset((each.topic, each.partition) for each in partitions)
        # A consumer that is closed holds nothing, and the loop that closes it must not be waited for.
        if self._over.is_set():
            over.set()
        else:
            self._post(lambda: self._on_assignment(what, named, over))
        return over

    def _renewed(self, sent: float) -> None:
        self._valid_until = max(self._valid_until, sent + self._settings.kafka_session_s - self._guard_s)

    def commit(self, offsets: Mapping[decision.TopicPartition, int], then: Callable[[str], None]) -> None:
        """Commit as a member, for partitions it is not assigned, too; ``then`` gets the error, or an empty text.

        Before it has joined nothing is sent: the coordinator would refuse a commit without membership, and the consumer
        would then take its member id for an unknown one and join once more, beside itself.
        """

        def work() -> None:
            sent, error = time.monotonic(), ""
            if not self._is_member:
                self._post(lambda: then(_NO_MEMBER))
                return
            try:
                asked = [TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()]
                answers = self._consumer.commit(offsets=asked, asynchronous=False)
                error = next((each.error.name() for each in answers if each.error), "")
            except KafkaException as refused:
                error = refused.args[0].name()
            except RuntimeError as closed:
                error = str(closed)
            self._post(lambda: self._answered(sent, error, then))

        self._commits.submit(work)

    def _answered(self, sent: float, error: str, then: Callable[[str], None]) -> None:
        if not error:
            self._renewed(sent)
        then(error)

    def committed(self, partition: decision.TopicPartition, then: Callable[[int | None], None]) -> None:
        """Look the committed offset up; ``then`` gets None when there is none, or the coordinator does not answer."""
        self._asked.put((partition, then))
        self._lookups.submit(self._look_up)

    def _look_up(self) -> None:
        """Ask for all that wait at once, so that a coordinator which does not answer is waited for once."""
        waiting = {}
        while not self._asked.empty():
            partition, then = self._asked.get()
            waiting[partition] = then
        if not waiting:
            return
        found: dict[decision.TopicPartition, int] = {}
        with suppress(KafkaException, RuntimeError):
            answers = self._reader.committed([TopicPartition(*each) for each in waiting], _COORDINATOR_WITHIN_S)
            found = {(each.topic, each.partition): each.offset for each in answers if not each.error}
        offsets = {each: offset if (offset := found.get(each, -1)) >= 0 else None for each in waiting}

        def answer() -> None:
            for each, then in waiting.items():
                then(offsets[each])

        self._post(answer)

    def close(self) -> None:
        """Leave the group."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(self._settings.poll_interval_s + 2)
        else:
            self._consumer.close()
        self._commits.shutdown(wait=False, cancel_futures=True)
        self._lookups.shutdown(wait=False, cancel_futures=True)
