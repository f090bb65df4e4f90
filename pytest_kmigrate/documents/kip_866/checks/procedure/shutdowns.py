"""Controlled shutdowns: which ones the quorum's controllers were asked for, as the metadata log records them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.evidence.moments import phase_at, took_ns
from pytest_kmigrate.documents.kip_866.checks.broker_modes import BrokerAt, brokers_at
from pytest_kmigrate.documents.kip_866.checks.registration.records import (
    MIGRATING,
    REGISTER,
    REGISTRATION_CHANGE,
    LogRecords,
    records_of_logs,
)
from pytest_kmigrate.documents.kip_866.checks.settled import DUAL_WRITE
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.nodes import NodeStopped
from pytest_kmigrate.model.history import History


@dataclass(frozen=True)
class ControlledStop:
    """A broker in ZooKeeper mode that was stopped in a controlled way, once KRaft controllers are in charge."""

    event: Recorded[NodeStopped]
    broker: BrokerAt
    began_ns: int
    """When it was asked to stop."""


@dataclass(frozen=True)
class InLog:
    """Whether an image of the metadata log has the controlled shutdown of a stop before it, and the image's file."""

    is_recorded: bool
    file: str


def controlled_stops(history: History) -> list[ControlledStop]:
    """All of them, in order, also those that ended by being killed."""
    found = []
    for event in history.of(NodeStopped):
        if event.what.how in ("controlled", "hung") and phase_at(history, event.at_ns) in DUAL_WRITE:
            began_ns = event.at_ns - took_ns(event)
            mine = next((each for each in brokers_at(history, began_ns) if each.name == event.node), None)
            if mine is not None and mine.is_migrating:
                found.append(ControlledStop(event, mine, began_ns))
    return found


def in_log(history: History, stop: ControlledStop, due: Sequence[ControlledStop]) -> InLog | None:
    """What the first image of the same metadata log after a stop has of it; None without such an image.

    ``due``: the stops of which there must be a record; a broker that leads nothing is let go without one. A record
    names the registration of the broker, and not the stop. So one is missing if the log has fewer registrations in
    migration mode with a controlled shutdown than there were such stops up to this one.
    """
    starts = life_starts_ns(history)
    life = life_at(starts, stop.event.at_ns)
    logs = (each for each in records_of_logs(history) if each.began_ns > stop.event.at_ns)
    log = next((each for each in logs if life_at(starts, each.began_ns) == life), None)
    # Runs recorded by an earlier release of ours list no changes.
    if log is None or not any(each["type"] == REGISTRATION_CHANGE for each in (*log.inherited, *log.records)):
        return None
    until = [
        each
        for each in due
        if each.broker.name == stop.broker.name
        and life_at(starts, each.event.at_ns) == life
        and each.event.at_ns <= stop.event.at_ns
    ]
    is_recorded = len(_recorded(log, stop.broker)) >= len(until)
    # A snapshot has registrations as they are, and not what became of former ones.
    return InLog(is_recorded, log.file) if is_recorded or log.has_each_own else None


def _recorded(log: LogRecords, broker: BrokerAt) -> set[int]:
    """The epochs of a broker's registrations in migration mode that have a controlled shutdown."""

    def epochs(records: Iterable[Mapping[str, Any]], key: str) -> set[int]:
        mine = (each["data"] for each in records if str(each["data"].get("brokerId")) == broker.node_id)
        return {each["brokerEpoch"] for each in mine if each.get(key)}

    # Who was registered before the run, on the cluster of an earlier one, is shut down in it.
    registered = epochs([*log.inherited, *log.of(REGISTER)], MIGRATING)
    return registered & epochs(log.of(REGISTRATION_CHANGE), "inControlledShutdown")
