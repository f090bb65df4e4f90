"""Two brokers whose answers are compared: what they report differently, and for how long."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from pytest_kmigrate.documents.kip_866.checks.clients.answers import Answer

BROKERS = "brokers"
"""The key of the list of brokers; the others are names of topics, as ``topic orders``."""
_SILENT_NS = 3_000_000_000


@dataclass
class Difference:
    """Two brokers report something different, at least one of them the same all the time."""

    since_ns: int
    values: tuple[object, object]
    is_reported: bool = False


@dataclass
class Pair:
    """Two brokers. Their answers are added in the order of time."""

    bound_ns: int
    longest_ns: int = 0
    """The longest difference that ended."""
    answered: dict[str, Answer] = field(default_factory=dict)
    _open: dict[str, Difference] = field(default_factory=dict)
    _changes: deque[int] = field(default_factory=deque)

    @property
    def both(self) -> tuple[Answer, Answer] | None:
        """The last answer of each, by name of the broker; None: one has not answered yet, or not for a while."""
        if len(self.answered) < 2:
            return None
        first, second = (self.answered[node] for node in sorted(self.answered))
        return first, second

    def add(self, answer: Answer) -> None:
        """Add an answer of one of them."""
        if any(answer.at_ns - each.at_ns > _SILENT_NS for each in self.answered.values()):
            for held in (self.answered, self._open, self._changes):
                held.clear()
        former = self.answered.get(answer.content.node)
        self.answered[answer.content.node] = answer
        if former is not None:
            self._changes.extend(answer.at_ns for _ in _unlike(former, answer))
        if self.both is not None:
            self._follow(answer.at_ns, dict(_unlike(*self.both)))

    def ripe_changes(self, now_ns: int) -> int:
        """How many changes either reported for which the other one has had the time allowed; each is counted once."""
        count = 0
        while self._changes and now_ns - self._changes[0] > self.bound_ns:
            self._changes.popleft()
            count += 1
        return count

    def overdue(self, now_ns: int) -> Iterator[tuple[str, int]]:
        """What they have reported differently for too long, with the length; each difference once."""
        for key, each in self._open.items():
            if not each.is_reported and now_ns - each.since_ns > self.bound_ns:
                each.is_reported = True
                yield key, now_ns - each.since_ns

    def _follow(self, now_ns: int, differing: dict[str, tuple[object, object]]) -> None:
        for key in self._open.keys() - differing.keys():
            self.longest_ns = max(self.longest_ns, now_ns - self._open.pop(key).since_ns)
        for key, values in differing.items():
            before = self._open.get(key)
            if before is None or all(was != now for was, now in zip(before.values, values, strict=True)):
                self._open[key] = Difference(now_ns, values)


def _unlike(first: Answer, second: Answer) -> Iterator[tuple[str, tuple[object, object]]]:
    one, other = first.content, second.content
    if one.brokers != other.brokers:
        yield BROKERS, (one.brokers, other.brokers)
    if one.topics is not other.topics and one.topics != other.topics:
        for name in sorted(one.topics.keys() | other.topics.keys()):
            if one.topics.get(name) != other.topics.get(name):
                yield f"topic {name}", (one.topics.get(name), other.topics.get(name))
