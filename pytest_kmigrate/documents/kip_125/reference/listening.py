"""What else follows from a description of the group: the user's ConsumerRebalanceListener, and a warning."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from pytest_kmigrate.documents.kip_125.reference import decision
from pytest_kmigrate.documents.kip_125.reference.decision import Source, TopicPartition
from pytest_kmigrate.documents.kip_125.reference.describing import Describer, Description
from pytest_kmigrate.documents.kip_125.reference.lines import Lines, plain
from pytest_kmigrate.documents.kip_125.reference.zookeeper import Snapshot

_AGAIN_S = 0.2
_DESCRIBED_WITHIN_S = 5.0


@dataclass(frozen=True)
class State:
    """What a connector knows when its listener is called."""

    consumer: str
    source: Source
    seen: Snapshot
    assignment: frozenset[TopicPartition]
    """What its embedded consumer holds."""


class Listener:
    """The user's listener of one connector; called in its loop, so that nothing is read meanwhile."""

    def __init__(
        self,
        lines: Lines,
        describer: Describer | None,
        state: Callable[[], State | None],
        later: Callable[[float, Callable[[], None]], None],
    ) -> None:
        """``state`` is None while the connector is of no group."""
        self._lines = lines
        self._describer = describer
        self._state = state
        self._later = later
        self._starting: list[Callable[[], None]] = []
        self._until = 0.0

    def before_releasing(self, partitions: Collection[TopicPartition]) -> None:
        """Call it: nothing of these is fetched any more, and their owner nodes are there yet."""
        if partitions:
            self._lines.say("before_releasing_partitions", partitions=plain(partitions))

    def before_starting(self, start: Callable[[], None]) -> None:
        """Have a partition, which is owned, fetched after the listener was called; once for all that wait."""
        self._starting.append(start)
        if len(self._starting) == 1:
            self._until = time.monotonic() + _DESCRIBED_WITHIN_S
            self._look()

    def _look(self) -> None:
        state = self._state()
        if state is None:
            self._later(_AGAIN_S, self._look)
        elif state.source is Source.ZOOKEEPER or self._describer is None:
            self._call(state, decision.by_zookeeper(state.seen.partitions, state.seen.subscriptions))
        else:
            self._describer.describe(self._described)

    def _described(self, description: Description) -> None:
        """A description that differs from the own assignment is of another generation: ask again."""
        state = self._state()
        if state is None or state.source is Source.ZOOKEEPER:
            self._look()
        elif description.is_stable and description.members.get(state.consumer) == state.assignment:
            self._call(state, decision.by_kafka(description.members, state.seen.subscriptions))
        elif time.monotonic() < self._until:
            self._later(_AGAIN_S, self._look)
        else:
            text = "the group was not described as it is assigned; its listener gets the own partitions only"
            self._lines.say("warning", code="group-not-described", text=text)
            self._call(state, decision.by_kafka({state.consumer: state.assignment}, state.seen.subscriptions))

    def _call(self, state: State, threads: dict[TopicPartition, str]) -> None:
        assignment: dict[str, dict[str, str]] = {}
        for (topic, partition), thread in sorted(threads.items()):
            assignment.setdefault(topic, {})[str(partition)] = thread
        self._lines.say("before_starting_fetchers", consumer_id=state.consumer, assignment=assignment)
        starting, self._starting = self._starting, []
        for start in starting:
            start()


class MixWatch:
    """Warns of a group that the document does not support: plain KafkaConsumers while ZooKeeper decides."""

    def __init__(self, lines: Lines, describer: Describer, state: Callable[[], State | None]) -> None:
        self._lines = lines
        self._describer = describer
        self._state = state
        self._warned_of = frozenset[str]()

    def look(self) -> None:
        """Ask for the group's members if ZooKeeper decides."""
        state = self._state()
        if state is not None and state.source is Source.ZOOKEEPER:
            self._describer.describe(self._described)

    def _described(self, description: Description) -> None:
        state = self._state()
        if state is None or state.source is not Source.ZOOKEEPER:
            return
        plain_members = frozenset(description.members.keys() - state.seen.migrating)
        if plain_members and plain_members != self._warned_of:
            named = ", ".join(sorted(plain_members))
            text = f"partitions are read twice: ZooKeeper decides, and Kafka's group has {named}"
            self._lines.say("warning", code="unsupported-mix", text=text)
        self._warned_of = plain_members
