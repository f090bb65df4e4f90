"""Check of rolling the brokers: one at a time into KRaft mode, and each controlled stop hands its leaders over."""

from collections.abc import Sequence

import numpy as np

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.grouping import partitions
from pytest_kmigrate.checkers.evidence.moments import faults_during, took_ns
from pytest_kmigrate.checkers.evidence.replicas import can_be_served, leader_since
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.procedure.coming_up import judge_start, starts
from pytest_kmigrate.documents.kip_866.checks.procedure.shutdowns import (
    ControlledStop,
    controlled_stops,
    in_log,
)
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.model.verdict import Kind, Verdict

_ONE_BY_ONE, _SHUTDOWN = "K866-PROC-roll-one-by-one", "K866-FWD-controlled-shutdown"
_CONTINUES = "K866-PROC-zk-mode-continues"
_SESSION_NS = 9_000_000_000
"""After so long the controllers take a broker for dead: leaders that move only then were not handed over."""
_LOOKED_FOR_NS = 15_000_000_000
AS_SOON_AS = "as soon as {} is stopped"
"""How each violation by leaders that were not handed over ends, with the broker's name."""
_AGREED_NS = 2_000_000_000
"""Brokers that are asked about once a second have answered by then, each in its turn."""


@checker(
    _ONE_BY_ONE,
    _SHUTDOWN,
    _CONTINUES,
    in_every_run=always,
    anomaly="leaders not handed over",
    needs=[Capability.START, Capability.RECONFIGURE],
)
def brokers_are_rolled_one_by_one(history: History) -> Verdict:
    """In dual write a broker that is stopped in a controlled way hands its leaders over, and comes up in KRaft mode.

    Handed over: the quorum's controllers record the shutdown of a broker that leads something, and each partition that
    is written to gets a write acknowledged before the broker's session would have ended. Only partitions are judged
    that have another replica in sync by then, and enough of them for a write. A shutdown proves nothing if no image of
    the metadata log was taken after it.
    Up: ready, while others are in ZooKeeper mode, or in KRaft mode already. A broker that comes up again in ZooKeeper
    mode goes on as before. Either is in sync again where it was: one that still is not, 90 s after it was ready,
    violates, as does one that is not ready by then. Under a fault nothing is judged.
    """
    rows = ByRequirement(_ONE_BY_ONE, _SHUTDOWN, _CONTINUES)
    every = [(each, _led(history, each)) for each in controlled_stops(history)]
    due = [stop for stop, led in every if led]
    stops = [(stop, led) for stop, led in every if _is_quiet(history, stop)]
    rolled = starts(history, "in KRaft mode beside the others", "kraft")
    restarted = starts(history, "in ZooKeeper mode, as before", "zookeeper")
    for stop, led in stops:
        _judge_stop(history, rows, stop, led, due)
    for start in rolled:
        judge_start(history, rows, _ONE_BY_ONE, start)
    for start in restarted:
        judge_start(history, rows, _CONTINUES, start)
    text = f"{counted(len(stops), 'controlled stop')}, {counted(len(rolled), 'start')} in KRaft mode beside the others"
    return rows.verdict(text, "no broker was rolled in dual write")


def _is_quiet(history: History, stop: ControlledStop) -> bool:
    return not faults_during(history, stop.began_ns, stop.event.at_ns + _LOOKED_FOR_NS)


def _judge_stop(
    history: History, rows: ByRequirement, stop: ControlledStop, led: set[str], due: Sequence[ControlledStop]
) -> None:
    name, at_ns = stop.broker.name, stop.event.at_ns
    if stop.event.what.how == "hung":
        observed = f"it was still there {span(took_ns(stop.event))} later, and was killed"
        violation = timed_violation(history, f"{name} ends when it is stopped", observed, at_ns, _event(stop.event))
        rows.violated(_SHUTDOWN, violation, Kind.LIVENESS)
        return
    waited = _waited_ns(history, stop.began_ns, at_ns + _LOOKED_FOR_NS)
    served = {place: each for place, each in waited.items() if can_be_served(history, place, stop.began_ns)}
    logged = in_log(history, stop, due) if led else None
    if logged is not None and not logged.is_recorded:
        expected = f"the controllers record that a leader shuts down {AS_SOON_AS.format(name)}"
        violation = timed_violation(history, expected, "no record has it", at_ns, _event(stop.event), logged.file)
        rows.violated(_SHUTDOWN, violation, Kind.LIVENESS)
    for place, waited_ns in served.items():
        if waited_ns >= _SESSION_NS:
            expected = f"writes to {place} are acknowledged again {AS_SOON_AS.format(name)}"
            observed, awaited = f"none was for {span(waited_ns)}", (stop.began_ns, stop.began_ns + waited_ns)
            violation = timed_violation(history, expected, observed, at_ns, _event(stop.event), awaited=awaited)
            rows.violated(_SHUTDOWN, violation, Kind.LIVENESS)
        elif place in led and logged is not None and logged.is_recorded:
            rows.looked_at(_SHUTDOWN)


def _led(history: History, stop: ControlledStop) -> set[str]:
    """The partitions that were written to, of which brokers agreed for a while before a stop that the broker led it."""
    written = (place for place, _ in partitions(history.operations.of(OperationKind.PRODUCE)))
    leaders = ((place, leader_since(history, place, stop.began_ns)) for place in written)
    return {
        place
        for place, found in leaders
        if found and str(found[0]) == stop.broker.node_id and stop.began_ns - found[1] >= _AGREED_NS
    }


def _waited_ns(history: History, from_ns: int, to_ns: int) -> dict[str, int]:
    """The longest that a write to each partition, sent in this time, took to be acknowledged."""
    sends = history.operations.of(OperationKind.PRODUCE)
    chosen = sends.where(
        (sends.outcome == OperationOutcome.OK) & (sends.began_ns >= from_ns) & (sends.began_ns <= to_ns)
    )
    return {place: int(np.max(mine.ended_ns - mine.began_ns)) for place, mine in partitions(chosen) if len(mine)}


def _event(event: Event) -> str:
    return f"event {event.seq}"
