"""One partition that a member wants: from the claim of its owner node to its release."""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytest_kmigrate.documents.kip_125.reference.decision import Source, TopicPartition
from pytest_kmigrate.documents.kip_125.reference.embedded import EmbeddedConsumer
from pytest_kmigrate.documents.kip_125.reference.fetching import Fetcher
from pytest_kmigrate.documents.kip_125.reference.lines import Lines
from pytest_kmigrate.documents.kip_125.reference.zookeeper import ZookeeperLink

RETRY_S = 0.2
_RELEASED_WITHIN_S = 1.0
"""How long a release waits for its commit: without it records are read twice, but none is lost."""


class Stage(enum.Enum):
    """How far a holding is."""

    CLAIMING = enum.auto()
    STARTING = enum.auto()
    OWNED = enum.auto()
    RELEASING = enum.auto()
    LEAVING = enum.auto()
    OVER = enum.auto()


@dataclass
class Tools:
    """What a holding works with; all of it is called in the connector's loop."""

    zookeeper: ZookeeperLink
    embedded: EmbeddedConsumer | None
    fetcher: Fetcher
    lines: Lines
    later: Callable[[float, Callable[[], None]], None]
    commit: Callable[[dict["Holding", int], Callable[[], None]], None]
    changed: Callable[["Holding"], None]
    """Called when the holding delivers no more, and when it is over."""
    before_fetching: Callable[[Callable[[], None]], None]
    """Does what it is given when the user's listener, if there is one, was called."""


