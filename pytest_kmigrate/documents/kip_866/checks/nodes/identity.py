"""Check of meta.properties: KRaft nodes start on both versions, and those of brokers stay as they are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.taken import is_without_a_disk
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.nodes.starts import last_start
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import PHASE, Event, EventKind, Recorded, is_a
from pytest_kmigrate.model.events.nodes import IdentityRead, NodeDied, NodeReady, NodeStarted, NodeStopped, NodeWiped
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_V0, _V1 = "K866-META-v0-accepted", "K866-META-v1-accepted"
_KEPT, _AFTER = "K866-META-not-modified", "K866-META-rewrite-after-final"
_FILE = "meta.properties"
_ID_OF = {"0": "broker.id", "1": "node.id"}
"""By version of the file, the key with the id of the node."""

Files = Mapping[str, Mapping[str, str]]


@dataclass
class _Seen:
    """What was read last of a node."""

    read: Event | None = None
    files: Files = field(default_factory=dict)
    is_starting: bool = False
    has_run: bool = False
    """Whether it was started since it was read."""


def _has_identities(history: History) -> bool:
    return bool(history.of(IdentityRead))


@checker(_V0, _V1, _KEPT, _AFTER, in_every_run=_has_identities, anomaly="identity changed", needs=[Capability.IDENTITY])
def node_identity_stays(history: History) -> Verdict:
    """KRaft nodes start on ``meta.properties`` of version 0 and 1; those of migrating brokers stay as they are.

    After finalization a broker may rewrite its file as version 1, with the same ids. A file on a disk that a fault took
    is looked at again when the disk is back.
    """
    rows = ByRequirement(_V0, _V1, _KEPT, _AFTER)
    nodes: dict[str, _Seen] = {}
    for event in history.events:
        seen = nodes.setdefault(str(event.node), _Seen())
        if is_a(event, NodeStarted):
            seen.is_starting = seen.has_run = True
        elif is_a(event, NodeWiped):
            nodes[str(event.node)] = _Seen()
        elif event.kind in (EventKind.NODE_READY, EventKind.NODE_DIED) and seen.is_starting:
            _judge_start(history, rows, event, seen)
            seen.is_starting = False
        elif is_a(event, IdentityRead):
            _judge_change(history, rows, event, seen)
    count = len(history.of(IdentityRead))
    text = f"{_FILE} was read {counted(count, 'time')}, and is as it has to be"
    return rows.verdict(text, f"no {_FILE} was read of a node that started in KRaft mode or migrated")


def _judge_start(history: History, rows: ByRequirement, event: Event, seen: _Seen) -> None:
    """A node that ends before it is ready and gives the file as its reason does not accept it."""
    node = last_start(history, event)
    if node is None or not node.is_kraft:
        return
    for version, row in (("0", _V0), ("1", _V1)):
        if not any(each.get("version") == version for each in seen.files.values()):
            continue
        said = event.what.said if is_a(event, NodeDied) or is_a(event, NodeStopped) else ""
        if is_a(event, NodeReady):
            rows.looked_at(row)
        elif _FILE in said:
            _violate(history, rows, row, event, f"{node} starts on version {version} of {_FILE}", f"it died: {said}")


def _judge_change(history: History, rows: ByRequirement, event: Recorded[IdentityRead], seen: _Seen) -> None:
    now = event.what.files
    before, read, has_run = seen.files, seen.read, seen.has_run
    if is_without_a_disk(history, event.node, event.at_ns):
        now = {**before, **now}
    seen.files, seen.read, seen.has_run = now, event, False
    node = last_start(history, event)
    if read is None or not has_run or node is None or node.role != "broker":
        return
    finalized_ns = min((e.at_ns for e in history.states(PHASE) if e.what.state == Phase.FINALIZED.name), default=None)
    if finalized_ns is not None and finalized_ns < event.at_ns:
        _judge_rewriting(history, rows, event, before, now)
    elif _is_migrating(history, event):
        rows.looked_at(_KEPT)
        for change in _changes(before, now):
            expected = f"{_FILE} of brokers is left as it is during the migration"
            _violate(history, rows, _KEPT, event, expected, f"{event.node}: {change}")


def _is_migrating(history: History, event: Event) -> bool:
    """Whether controllers had been started, so that a broker may have been given something to do with them."""
    started = history.of(NodeStarted)
    return any(each.what.role == "controller" and each.seq < event.seq for each in started)


def _judge_rewriting(history: History, rows: ByRequirement, event: Event, before: Files, now: Files) -> None:
    rows.looked_at(_AFTER)
    if _ids(before) != _ids(now):
        expected = f"{_FILE} has version 0 or 1, and the same ids as before"
        _violate(history, rows, _AFTER, event, expected, f"{event.node}: {'; '.join(_changes(before, now))}")


def _ids(files: Files) -> dict[str, tuple[str | None, str | None]]:
    """By log directory, the ids of node and cluster; None for those that its version does not name so."""
    return {
        name: (each.get(_ID_OF.get(each.get("version", ""), "")), each.get("cluster.id"))
        for name, each in files.items()
    }


def _changes(before: Files, now: Files) -> Iterator[str]:
    for name in sorted(before.keys() | now.keys()):
        if name not in before:
            yield f"the file was created in {name}"
        elif name not in now:
            yield f"the file in {name} is gone"
        else:
            old, new = before[name], now[name]
            for key in sorted(old.keys() | new.keys()):
                if key not in old:
                    yield f"{key} was added in {name}"
                elif key not in new:
                    yield f"{key} is gone in {name}"
                elif old[key] != new[key]:
                    yield f"{key} was {old[key]} and is {new[key]} in {name}"


def _violate(history: History, rows: ByRequirement, row: str, event: Event, expected: str, observed: str) -> None:
    rows.violated(row, timed_violation(history, expected, observed, event.at_ns, f"event {event.seq}"))
