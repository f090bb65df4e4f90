"""Events of an upgrade, as its checks and diagnoses meet them."""

from pytest_kmigrate.model.event import PHASE, Event, EventKind
from tests.unit.checkers.histories import event


def started(at_ms: int, node: str, kafka: str) -> Event:
    """A node starts with this release."""
    return event(EventKind.NODE_STARTED, at_ms, node, role=node.partition("-")[0], kafka=kafka)


def rolled(at_ms: int, node: str, kafka: str) -> list[Event]:
    """A node gets another release and is started with it."""
    installed = event(EventKind.NODE_INSTALLED, at_ms, node, kafka=kafka, version=kafka)
    return [installed, started(at_ms + 100, node, kafka)]


def died(at_ms: int, node: str) -> Event:
    """A node ends by itself."""
    return event(EventKind.NODE_DIED, at_ms, node, exit_code=1, said="")


def step(at_ms: int, name: str, outcome: str = "done") -> list[Event]:
    """A step of the procedure."""
    return [
        event(EventKind.STEP_BEGAN, at_ms, step=name),
        event(EventKind.STEP_ENDED, at_ms + 500, step=name, outcome=outcome, reason=""),
    ]


def reached(at_ms: int, name: str) -> Event:
    """A phase of the upgrade begins."""
    return event(EventKind.STATE, at_ms, of=PHASE, state=name)