class Holding:
    """Is its own ownership epoch: an answer that comes when another holding took its place is dropped."""

    def __init__(self, partition: TopicPartition, thread: str, source: Source, tools: Tools) -> None:
        self.partition = partition
        self.stage = Stage.CLAIMING
        self._thread = thread
        self._source = source
        self._tools = tools
        self._is_wanted, self._why = True, ""
        self._is_asking = False
        self._is_writing, self._next_write = False, -1
        self._version = -1
        self._stored: int | None = None
        self._committed: int | None = None
        self._to_look_up = 0

    @property
    def delivers(self) -> bool:
        """Whether records of it may still reach the application, or their commit is under way."""
        return self.stage in (Stage.OWNED, Stage.RELEASING)

    # --- claim: the owner node is the lock in both modes, as members see a change of mode at different times

    def claim(self) -> None:
        """Try to create the owner node, again and again as long as it is wanted."""
        if self.stage is not Stage.CLAIMING or self._is_asking:
            return
        self._is_asking = True
        self._tools.zookeeper.own(self.partition, self._thread, self._claimed)

    def _claimed(self, answer: Any) -> None:
        self._is_asking = False
        if self.stage is not Stage.CLAIMING:
            return
        if answer is True:
            if self._is_wanted:
                self._start()
            else:
                self._leave()
        elif answer is False and not self._is_wanted:
            self._end()
        else:
            self._tools.later(RETRY_S, self.claim)

    # --- start: from the larger of both offsets, and that is written before the first record is fetched

    def _start(self) -> None:
        self.stage = Stage.STARTING
        self._stored = self._committed = None
        self._to_look_up = 2 if self._tools.embedded else 1
        self._tools.zookeeper.offset(self.partition, self._read)
        if self._tools.embedded:
            self._tools.embedded.committed(self.partition, self._found)

    def _read(self, answer: Any) -> None:
        if self.stage is not Stage.STARTING:
            return
        if isinstance(answer, Exception):
            self._tools.later(RETRY_S, lambda: self._tools.zookeeper.offset(self.partition, self._read))
            return
        self._stored, self._version = answer
        self._looked_up()

    def _found(self, committed: int | None) -> None:
        if self.stage is Stage.STARTING:
            self._committed = committed
            self._looked_up()

    def _looked_up(self) -> None:
        self._to_look_up -= 1
        if self._to_look_up:
            return
        known = [each for each in (self._stored, self._committed) if each is not None]
        if known:
            self._begin(max(known))
        else:
            self._tools.fetcher.first(self.partition, self._begin)

    def _begin(self, position: int) -> None:
        """Write the position, even if it is stored already.

        A former owner that still acts holds the version that this one read; and an offset that lags behind Kafka's
        would send an older consumer back that takes over later.
        """
        if self.stage is Stage.STARTING:
            begun = lambda answer: self._begun(position, answer)  # noqa: E731
            self._tools.zookeeper.store(self.partition, position, self._version, begun)

    def _begun(self, position: int, answer: Any) -> None:
        if self.stage is not Stage.STARTING:
            return
        if isinstance(answer, Exception):
            self._tools.later(RETRY_S, self._start_again)
            return
        self._version = answer
        self._tools.before_fetching(lambda: self._fetch(position))

    def _fetch(self, position: int) -> None:
        if self.stage is not Stage.STARTING:
            return
        self.stage = Stage.OWNED
        self._tools.lines.assigned(self.partition, position, str(self._source))
        self._tools.fetcher.add(self.partition, position)
        # Where Kafka decides nothing is delivered without a lease of the coordinator, and a commit is what renews it.
        if self._source is Source.KAFKA:
            self._tools.commit({self: position}, lambda: None)

    def _start_again(self) -> None:
        if self.stage is Stage.STARTING:
            self._start()

    # --- release: no record any more, then the commit, then the owner node

    def release(self, why: str) -> None:
        """Give the partition up; ``changed`` follows when nothing is delivered any more, and when it is over."""
        if not self._is_wanted or self.stage is Stage.OVER:
            return
        self._is_wanted, self._why = False, why
        if self.stage is Stage.CLAIMING and not self._is_asking:
            self._end()
        elif self.stage is Stage.STARTING:
            self._leave()
        elif self.stage is Stage.OWNED:
            self.stage = Stage.RELEASING
            position = self._tools.fetcher.remove(self.partition)
            self._tools.later(_RELEASED_WITHIN_S, lambda: self._leave_unanswered(position))
            self._tools.commit({self: position}, self._leave_if_written)

    def lose(self, why: str) -> None:
        """Its session is gone, and its owner node with it."""
        if self.stage is Stage.OWNED:
            self._tools.fetcher.remove(self.partition)
        if self.delivers:
            self._tools.lines.revoked([self.partition], why)
        self._end()

    def _leave_unanswered(self, position: int) -> None:
        if self.stage is Stage.RELEASING:
            self._tools.lines.committed([(self.partition, position)], "kafka", "_TIMED_OUT")
            self._leave()

    def _leave_if_releasing(self) -> None:
        if self.stage is Stage.RELEASING:
            self._leave()

    def _leave_if_written(self) -> None:
        if not self._is_writing:
            self._leave_if_releasing()

    def _leave(self) -> None:
        had_begun = self.stage is Stage.RELEASING
        self.stage = Stage.LEAVING
        if had_begun:
            self._tools.lines.revoked([self.partition], self._why)
        self._tools.changed(self)
        self._disown()

    def _disown(self) -> None:
        if self.stage is Stage.LEAVING:
            self._tools.zookeeper.disown(self.partition, self._disowned)

    def _disowned(self, wrong: Exception | None) -> None:
        if self.stage is not Stage.LEAVING:
            return
        if wrong is None:
            self._end()
        else:
            self._tools.later(RETRY_S, self._disown)

    def _end(self) -> None:
        self.stage = Stage.OVER
        self._tools.changed(self)

    # --- ZooKeeper's offset: one write at a time, each over the version of the one before

    def write(self, offset: int) -> None:
        """Store an offset in ZooKeeper; the caller made sure that Kafka has it."""
        if not self.delivers:
            text = f"{self.partition}: {offset}, after its release"
            self._tools.lines.say("warning", code="commit-dropped", text=text)
        elif self._is_writing:
            self._next_write = max(self._next_write, offset)
        else:
            self._is_writing = True
            written = lambda answer: self._written(offset, answer)  # noqa: E731
            self._tools.zookeeper.store(self.partition, offset, self._version, written)

    def _written(self, offset: int, answer: Any) -> None:
        self._is_writing = False
        error = type(answer).__name__ if isinstance(answer, Exception) else ""
        if not error:
            self._version = answer
        self._tools.lines.committed([(self.partition, offset)], "zookeeper", error)
        following, self._next_write = self._next_write, -1
        if self.delivers and following >= 0:
            self.write(following)
        elif self.stage is Stage.RELEASING:
            self._leave()
