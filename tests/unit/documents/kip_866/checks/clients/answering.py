"""Brokers that answer clients in dual write: KRaft took over after 10 s, brokers 0 and 1 are asked each second."""

from collections.abc import Callable, Iterable, Mapping

from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import ClientMetadata, History
from tests.unit.checkers.histories import MS, history, znode
from tests.unit.documents.kip_866.checks.migrated import CLAIM, TAKEOVER_MS
from tests.unit.documents.kip_866.checks.nodes import broker, controller, migrating

TOPICS = {"orders": "id; 0 leader=0 isr=0,1"}
OF_THREE = [controller(), *migrating(0, 0), *migrating(0, 1), *migrating(0, 2)]
MIXED = [controller(), *migrating(0, 0), *broker(0, 1, "kraft"), *migrating(0, 2)]
FROM_S, UNTIL_S = 12, 60


def answer(
    at_s: float,
    number: int = 0,
    *,
    controller: int | None = None,
    brokers: tuple[int, ...] = (0, 1, 2),
    topics: Mapping[str, str] = TOPICS,
) -> ClientMetadata:
    """What a broker answered; by default each broker in turn is the controller."""
    drawn = int(at_s) % 3 if controller is None else controller
    return ClientMetadata(int(at_s * 1000) * MS, f"broker-{number}", drawn, brokers, topics)


def each_second(*answers: Callable[[float], ClientMetadata], until_s: int = UNTIL_S) -> list[ClientMetadata]:
    """Answers at each second after the take-over."""
    return [of_one(second) for second in range(FROM_S, until_s) for of_one in answers]


def answered(answers: Iterable[ClientMetadata], events: Iterable[Event] = OF_THREE, *, claim: str = CLAIM) -> History:
    """A run with these answers."""
    return history(events=events, znodes=[znode(TAKEOVER_MS, "/controller", claim)], client_metadata=tuple(answers))
