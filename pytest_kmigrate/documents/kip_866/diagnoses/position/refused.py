"""Refused writes: which versions of ``/migration`` a controller sent that ZooKeeper did not have."""

import re

from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.model.history import History

_REFUSED = re.compile(
    r"(?:Check op|Conditional update) on KRaft Migration ZNode failed\. (?:Expected|Sent) zkVersion = (\d+)"
)


def sent_below(history: History, controller: str, version: int) -> bool:
    """Whether a controller was refused for a version below this one."""
    return any(int(sent) < version for sent in _REFUSED.findall(log_of(history, controller)))
