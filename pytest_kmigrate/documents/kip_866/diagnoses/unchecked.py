"""kmigrate-37: what clients ask brokers for while controllers copy is written to ZooKeeper, which may be too late."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_kmigrate.checkers.metadata.acknowledged import Lost
from pytest_kmigrate.checkers.metadata.changes import began_ns, has_failed, slots_of
from pytest_kmigrate.checkers.metadata.made import znode_of
from pytest_kmigrate.checkers.metadata.wrong import Wrong, wrong_in
from pytest_kmigrate.documents.kip_866.checks.settled import LOG
from pytest_kmigrate.documents.kip_866.checks.transactions.copies import CHANGES_NOTIFIED, Copy, copies, is_named_by
from pytest_kmigrate.documents.kip_866.checks.transactions.others import nobody_else_writes_during_the_copy
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import kraft_sessions, named, position_set
from pytest_kmigrate.model.document import Window, diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ImagesSettled
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.verdict import Verdict

_SLACK_NS = 50_000_000
"""ZooKeeper's transactions have whole milliseconds of its own clock."""
_GIVEN_UP_NS = 60_000_000_000
"""A broker may carry out so late what its client has given up: requests wait for no longer."""
_UNDOES = {"create": ("delete",), "delete": ("create",), "set-data": ("set-data", "delete")}
"""By the operation of a write what takes it back."""
_OF_A_TOPIC = ("/config/topics", "/admin/delete_topics")
"""What is written for a topic that is made or deleted, besides its own znode."""


@dataclass(frozen=True)
class _Unchecked:
    """A write of a copy's time that answers a client's request."""

    copy: Copy
    transaction: Transaction
    write: Write
    change: Recorded[MetadataChanged]


def _since_a_claim(history: History) -> list[Window]:
    """From the claim before each copy on: whether a request met the copy its transactions say."""
    return [Window(each.began_ns, sys.maxsize) for each in copies(history)]


@diagnosis("kmigrate-37", windows=_since_a_claim)
def request_was_written_during_the_copy(history: History, verdict: Verdict) -> bool:
    """What a client had asked a broker for was written to ZooKeeper between a controller's claim and its copy's end.

    It explains such a write of the znode that the request is about, while the request was under way, and the
    notification of it by the same session. It also explains that what was acknowledged so does not hold, if the next
    write of this znode was the controller's and took it back: with what it wrote after the copy, before any change came
    to its log; and if the log does not have it either. The authorizer of a broker has a session of its own, so that
    whose a session is is not asked.
    """
    if verdict.is_of(nobody_else_writes_during_the_copy):
        known = tuple(f"{each} " for each in _sentences(history))
        return bool(verdict.violations) and all(f"{each.observed} ".startswith(known) for each in verdict.violations)
    wrong = wrong_in(history, verdict)
    if wrong is None or not wrong.all_lost or wrong.places - {each.place for each in wrong.all_lost}:
        return False
    logs = [image for label in wrong.lost for image in _logs_beside(history, label, wrong)]
    return all(_was_undone(history, each) and not _has_any(logs, each) for each in wrong.all_lost)


def _logs_beside(history: History, label: str, wrong: Wrong) -> list[MetadataImage]:
    """Images of the metadata log that an image is compared with, or was taken together with."""
    together = [each.what.images for each in history.of(ImagesSettled) if label in each.what.images]
    labels = {*wrong.lost, *(each for labels in together for each in labels)}
    return [
        history.images[each] for each in sorted(labels) if each in history.images and history.images[each].source == LOG
    ]


def _has_any(logs: Sequence[MetadataImage], lost: Lost) -> bool:
    """Whether the log has what was acknowledged: it came to the log, and was lost by something else."""
    return any(lost.state.admits(lost.state.observed_in(each)) for each in logs)


def _sentences(history: History) -> Iterator[str]:
    """How findings begin that are about such a write, or its notification."""
    written = _unchecked(history)
    for each in written:
        yield f"{named(each.transaction)}: {each.write.operation} {each.write.path}"
    for former in written:
        for later in former.copy.transactions:
            if later.session != former.transaction.session or later.zxid <= former.transaction.zxid:
                continue
            for write in later.changes:
                if write.path.startswith(CHANGES_NOTIFIED) and is_named_by(write, former.write):
                    yield f"{named(later)}: {write.operation} {write.path}"


@kept
def _unchecked(history: History) -> list[_Unchecked]:
    """The writes of each copy's time that are no controller's, each with the request that it answers."""
    asked = [
        (each, paths)
        for each in history.of(MetadataChanged)
        if (paths := _znodes_of(history, each)) and not each.what.inherited
    ]
    own = kraft_sessions(history)
    return [
        _Unchecked(copy, each, write, change)
        for copy in copies(history)
        for each in copy.transactions
        if each.session not in own
        for write in each.changes
        for change, paths in asked
        if write.path in paths and _was_under_way(change, each.at_ns)
    ]


def _was_under_way(change: Recorded[MetadataChanged], at_ns: int) -> bool:
    """Whether a request had been made; one without an answer may be carried out later."""
    slack_ns = _GIVEN_UP_NS if change.what.outcome == "indefinite" else _SLACK_NS
    return began_ns(change) - _SLACK_NS <= at_ns <= change.at_ns + slack_ns and not has_failed(change)


def _znodes_of(history: History, change: Recorded[MetadataChanged]) -> set[str]:
    """The znodes that a broker writes for a request."""
    slots = slots_of(change)
    found = {_znode_at(history, family, key) for family, key, _ in slots}
    found |= {f"{folder}/{key}" for family, key, _ in slots if family == "topics" for folder in _OF_A_TOPIC}
    return found - {""}


def _znode_at(history: History, family: str, key: str) -> str:
    """The znode that holds what changes name so."""
    if family == "acls":
        return _znode_of_acls(key)
    if family == "delegation_tokens":
        return f"/delegation_token/tokens/{key}"
    return znode_of(history, "topics" if family == "partitions" else family, key)[0]


def _znode_of_acls(key: str) -> str:
    """Of a key such as "Topic:LITERAL:orders"."""
    resource, pattern, name = key.split(":", 2)
    folder = "/kafka-acl" if pattern == "LITERAL" else f"/kafka-acl-extended/{pattern.lower()}"
    return f"{folder}/{resource}/{name}"


def _was_undone(history: History, lost: Lost) -> bool:
    """Whether the last acknowledged change was such a write, and the controller took it back right after its copy."""
    path = _znode_at(history, *lost.place)
    own = [each for each in _unchecked(history) if each.change == lost.state.last and each.write.path == path]
    return bool(own) and _is_undone_by_the_sync(history, own[-1])


def _is_undone_by_the_sync(history: History, unchecked: _Unchecked) -> bool:
    """Whether the next write of the znode is a controller's, before ``/migration`` has had a second place."""
    former, zxid = unchecked.write, unchecked.transaction.zxid
    later = [each for each in history.transactions if each.zxid > zxid]
    undone = next((each for each in later if any(write.path == former.path for write in each.changes)), None)
    if undone is None or undone.session not in kraft_sessions(history):
        return False
    (write, *_) = (write for write in undone.changes if write.path == former.path)
    set_by_then = [position_set(each) for each in later if each.zxid <= undone.zxid]
    places = [each for each in set_by_then if each is not None and each >= 0]
    is_taken_back = write.operation in _UNDOES.get(former.operation, ()) and write.data != former.data
    return is_taken_back and all(before == place for before, place in pairwise(places))
