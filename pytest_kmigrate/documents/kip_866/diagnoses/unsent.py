"""Brokers in ZooKeeper mode that were sent nothing: what they lack was to be sent by a driver that had stopped."""

import re
from collections.abc import Callable

from pytest_kmigrate.checkers.metadata.acknowledged import looked_for
from pytest_kmigrate.checkers.metadata.changes import State
from pytest_kmigrate.documents.kip_866.checks.clients.answers import OF_ZOOKEEPER_MODE
from pytest_kmigrate.documents.kip_866.checks.settled import BROKERS, settled_images
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_GIVES_KRAFT = re.compile(r"gives controller-\d+")


def is_uninformed(observed: str) -> bool:
    """Whether a broker in ZooKeeper mode is what was observed, and it may have heard of no controller since long.

    One that gives a controller of KRaft to clients has heard of it.
    """
    return OF_ZOOKEEPER_MODE in observed and not _GIVES_KRAFT.search(observed)


def were_not_sent(
    history: History, verdict: Verdict, *, stopped_at: Callable[[int], bool], owes: Callable[[State], bool]
) -> bool:
    """Whether all that brokers do not report was looked at while a driver had stopped, and was its own to send.

    It is about a verdict of what brokers are sent of changes. ``stopped_at``: whether the driver had stopped at a time,
    in nanoseconds; ``owes``: whether the driver would have sent this.
    """
    found = verdict.all_known
    if not found or not all(each.at_ns is not None and stopped_at(each.at_ns) for each in found):
        return False
    looked = [each for each in settled_images(history) if each.has(BROKERS) and stopped_at(each.ended_ns)]
    lost = [each.state for settled in looked for each in looked_for(history, settled.labels[BROKERS]).lost]
    owed = tuple(f"{state.subject} is " for state in lost if owes(state))
    return all(each.expected.startswith(owed) for each in found)
