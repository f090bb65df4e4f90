"""A ZookeeperConsumerConnector: one loop, in which everything that changes state and every delivery happens."""

import queue
import threading
from collections.abc import Callable

from pytest_kmigrate.documents.kip_125.reference import decision
from pytest_kmigrate.documents.kip_125.reference.decision import Source, TopicPartition
from pytest_kmigrate.documents.kip_125.reference.describing import Describer
from pytest_kmigrate.documents.kip_125.reference.embedded import EmbeddedConsumer
from pytest_kmigrate.documents.kip_125.reference.fetching import Fetcher
from pytest_kmigrate.documents.kip_125.reference.gauges import gauges
from pytest_kmigrate.documents.kip_125.reference.holding import RETRY_S, Holding, Stage, Tools
from pytest_kmigrate.documents.kip_125.reference.lines import Lines, plain
from pytest_kmigrate.documents.kip_125.reference.listening import Listener, MixWatch, State
from pytest_kmigrate.documents.kip_125.reference.settings import Settings
from pytest_kmigrate.documents.kip_125.reference.timers import Timers
from pytest_kmigrate.documents.kip_125.reference.zookeeper import Snapshot, ZookeeperLink

_REST_S = 0.02
_EVERY_S = 1.0
_CLOSED_WITHIN_S = 5.0


