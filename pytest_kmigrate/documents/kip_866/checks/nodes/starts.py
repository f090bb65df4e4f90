"""How a node was started last: its role, mode and release, and whether its migration is enabled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.event import Event, is_a
from pytest_kmigrate.model.events.nodes import NodeReconfigured, NodeStarted
from pytest_kmigrate.model.history import History


@dataclass(frozen=True)
class Started:
    """One start of a node."""

    node: str
    role: str
    mode: str | None
    kafka: str
    is_migrating: bool
    """Whether the migration is enabled in its properties."""

    @property
    def is_kraft(self) -> bool:
        """Whether it keeps its metadata in KRaft."""
        return self.role in ("controller", "combined") or self.mode == "kraft"

    def __str__(self) -> str:
        enabled = " with the migration enabled" if self.is_migrating else ""
        if self.role != "broker":
            return f"{self.node}{enabled}"
        return f"{self.node} in {'KRaft' if self.is_kraft else 'ZooKeeper'} mode{enabled}"


def last_start(history: History, at: Event) -> Started | None:
    """The last start of an event's node before the event; None if it was not seen."""
    return _last_of(history, [each for each in history.events if each.node == at.node and each.seq < at.seq])


def start_at(history: History, node: str, at_ns: int) -> Started | None:
    """The last start of a node up to an instant; None if it was not seen."""
    return _last_of(history, [each for each in history.events if each.node == node and each.at_ns <= at_ns])


def _last_of(history: History, before: Sequence[Event]) -> Started | None:
    started = next((each for each in reversed(before) if is_a(each, NodeStarted)), None)
    if started is None:
        return None
    mode = started.what.mode
    flags = [
        changed[MIGRATION_FLAG] == "true"
        for each in before
        if is_a(each, NodeReconfigured) and each.seq < started.seq
        if isinstance(changed := each.what.changed, Mapping) and MIGRATION_FLAG in changed
    ]
    # Of nodes that came with a checkpoint the configuration was not observed: there all but KRaft brokers migrate.
    unseen = history.header.inherited_offset >= 0 and mode != "kraft"
    return Started(
        str(started.node),
        started.what.role,
        None if mode is None else str(mode),
        started.what.kafka,
        flags[-1] if flags else unseen,
    )
