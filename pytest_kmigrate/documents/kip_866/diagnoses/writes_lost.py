"""kmigrate-5 and kmigrate-14: a write of dual write that ends with an expired session is not made again."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.controllers.znode_changes import held_in, writes_to
from pytest_kmigrate.checkers.evidence.logs import line_to, log_of, logs_of, was_logged_between
from pytest_kmigrate.checkers.evidence.moments import targets_of
from pytest_kmigrate.checkers.metadata.acknowledged import Lost, acknowledged_metadata_changes_present, looked_for
from pytest_kmigrate.checkers.metadata.changes import PRESENT, began_ns
from pytest_kmigrate.checkers.metadata.made import changed_ns, lost_ns, znode_of
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import Wrong, wrong_in
from pytest_kmigrate.documents.kip_866.checks.metadata_kept import metadata_changed_in_the_migration_outlives_it
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import position_set
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import expired_sessions
from pytest_kmigrate.documents.kip_866.diagnoses.log_records import (
    is_equal_at,
    lacks_only_the_last,
    log_beside,
    offsets_of,
)
from pytest_kmigrate.documents.kip_866.diagnoses.windows import never_written, since_the_takeover
from pytest_kmigrate.documents.kip_866.driver_log import CHANGE_FAILED
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import PHASE, Recorded
from pytest_kmigrate.model.events.faults import FaultApplied
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History, Write
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Verdict
from pytest_kmigrate.probes.metadata_replay import Place

_EXPIRED = re.compile(CHANGE_FAILED + r"[^\n]*\n[^\n]*SessionExpiredException")
_FAILED_SINCE = re.compile(
    r"ZooKeeperClient KRaft Migration\] Session expired\.(?:(?!Made the following ZK writes).)*?" + CHANGE_FAILED,
    re.DOTALL,
)
"""A deletion of a topic fails without a cause: it was the first write in the new session."""
_REFUSED = re.compile(
    rf"(?:{CHANGE_FAILED}|Unhandled error in MetadataChangeEvent)"
    r"\{provenance=MetadataProvenance\(lastContainedOffset=(?P<offset>\d+),[^\n]*\n(?P<cause>[^\n]*)"
)
_SHUTDOWN = re.compile(
    r"ZooKeeperClient KRaft Migration\] Closing\.(.*?)\[KRaftMigrationDriver id=\d+\] closed event queue", re.DOTALL
)
"""From the end of the driver's own session to that of its queue; its queue's thread may be first to log of either."""
_ABOUT = (acknowledged_metadata_changes_present, metadata_changed_in_the_migration_outlives_it)
_AT_ONCE_NS = 1_000_000_000
"""Changes that were acknowledged so shortly after each other may have been written in either order."""
_AROUND_NS = 10_000_000_000
"""An expired session is noticed with the next request, or a heartbeat, of which one comes every 6 s."""


def _topic_left(write: Write, _: str) -> object:
    return None if write.operation == "delete" else PRESENT


def _config_left(write: Write, part: str) -> object:
    return _configs_in(write).get(part)


def _quota_left(write: Write, part: str) -> object:
    value = _configs_in(write).get(part)
    return None if value is None else float(str(value))


def _configs_in(write: Write) -> Mapping[str, object]:
    held = held_in(write).get("config")
    return held if isinstance(held, Mapping) else {}


_READ_BY: Mapping[str, Callable[[Write, str], object]] = {
    "topics": _topic_left,
    "configs": _config_left,
    "quotas": _quota_left,
}
"""By family, what a write has left of something that was changed; other families keep it in ways of their own."""


@diagnosis("kmigrate-5")
def backlog_was_dropped_at_the_shutdown(history: History, verdict: Verdict) -> bool:
    """While a controller's driver shut down, its writes of changes failed for the closed ZooKeeper client.

    It explains that what was acknowledged at the end of dual write is gone after the revert, if what came before is
    there: otherwise something else is wrong. It failed between the change and the end of its log, and ZooKeeper's own
    log has no write of it: what came to ZooKeeper and went again has another cause.
    """
    wrong = wrong_in(history, verdict) if verdict.is_of(*_ABOUT) else None
    if wrong is None or not wrong.all_lost or not _are_of_the_end(history, wrong):
        return False
    return all(_was_dropped(history, each) and not _came_to_zookeeper(history, each) for each in wrong.all_lost)


def _was_dropped(history: History, lost: Lost) -> bool:
    """Whether a driver that shut down was refused changes after this one, and before its log was at its end."""
    at_ns, starts_ns = lost.state.last.at_ns, life_starts_ns(history)
    ends_ns = [each for each in starts_ns if each >= at_ns]
    lines = (
        (line_to(part[0], found.start()), node)
        for node, log in logs_of(history, "controller")
        for part in _SHUTDOWN.finditer(log)
        for found in _EXPIRED.finditer(part[0])
    )
    return bool(ends_ns) and any(
        was_logged_between(history, line, at_ns, ends_ns[0] + _AT_ONCE_NS, node) for line, node in lines
    )


def _came_to_zookeeper(history: History, lost: Lost) -> bool:
    """Whether a transaction since the change has left there what was acknowledged; of partitions it is not asked."""
    family, key, part = lost.state.slot
    if family not in _READ_BY:
        return False
    later = (
        each
        for each in writes_to(history, znode_of(history, family, key)[0])
        if each[0].at_ns > began_ns(lost.state.last)
    )
    return any(lost.state.admits(_READ_BY[family](write, part)) for _, write in later)


@diagnosis("kmigrate-14")
def change_was_lost_with_the_session(history: History, verdict: Verdict) -> bool:
    """A controller's write of a change ended with the expired session; ZooKeeper lacks changes of that time only.

    Of a topic that was being written it may lack just the states of some partitions, and one whose deletion was lost is
    there with all its partitions.
    """
    wrong = wrong_in(history, verdict)
    if wrong is None or (behind := wrong.behind(history, "zookeeper")) is None:
        return False
    expired_ns = [each.at_ns for each in expired_sessions(history) if _was_refused(history, each)]
    changed = lost_ns(wrong) or _of_topics_ns(history, wrong, behind)
    near = [any(abs(lost - expired) <= _AROUND_NS for expired in expired_ns) for lost in changed]
    return bool(changed) and all(near) and never_written(history, wrong)


def _was_refused(history: History, expired: Recorded[FaultApplied]) -> bool:
    """Whether a controller whose session ended was refused a change soon after: not another one, nor another time."""
    lines = ((line, each) for each in targets_of(expired) for line in _refused_changes(log_of(history, each)))
    until_ns = expired.at_ns + 2 * _AROUND_NS
    return any(was_logged_between(history, line, expired.at_ns, until_ns, node) for line, node in lines)


def _refused_changes(log: str) -> Iterator[str]:
    """The lines, as far as they have their time, of changes that an expired session refused."""
    yield from (line_to(log, each.start()) for each in _EXPIRED.finditer(log))
    yield from (line_to(log, each.end()) for each in _FAILED_SINCE.finditer(log))


def _of_topics_ns(history: History, wrong: Wrong, label: str) -> list[int]:
    """When the topics were changed of whose partitions an image has too little or too much; none beside anything else.

    Too little: of a topic that was made the state of a partition is lacking. Too much: a topic that was deleted is
    there with its partitions.
    """
    acknowledged = {
        (each.what.change, each.what.subject): changed_ns(each)
        for each in history.of(MetadataChanged)
        if each.what.outcome == "ok"
    }
    causes = [_cause(history, wrong, label, *place) for place in wrong.places]
    is_all = all(each in acknowledged for each in causes)
    return [acknowledged[each] for each in causes if each] if is_all else []


def _cause(history: History, wrong: Wrong, label: str, family: str, key: str) -> tuple[str, str] | None:
    """The change of its topic that an image lacks if so much is wrong with a partition; None for everything else."""
    topic, image = key.rpartition("-")[0], history.images[label]
    others = [history.images[each] for each in wrong.lost if each != label]
    if family != "partitions":
        return None
    if others and topic in image.topics and not any(topic in each.topics for each in others):
        return "delete-topic", topic
    return ("create-topic", topic) if image.partitions.get(key, {}).get("isr") is None else None


@diagnosis("kmigrate-14", windows=since_the_takeover)
def batch_was_refused_with_the_session(history: History, verdict: Verdict) -> bool:
    """A controller's write of a batch of records ended with the expired session, whatever had ended this.

    ZooKeeper lacks the last changes of each place, and the log has their records in such batches; the other side is as
    the log is. A topic that was made in one is lacking as a whole: ZooKeeper refuses later batches with its partitions.
    """
    wrong = wrong_in(history, verdict)
    behind = wrong.behind(history, "zookeeper") if wrong else None
    labels = verdict.listed("images")
    log = log_beside(history, behind, labels) if behind else None
    if wrong is None or behind is None or log is None or not wrong.places:
        return False
    stale, others = history.images[behind], [history.images[each] for each in labels if each != behind]
    refused = _refused_offsets(history)
    ends = sorted(
        {offset for each in history.transactions if (offset := position_set(each)) is not None} | set(refused)
    )

    def is_lost(offset: int, topic: str = "") -> bool:
        end = next((each for each in ends if each >= offset), None)
        made = offsets_of(log, ("topics", topic)) if topic else ()
        return refused.get(end or -1) is True or (end in refused and bool(made) and is_lost(made[-1]))

    return never_written(history, wrong) and all(
        lacks_only_the_last(log, stale, place, partial(is_lost, topic=_topic_of(log, place)))
        and all(is_equal_at(log, each, place) for each in others)
        for each in wrong.places
        for place in _records_at(log, each)
    )


def _records_at(log: MetadataImage, place: Place) -> Sequence[Place]:
    """Where the records of a place are: how many partitions a topic has is none of its own."""
    family, key = place
    if family != "partitions" or key not in log.topics:
        return [place]
    return [(family, each) for each in log.partitions if _topic_of(log, (family, each)) == key]


def _refused_offsets(history: History) -> dict[int, bool]:
    """The last offsets of batches that controllers could not write, and whether their session had expired."""
    return {
        int(found["offset"]): "Expired" in found["cause"]
        for _, log in logs_of(history, "controller")
        for found in _REFUSED.finditer(log)
    }


def _topic_of(log: MetadataImage, place: Place) -> str:
    """The topic whose partition a place is; empty for everything else."""
    family, key = place
    return key.rpartition("-")[0] if family == "partitions" and key not in log.topics else ""


def _are_of_the_end(history: History, wrong: Wrong) -> bool:
    """Whether what is lost was changed at the end of dual write in a former life of the log.

    Something that was changed in this dual write before is there, and nothing that was changed after it.
    """
    starts_ns = life_starts_ns(history)
    dual = [event.at_ns for event in history.states(PHASE) if event.what.state == Phase.HYBRID.name]
    for label, lost in wrong.lost.items():
        taken = snapshot(history, label)
        now = life_at(starts_ns, taken.at_ns) if taken else 0
        present = [state for state in looked_for(history, label).held if None not in state.admissible]
        for at_ns in (each.state.last.at_ns for each in lost):
            life = life_at(starts_ns, at_ns)
            dual_ns = min((ns for ns in dual if life_at(starts_ns, ns) == life), default=at_ns)
            held_ns = [state.last.at_ns for state in present if life_at(starts_ns, state.last.at_ns) == life]
            is_last = all(ns <= at_ns + _AT_ONCE_NS for ns in held_ns)
            if life == now or not is_last or not any(dual_ns < ns < at_ns for ns in held_ns):
                return False
    return True
