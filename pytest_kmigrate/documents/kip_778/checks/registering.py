"""Check that brokers register their log directories as the level rises to one that asks for them, without a restart."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_kmigrate.checkers.controllers.lives import plays, roles
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.checkers.metadata.registrations import AnnouncedLog, announced_at_end
from pytest_kmigrate.documents.kip_778.levels import FIRST_LEVEL, FIRST_LEVEL_WITH_DIRECTORIES, is_level
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import REGISTER_BROKER, UNREGISTER_BROKER
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.model.verdict import Kind, Verdict

_ROW = "K778-UPG-takes-effect-online"
_LEVEL = "CurrentMetadataVersion"
_WITHIN_NS = 10_000_000_000
"""How long a broker has known the level by then: as long as the tests give every node to take a level on."""
_AWAY = (EventKind.NODE_STOPPED, EventKind.NODE_DIED, EventKind.NODE_PAUSED)
_BREAKS = (EventKind.NODE_STARTED, *_AWAY)


@dataclass
class _Asked:
    """The processes of brokers whose registration lacked the directories as a level asked for them."""

    evidence: str = ""
    read_ns: int = 0
    """The log that says so, and when it was read."""
    registered: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    """By broker, the data of its last registration."""
    processes: dict[tuple[int, str], bool] = field(default_factory=dict)
    """By broker and incarnation, whether it has registered them since."""

    def rose(self) -> None:
        """A level asks for them from now on."""
        lacking = (data for data in self.registered.values() if not data.get("logDirs"))
        self.processes |= {_process(data): False for data in lacking}

    def fell(self) -> None:
        """No level asks for them any more."""
        self.processes = {process: has for process, has in self.processes.items() if has}

    def register(self, data: Mapping[str, Any]) -> None:
        """A broker is registered, for the first time or again."""
        self.registered[data["brokerId"]] = data
        if _process(data) in self.processes and data.get("logDirs"):
            self.processes[_process(data)] = True

    def still(self) -> list[int]:
        """The brokers whose registered process has not."""
        last = {_process(data) for data in self.registered.values()}
        return [broker for (broker, process), has in self.processes.items() if not has and (broker, process) in last]


def _process(data: Mapping[str, Any]) -> tuple[int, str]:
    return data["brokerId"], data["incarnationId"]


@kept
def _asked(history: History) -> _Asked:
    """By the longest log at the end of the run; what a level of before the run asked for is none of it."""
    logs = announced_at_end(history)
    return _asked_in(max(logs, key=lambda each: each.end)) if logs else _Asked()


def _asked_in(log: AnnouncedLog) -> _Asked:
    asked, level = _Asked(log.evidence, log.at_ns), FIRST_LEVEL
    for each in log.records:
        if is_level(each):
            before, level = level, int(each["data"]["featureLevel"])
            if before < FIRST_LEVEL_WITH_DIRECTORIES <= level and each["offset"] > log.inherited:
                asked.rose()
            elif level < FIRST_LEVEL_WITH_DIRECTORIES:
                asked.fell()
        # A snapshot of a lower level leaves out the directories of a process that has registered them.
        elif each["type"] == REGISTER_BROKER and each["offset"] > log.snapshot:
            asked.register(each["data"])
        elif each["type"] == UNREGISTER_BROKER:
            asked.registered.pop(each["data"]["brokerId"], None)
    return asked


@checker(
    _ROW,
    in_every_run=lambda history: bool(_asked(history).processes),
    anomaly="broker behind its level",
    needs=[Capability.METADATA_LOG, Capability.METRICS],
)
def brokers_register_what_a_level_asks_for(history: History) -> Verdict:
    """A broker registers its log directories, without a restart, as the level rises to one that asks for them.

    Levels do from 3.7-IV2 on. By the metadata log at the end of the run: the process that was registered without them
    is registered again. Violated if it is not, though it was ready, has reported such a level for 10 s, ran all the
    while, no controller went away since it last reported a lower one, and no fault was in force then or for 10 s
    before. What a snapshot alone has, with which the log begins, is no such process: it may leave directories out.

    Source: K778-UPG-takes-effect-online.
    """
    rows, asked = ByRequirement(_ROW), _asked(history)
    anew = sum(asked.processes.values())
    rows.looked_at(_ROW, anew)
    for broker in asked.still():
        for node, since_ns, until_ns in _at_such_a_level(history, broker, asked.read_ns):
            expected = f"{node} registers its log directories within {span(_WITHIN_NS)} of the level that asks for them"
            observed = f"it had not, {span(until_ns - since_ns)} after it first reported such a level"
            awaited = (since_ns, until_ns)
            found = timed_violation(history, expected, observed, until_ns, asked.evidence, awaited=awaited)
            rows.violated(_ROW, found, Kind.LIVENESS)
    text = f"{counted(anew, 'broker')} registered the log directories that a level asks for, without a restart"
    return rows.verdict(text, "no broker was registered without log directories as a level asked for them")


def _at_such_a_level(history: History, broker: int, read_ns: int) -> Iterable[tuple[str, int, int]]:
    """The broker's node, and from when until when its last process, which was ready, reported such levels only.

    Until the log was read: what came later is not in it.
    """
    for node in _nodes(history, broker):
        ready = [each.at_ns for each in history.of(EventKind.NODE_READY) if each.node == node]
        if not ready or any(each.node == node and each.at_ns > ready[-1] for each in history.of(*_BREAKS)):
            continue
        levels = [(each.at_ns, each.values.get(_LEVEL)) for each in history.samples if each.node == node]
        known = sorted((at_ns, level) for at_ns, level in levels if level is not None and ready[-1] < at_ns <= read_ns)
        lower = max((at_ns for at_ns, level in known if level < FIRST_LEVEL_WITH_DIRECTORIES), default=ready[-1])
        such = [at_ns for at_ns, _ in known if at_ns > lower]
        if not such or such[-1] - such[0] < _WITHIN_NS or _controllers_went(history, lower, such[-1]):
            continue
        if not faults_during(history, such[0] - _WITHIN_NS, such[-1]):
            yield node, such[0], such[-1]


def _controllers_went(history: History, from_ns: int, to_ns: int) -> bool:
    """Whether a controller stopped, died or stood still, to which a broker may have had to register."""
    controllers = {name for name, role in roles(history).items() if plays(role, Role.CONTROLLER)}
    return any(each.node in controllers and from_ns <= each.at_ns <= to_ns for each in history.of(*_AWAY))


def _nodes(history: History, broker: int) -> list[str]:
    """The node that runs the broker of this id."""
    brokers = (name for name, role in roles(history).items() if plays(role, Role.BROKER))
    return [name for name in brokers if name.rpartition("-")[2] == str(broker)]
