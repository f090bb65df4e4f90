"""elections-wait-for-zookeeper: brokers in ZooKeeper mode learn of a new leader when ZooKeeper has been written."""

import re

from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.checkers.evidence.expectations import Unmet, claims_of, lists_in
from pytest_kmigrate.checkers.evidence.logs import line_to, logs_of, was_logged_between
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_ELECTIONS = "K866-FAIL-zk-down-elections"
_DOWN = (EventKind.NODE_STOPPED, EventKind.NODE_DIED)


@diagnosis("elections-wait-for-zookeeper")
def leaders_were_elected_and_not_told(history: History, verdict: Verdict) -> bool:
    """The controllers fenced the broker that is down, while no majority of ZooKeeper's servers was up all the time."""
    return all_unmet(history, verdict, lambda event: _waits_for_zookeeper(history, event))


def _waits_for_zookeeper(history: History, event: Unmet) -> bool:
    both, began_ns = lists_in(event), event.at_ns - event.what.took_ms * 1_000_000
    if both is None or both[0] or _ELECTIONS not in claims_of(history, event):
        return False
    ensemble = {node for node, role in roles(history).items() if role == "zookeeper"}
    away = _down_all_the_time(history, began_ns, event.at_ns)
    brokers = {node: at_ns for node, at_ns in away.items() if node.startswith("broker-")}
    is_lost = 2 * len(away.keys() & ensemble) >= len(ensemble) > 0
    return is_lost and bool(brokers) and all(_was_fenced(history, *each, event.at_ns) for each in brokers.items())


def _down_all_the_time(history: History, from_ns: int, to_ns: int) -> dict[str, int]:
    """The nodes that were down, each since when."""
    changes = [each for each in history.of(*_DOWN, EventKind.NODE_STARTED) if each.at_ns <= to_ns]
    last = {str(each.node): each for each in changes}
    return {node: each.at_ns for node, each in last.items() if each.kind in _DOWN and each.at_ns <= from_ns}


def _was_fenced(history: History, broker: str, down_ns: int, to_ns: int) -> bool:
    """Whether controllers fenced a broker since it went down: they may have fenced it before."""
    fenced = re.compile(rf"Fencing broker {broker.removeprefix('broker-')} because its session")
    logs = logs_of(history, "controller")
    lines = ((line_to(log, each.end()), node) for node, log in logs for each in fenced.finditer(log))
    return any(was_logged_between(history, line, down_ns, to_ns, node) for line, node in lines)
