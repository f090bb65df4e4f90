"""Refused writes: which versions of ``/migration`` a controller sent that ZooKeeper did not have."""

import re
from collections.abc import Iterator

from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import held_by_migration, writer_in
from pytest_kmigrate.model.history import History

_REFUSED = re.compile(
    r"(?:Check op|Conditional update) on KRaft Migration ZNode failed\. (?:Expected|Sent) zkVersion = (\d+)"
)


def sent_below(history: History, controller: str, version: int, at_ns: int) -> bool:
    """Whether a controller was refused for a version below this one, and has not learned of a later one by then.

    One that has made several writes since knew the version again: an earlier refusal is over. A single one it may not
    know of, as its answer was lost to it.
    """
    own = max(_versions_by(history, controller, at_ns), default=-1)
    sent = (int(each) for each in _REFUSED.findall(log_of(history, controller)))
    return any(own - 1 <= each < version for each in sent)


def _versions_by(history: History, controller: str, at_ns: int) -> Iterator[int]:
    """The versions that a controller has given ``/migration`` since the znode was made last."""
    least = None
    for change in reversed([each for each in held_by_migration(history) if each.at_ns <= at_ns]):
        if least is not None and change.version > least:
            return
        least = change.version
        if writer_in(change) == controller:
            yield change.version
