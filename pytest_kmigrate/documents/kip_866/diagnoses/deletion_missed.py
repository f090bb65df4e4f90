"""kmigrate-13: a broker in ZooKeeper mode that was fenced never learns what was deleted meanwhile."""

import re

from pytest_kmigrate.checkers.evidence.expectations import all_unmet, lists_in
from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_FENCED_AND_BACK = (
    r"Fencing broker {broker} because its session"
    r"(?:(?!RegisterBrokerRecord [^\n]*broker {broker}:).)*?Replayed RemoveTopicRecord"
    r"(?:(?!RegisterBrokerRecord [^\n]*broker {broker}:).)*?BrokerRegistrationChangeRecord [^\n]*broker {broker}: "
    r"[^\n]*fenced=-1"
)


@diagnosis("kmigrate-13")
def deletion_was_missed_while_fenced(history: History, verdict: Verdict) -> bool:
    """The active controller fenced a broker, deleted a topic and unfenced the broker, which had not registered anew.

    It explains what that broker still has while the same controller is active.
    """
    return all_unmet(history, verdict, lambda event: _is_of_missed_deletion(history, event))


def _is_of_missed_deletion(history: History, event: Event) -> bool:
    both, active = lists_in(event), _active_at(history, event.at_ns)
    if both is None or both[0] or not both[1] or not all(isinstance(each, int) for each in both[1]):
        return False
    log = log_of(history, active)
    missed = [re.compile(_FENCED_AND_BACK.format(broker=each), re.DOTALL) for each in both[1]]
    return all(each.search(log) for each in missed)


def _active_at(history: History, at_ns: int) -> str:
    seen = [each for each in history.of(EventKind.ACTIVE_CONTROLLER) if each.at_ns <= at_ns]
    return str(seen[-1].node) if seen else ""