class Connector:
    """A member with migration enabled (MEZKCC) or not (MDZKCC); ``post`` is the only way in from other threads."""

    def __init__(self, settings: Settings, lines: Lines, bootstrap: str) -> None:
        self._settings = settings
        self._lines = lines
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._timers = Timers()
        self._held: dict[TopicPartition, Holding] = {}
        self._seen: Snapshot | None = None
        self._assignment: frozenset[TopicPartition] | None = None
        """What the embedded consumer holds; None while its group rebalances."""
        self._revocations: list[tuple[frozenset[TopicPartition], threading.Event]] = []
        self._source: Source | None = None
        self._gauges: dict[str, int] = {}
        self._is_looking = self._is_outdated = self._is_registering = False
        self._is_reading, self._is_closing, self._is_over = True, False, False
        self._zookeeper = ZookeeperLink(settings, self.post, self._look, self._session_lost)
        connection = {"bootstrap.servers": bootstrap}
        self._fetcher = Fetcher(connection, settings.reset, self.post)
        is_migrating = settings.is_migrating
        self._embedded = EmbeddedConsumer(settings, lines, self.post, self._kafka_decided) if is_migrating else None
        self._describer = Describer(bootstrap, settings.group, self.post) if is_migrating else None
        self._mix = MixWatch(lines, self._describer, self._state) if self._describer else None
        later = self._timers.later
        self._listener = Listener(lines, self._describer, self._state, later) if settings.has_listener else None
        starts = self._listener.before_starting if self._listener else lambda start: start()
        self._tools = Tools(
            self._zookeeper, self._embedded, self._fetcher, lines, later, self._commit, self._changed, starts
        )

    def post(self, event: Callable[[], None]) -> None:
        """Have something done in the loop; safe to call from any thread."""
        self._events.put(event)

    def obey(self, order: str) -> None:
        """``pause-reading``, ``resume-reading`` or ``stop``; in the loop."""
        if order == "stop":
            self._close()
        elif order in ("pause-reading", "resume-reading"):
            self._is_reading = order == "resume-reading"

    def run(self) -> None:
        """Be a member until it is ordered to stop; returns when it has left both systems."""
        self._zookeeper.start()
        commits_s = self._settings.commit_every_s
        if self._embedded:
            commits_s = min(commits_s, self._settings.kafka_session_s / 3)  # they renew the coordinator's lease
        every = self._timers.every
        every(_EVERY_S, self._look)  # no trust in events alone
        every(_EVERY_S, lambda: self._show_gauges(always=True))
        every(self._settings.session_s / 6, self._zookeeper.renew)
        every(commits_s, self._commit_all)
        while not self._is_over:
            self._turn()
        self._leave()

    def _turn(self) -> None:
        self._timers.run()
        while not self._events.empty():
            self._events.get()()
        if self._is_reading and not self._fetcher.is_idle and self._may_deliver():
            self._lines.consumed(self._fetcher.records(self._may_deliver))
        else:
            self._rest()

    def _rest(self) -> None:
        try:
            event = self._events.get(timeout=_REST_S)
        except queue.Empty:
            return
        event()

    def _may_deliver(self) -> bool:
        """A lease for each system that another member could take a partition by."""
        is_member = self._embedded is None or self._source is Source.ZOOKEEPER or self._embedded.may_deliver
        return self._zookeeper.may_deliver and is_member

    # --- what is seen, and what is decided from it

    def _look(self) -> None:
        if self._is_closing:
            return
        if self._zookeeper.session is None:
            self._register()
        elif self._is_looking:
            self._is_outdated = True
        else:
            self._is_looking, self._is_outdated = True, False
            self._zookeeper.look(self._saw)

    def _register(self) -> None:
        if not self._is_registering:
            self._is_registering = True
            self._zookeeper.register(self._registered)

    def _registered(self, wrong: Exception | None) -> None:
        self._is_registering = False
        if wrong is None:
            # Not before: what Kafka assigns to a member that ZooKeeper does not have is read by no member.
            if self._embedded:
                self._embedded.start()
            self._look()
        else:
            self._lines.warn_once(
                "not-registered", f"ZooKeeper does not take the registration: {type(wrong).__name__} {wrong}"
            )
            self._timers.later(RETRY_S, self._look)

    def _saw(self, seen: Snapshot | None) -> None:
        self._is_looking = False
        if seen is not None and self._zookeeper.session is not None:
            self._seen = seen
            if not seen.may_read_mode:
                self._lines.warn_once("mode-not-readable", "the mode node cannot be read, so that ZooKeeper decides")
            self._decide()
        if self._is_outdated:
            self._look()

    def _kafka_decided(self, what: str, partitions: frozenset[TopicPartition], over: threading.Event) -> None:
        self._lines.say(f"kafka_{what}", partitions=plain(partitions))
        self._assignment = partitions if what == "assigned" else None
        self._warn_of_mix()
        self._revocations.append((partitions, over))
        self._decide()

    def _decide(self) -> None:
        """Compute everything anew; what the member holds and still wants is not touched."""
        if self._seen is not None:
            ids, migrating = self._seen.subscriptions, self._seen.migrating
            chosen = decision.source(ids, migrating, self._seen.mode) if self._embedded else Source.ZOOKEEPER
            if chosen is not self._source:
                self._source = chosen
                self._say_mode(self._seen)
                self._warn_of_mix()
        self._reconcile()
        self._end_revocations()
        self._show_gauges()

    def _say_mode(self, seen: Snapshot) -> None:
        if self._embedded:
            older = sorted(set(seen.subscriptions) - seen.migrating)
            why = f"members without migration: {', '.join(older)}" if older else "the mode node"
            node = None if seen.mode is None else seen.mode[:100].decode("utf-8", "replace")
            self._lines.say("coordination_mode", mode=str(self._source), why=why, node=node)

    def _warn_of_mix(self) -> None:
        if self._mix:
            self._mix.look()

    def _state(self) -> State | None:
        """What the listener is called with; None while Kafka's group, which is followed, rebalances."""
        if self._seen is None or (self._source is Source.KAFKA and self._assignment is None):
            return None
        assert self._source is not None, "what is seen decides about the source"
        return State(self._settings.consumer_id, self._source, self._seen, self._assignment or frozenset())

    def _target(self) -> dict[TopicPartition, str]:
        """By partition that this member is to hold, the thread that reads it."""
        if self._is_closing or self._seen is None or self._zookeeper.session is None:
            return {}
        me, streams = self._settings.consumer_id, self._settings.streams
        if self._source is Source.KAFKA:
            return decision.thread_split(self._assignment or (), streams, me)
        found = decision.by_zookeeper(self._seen.partitions, self._seen.subscriptions)
        mine = {thread for number in streams.values() for thread in decision.threads_of(me, number)}
        return {partition: thread for partition, thread in found.items() if thread in mine}

    def _reconcile(self) -> None:
        target, source = self._target(), self._source or Source.ZOOKEEPER
        owned = [each for each, holding in self._held.items() if holding.stage is Stage.OWNED]
        for holding in list(self._held.values()):
            if holding.partition not in target:
                holding.release(f"not assigned by {self._source}")
            else:
                holding.claim()  # somebody's owner node may be gone
        if self._listener:  # their owner nodes go when ZooKeeper has answered, which is not before this turn ends
            self._listener.before_releasing([each for each in owned if each not in target])
        for partition, thread in target.items():
            if partition not in self._held:
                self._held[partition] = Holding(partition, thread, source, self._tools)
                self._held[partition].claim()

    def _changed(self, holding: Holding) -> None:
        if holding.stage is Stage.OVER and self._held.get(holding.partition) is holding:
            del self._held[holding.partition]
            self.post(self._reconcile)
        self._end_revocations()
        self._is_over = self._is_closing and not self._held

    def _end_revocations(self) -> None:
        """Let the Kafka group go on once nothing of what it takes away is delivered; in ZooKeeper mode at once."""
        left = []
        for partitions, over in self._revocations:
            delivering = {each for each, holding in self._held.items() if holding.delivers}
            if self._source is Source.KAFKA and self._assignment is None and partitions & delivering:
                left.append((partitions, over))
            else:
                over.set()
        self._revocations = left

    def _session_lost(self) -> None:
        self._seen = None
        for holding in list(self._held.values()):
            holding.lose("session lost")
        self._end_revocations()

    # --- offsets

    def _commit_all(self) -> None:
        """Commit every position, changed or not: it renews the lease, and keeps ZooKeeper's copy at the group's own.

        Without a lease of ZooKeeper somebody else may own these partitions, and is not to be set back.
        """
        owned = [each for each in self._held.values() if each.stage is Stage.OWNED]
        # A member that commits while its group rebalances may be refused by its generation, and then joins anew.
        is_rebalancing = self._embedded is not None and self._assignment is None
        if owned and self._zookeeper.may_deliver and not is_rebalancing:
            self._commit({each: self._fetcher.position(each.partition) for each in owned}, lambda: None)

    def _commit(self, positions: dict[Holding, int], then: Callable[[], None]) -> None:
        """Commit to Kafka, then to ZooKeeper what Kafka took; ``then`` when there is nothing more to wait for."""
        if self._embedded is None:
            for holding, offset in positions.items():
                holding.write(offset)
            then()
            return

        def answered(error: str) -> None:
            committed = [(holding.partition, offset) for holding, offset in positions.items()]
            self._lines.committed(committed, "kafka", error)
            if not error:
                for holding, offset in positions.items():
                    holding.write(offset)
            then()

        self._embedded.commit({each.partition: offset for each, offset in positions.items()}, answered)

    # --- the rest

    def _show_gauges(self, *, always: bool = False) -> None:
        owned = sum(each.delivers for each in self._held.values())
        held = len(self._assignment or ()) if self._embedded else None
        found = gauges(self._settings, owned, held, is_kafka=self._source is Source.KAFKA)
        if always or found != self._gauges:
            self._gauges = found
            self._lines.say("metrics", gauges=found)

    def _close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._timers.later(_CLOSED_WITHIN_S, self._give_up)
            self._reconcile()
            self._is_over = not self._held

    def _give_up(self) -> None:
        self._is_over = True

    def _leave(self) -> None:
        for _, over in self._revocations:
            over.set()
        self._zookeeper.deregister()
        if self._describer:
            self._describer.close()
        if self._embedded:
            self._embedded.close()
        self._zookeeper.close()
        self._fetcher.close()
