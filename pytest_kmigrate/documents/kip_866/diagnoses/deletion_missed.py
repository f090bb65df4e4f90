"""kmigrate-13: a broker in ZooKeeper mode that was fenced never learns what was deleted meanwhile."""

import re
from collections.abc import Iterable

from pytest_kmigrate.checkers.evidence.expectations import all_unmet, lists_in
from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict, Violation

_FENCED_AND_BACK = (
    r"Fencing broker {broker} because its session"
    r"(?:(?!RegisterBrokerRecord [^\n]*broker {broker}:).)*?Replayed RemoveTopicRecord"
    r"(?:(?!RegisterBrokerRecord [^\n]*broker {broker}:).)*?BrokerRegistrationChangeRecord [^\n]*broker {broker}: "
    r"[^\n]*fenced=-1"
)


_STILL_HAS = (
    re.compile(r"broker-\d+ in \w+ mode reports nothing more; broker-(\d+) in ZooKeeper mode reports (?!nothing)"),
    re.compile(r"broker-(\d+) in ZooKeeper mode reports (?!nothing).+; broker-\d+ in \w+ mode reports nothing more"),
)
"""What two brokers report of a topic that only the one named here still has."""


@diagnosis("kmigrate-13")
def deletion_was_missed_while_fenced(history: History, verdict: Verdict) -> bool:
    """The active controller fenced a broker, deleted a topic and unfenced the broker, which had not registered anew.

    It explains what that broker still has while the same controller is active.
    """
    if verdict.check != "clients_are_told_the_same":
        return all_unmet(history, verdict, lambda event: _is_of_missed_deletion(history, event))
    known = [_still_has(history, each) for each in verdict.violations]
    return len(known) == verdict.count > 0 and all(known)


def _still_has(history: History, violation: Violation) -> bool:
    found = next((found for each in _STILL_HAS if (found := each.match(violation.observed))), None)
    return found is not None and _missed(history, violation.at_ns or 0, [found[1]])


def _is_of_missed_deletion(history: History, event: Event) -> bool:
    both = lists_in(event)
    if both is None or both[0] or not both[1] or not all(isinstance(each, int) for each in both[1]):
        return False
    return _missed(history, event.at_ns, both[1])


def _missed(history: History, at_ns: int, brokers: Iterable[object]) -> bool:
    log = log_of(history, _active_at(history, at_ns))
    missed = [re.compile(_FENCED_AND_BACK.format(broker=each), re.DOTALL) for each in brokers]
    return all(each.search(log) for each in missed)


def _active_at(history: History, at_ns: int) -> str:
    seen = [each for each in history.of(EventKind.ACTIVE_CONTROLLER) if each.at_ns <= at_ns]
    return str(seen[-1].node) if seen else ""
