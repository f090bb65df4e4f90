"""Nodes of a migration as events record them."""

from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.event import Event, EventKind
from tests.unit.checkers.histories import event


def broker(at_ms: int, number: int = 1, mode: str = "zookeeper", ready_ms: int | None = 0) -> list[Event]:
    """A broker was started, and was ready so many milliseconds later (None: never)."""
    name = f"broker-{number}"
    started = event(EventKind.NODE_STARTED, at_ms, name, role="broker", mode=mode, kafka="3.9.1")
    ready = [] if ready_ms is None else [event(EventKind.NODE_READY, at_ms + ready_ms, name, took_ms=ready_ms)]
    return [started, *ready]


def migrating(at_ms: int, number: int = 1) -> list[Event]:
    """A broker was given the migration flag and started, and was ready at once."""
    return [with_flag(at_ms, f"broker-{number}"), *broker(at_ms, number)]


def with_flag(at_ms: int, node: str) -> Event:
    """A node was given the migration flag."""
    return event(EventKind.NODE_RECONFIGURED, at_ms, node, changed={MIGRATION_FLAG: "true"}, mode=None)


def stopped(at_ms: int, node: str = "broker-1", how: str = "controlled", took_ms: int = 100) -> Event:
    """A node was stopped."""
    return event(EventKind.NODE_STOPPED, at_ms, node, how=how, exit_code=143, took_ms=took_ms, said="")


def controller(at_ms: int = 0, number: int = 3000) -> Event:
    """A controller was started."""
    return event(EventKind.NODE_STARTED, at_ms, f"controller-{number}", role="controller", mode=None, kafka="3.9.1")
