"""Znode changes: what a znode held from then on, and how a finding names it."""

import json
from collections.abc import Iterable
from typing import Any

from pytest_kmigrate.model.events.faults import FaultBegan
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import History, Transaction, Write, ZnodeChange
from pytest_kmigrate.model.keeping import kept


@kept
def held_in(change: ZnodeChange | Write) -> dict[str, Any]:
    """The JSON object that the znode held, or that was written; empty when it is gone or holds something else."""
    try:
        held = json.loads(change.data or "")
    except ValueError:
        return {}
    return held if isinstance(held, dict) else {}


def was_deleted(change: ZnodeChange, former: ZnodeChange | None) -> bool:
    """Whether the path was deleted between two sightings, or is now: every write raises the version, none lowers it.

    A watcher notified of a deletion may look too late to see it: a broker creates ``/controller_epoch`` at once.
    """
    return change.data is None or (former is not None and 0 <= change.version <= former.version)


def untampered(history: History, *paths: str) -> list[ZnodeChange]:
    """What the paths held until a test put something of its own into one of them."""
    ours = {f"tamper({path})" for path in paths}
    until_ns = min((e.at_ns for e in history.of(FaultBegan) if e.what.fault in ours), default=None)
    return [each for each in history.znodes if each.path in paths and (until_ns is None or each.at_ns < until_ns)]


def since_controllers(history: History, changes: Iterable[ZnodeChange]) -> list[ZnodeChange]:
    """Those seen since the first KRaft controller started: what a znode held before is a circumstance of the run.

    All of a run that began where controllers had been before, from a checkpoint or on the cluster of a scene.
    """
    started = history.of(NodeStarted)
    if history.header.inherited_offset >= 0 or not started:
        return list(changes)
    since_ns = min((each.at_ns for each in started if each.what.role == "controller"), default=None)
    return [each for each in changes if since_ns is not None and each.at_ns >= since_ns]


def writes_to(history: History, path: str) -> list[tuple[Transaction, Write]]:
    """What was written to a path, each with the transaction of ZooKeeper's that it is part of."""
    return [(each, write) for each in history.transactions for write in each.changes if write.path == path]


def evidence_of(change: ZnodeChange) -> str:
    """The change as evidence names it."""
    return f"znode {change.path} version {change.version}"
