"""kmigrate-13 and KAFKA-15799: a broker in ZooKeeper mode that was fenced never learns what it lost meanwhile."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from pytest_kmigrate.checkers.controllers.lives import active_at
from pytest_kmigrate.checkers.evidence.expectations import lists_in
from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.checkers.run.steps import all_unmet, unmet_of
from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import clients_are_told_the_same
from pytest_kmigrate.documents.kip_866.checks.dual_write.forwarding import brokers_are_told_of_changes
from pytest_kmigrate.documents.kip_866.diagnoses.silent_brokers import compared
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.documents.kip_866.expectations import ON_DISKS, TOPIC_REPORTED
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.events.steps import ActiveControllerChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Verdict, Violation

_ANEW = r"(?:RegisterBrokerRecord [^\n]*broker {broker}:|RegisterBrokerRecord\(brokerId={broker},)"
_INCARNATION = re.compile(r"incarnationId=([\w-]+)")
_UNFENCED = (
    r"(?:BrokerRegistrationChangeRecord [^\n]*broker {broker}: [^\n]*fenced=-1"
    r"|broker {broker} to unfence has been granted)"
)
_FENCED_AND_BACK = (
    r"Fencing broker {broker} because its session"
    rf"(?:(?!{_ANEW}).)*?(?:Replayed RemoveTopicRecord for topic |Removed topic ){{topic}}"
    rf"(?:(?!{_ANEW}).)*?{_UNFENCED}"
)
"""Of each record two forms: controllers before 3.6 log none of those that they replay."""

_NEVER_STOPPED = (
    r"Not sending request StopReplica with [^\n]*to broker {broker}, since it is offline"
    r"(?!.*Sending StopReplica request for \d+ replicas to broker {broker}\b)"
)

_PARTITION = re.compile(r"\b[\w.-]+-\d+\b")
_TOPIC = re.compile(r" the same topic (\S+)$")
_STILL_HAS = (
    re.compile(r"broker-\d+ in \w+ mode reports nothing more; broker-(\d+) in ZooKeeper mode reports (?!nothing)"),
    re.compile(r"broker-(\d+) in ZooKeeper mode reports (?!nothing).+; broker-\d+ in \w+ mode reports nothing more"),
)
"""What two brokers report of a topic that only the one named here still has."""


_IS_ABSENT = re.compile(r"topics (?P<topic>\S+) is absent in (?P<label>\S+), as a broker acknowledged")
_OF_METADATA = r"\[Broker id={broker}\] Add \d+ partitions and deleted {deleted} partitions .* sent by controller {by} "
_NONE, _SOME = "0", r"[1-9]\d*"


@diagnosis("kmigrate-13")
def deletion_was_missed_while_fenced(history: History, verdict: Verdict) -> bool:
    """The active controller fenced a broker, deleted a topic and unfenced the broker, which had not registered anew.

    It explains what that broker still has while the same controller is active; a partition that was moved away, too.
    """
    kept = _kept(history, verdict)
    if kept:
        return all(_missed(history, active_at(history, each.at_ns), each) for each in kept)
    return all_unmet(history, verdict, lambda event: _was_never_stopped(history, event))


@diagnosis("kmigrate-13", windows=since_the_takeover)
def brokers_report_what_they_missed(history: History, verdict: Verdict) -> bool:
    """Such brokers, and no others, report a topic to whom asks them that ZooKeeper does not have any more."""
    both = compared(history, verdict)
    found = [_still_listed(both.asked, both.zookeeper, key, both.at_ns) for _, key in both.places] if both else []
    return bool(found) and all(each and _missed(history, active_at(history, each.at_ns), each) for each in found)


@diagnosis("KAFKA-15799")
def complete_metadata_removed_nothing(history: History, verdict: Verdict) -> bool:
    """A later controller sent such a broker all metadata, and the broker removed nothing, though it lacks the topic.

    It explains what that broker still has, its replicas too, from the deletion on.
    """
    kept = _kept(history, verdict)
    later = [each for each in kept if not _missed(history, active_at(history, each.at_ns), each)]
    return bool(later) and all(
        any(_missed(history, former, each) for former in _active_before(history, each.at_ns))
        and _removed_nothing(history, active_at(history, each.at_ns), each.brokers)
        for each in later
    )


@dataclass(frozen=True)
class _Kept:
    """Brokers that still had a deleted topic at a time; which topic it is may not be said."""

    at_ns: int
    brokers: list[int]
    topic: str = ""


def _kept(history: History, verdict: Verdict) -> list[_Kept]:
    """When brokers still had what was deleted, and which; nothing if the verdict is about anything else, too."""
    if verdict.is_of(clients_are_told_the_same, brokers_are_told_of_changes):
        read = _still_has if verdict.is_of(clients_are_told_the_same) else partial(_still_reported, history)
        found = [read(each) for each in verdict.violations]
        is_complete = verdict.count == len(found)
    else:
        found = [_of_list(event) for event in unmet_of(history, verdict)]
        is_complete = True
    kept = [each for each in found if each is not None]
    return kept if is_complete and len(kept) == len(found) else []


def _was_never_stopped(history: History, event: Recorded[ExpectationEnded]) -> bool:
    """Whether brokers have a partition on their disks of which they are no replicas any more.

    The active controller left out the StopReplica request to each, as to a broker that is fenced, and sent none since.
    """
    both, partition = lists_in(event), _PARTITION.search((ON_DISKS.places_in(event.what) or {}).get("what", ""))
    logs = [image for image in history.images.values() if image.source == "metadata-log"]
    if not both or not all(isinstance(each, int) for each in (*both[0], *both[1])) or partition is None or not logs:
        return False
    wanted, seen = set(both[0]), set(both[1])
    brokers = seen - wanted if wanted and wanted < seen else set()
    replicas = logs[-1].partitions.get(partition[0], {}).get("replicas")
    if not brokers or not isinstance(replicas, list | tuple) or not brokers.isdisjoint(replicas):
        return False
    log = log_of(history, active_at(history, event.at_ns))
    return all(re.search(_NEVER_STOPPED.format(broker=each), log, re.DOTALL) for each in brokers)


def _still_has(violation: Violation) -> _Kept | None:
    found = next((found for each in _STILL_HAS if (found := each.match(violation.observed))), None)
    topic = _TOPIC.search(violation.expected)
    return _Kept(violation.at_ns or 0, [int(found[1])], topic[1]) if found and topic else None


def _still_listed(asked: MetadataImage, other: MetadataImage, key: str, at_ns: int) -> _Kept | None:
    """The brokers, some of those that were asked, that report a topic which the other side does not have."""
    key = key.removeprefix("topic:")
    topic = key if key in asked.topics else key.rpartition("-")[0]
    reported = asked.topics.get(topic, {}).get("id")
    if topic in other.topics or not isinstance(reported, Mapping):
        return None
    brokers = [int(each.rpartition("-")[2]) for each, id_ in reported.items() if id_ is not None]
    return _Kept(at_ns, brokers, topic) if brokers else None


def _still_reported(history: History, violation: Violation) -> _Kept | None:
    found = _IS_ABSENT.match(violation.expected)
    asked = history.images.get(found["label"]) if found else None
    nothing = MetadataImage("metadata-log")
    return _still_listed(asked, nothing, found["topic"], violation.at_ns or 0) if found and asked else None


def _of_list(event: Recorded[ExpectationEnded]) -> _Kept | None:
    """The brokers that a test saw to have a topic of which it had expected none to."""
    both = lists_in(event) if any(each.is_of(event.what) for each in (TOPIC_REPORTED, ON_DISKS)) else None
    brokers = [each for each in both[1] if isinstance(each, int)] if both else []
    return _Kept(event.at_ns, brokers) if both and not both[0] and brokers and len(brokers) == len(both[1]) else None


def _missed(history: History, controller: str, kept: _Kept) -> bool:
    """Whether a controller fenced each broker, deleted the topic, and unfenced the broker, which has not started since.

    What a broker registers with anew it is sent all of.
    """
    log, topic = log_of(history, controller), rf"{re.escape(kept.topic)}\s" if kept.topic else ""
    return all(
        any(
            not _has_registered_since(history, broker, log, missed.end(), kept.at_ns)
            for missed in re.finditer(_FENCED_AND_BACK.format(broker=broker, topic=topic), log, re.DOTALL)
        )
        for broker in kept.brokers
    )


def _has_registered_since(history: History, broker: int, log: str, end: int, at_ns: int) -> bool:
    """Whether a broker registered anew behind this place of a log, more often than it was started after a time.

    A controller that starts logs former registrations again.
    """
    lines = re.compile(_ANEW.format(broker=broker) + r"[^\n]*")
    before, after = ({_incarnation(each) for each in lines.findall(part)} for part in (log[:end], log[end:]))
    later = [each for each in history.of(NodeStarted) if each.node == f"broker-{broker}" and each.at_ns > at_ns]
    return len(after - before) > len(later)


def _incarnation(registration: str) -> str:
    found = _INCARNATION.search(registration)
    return found[1] if found else registration


def _removed_nothing(history: History, controller: str, brokers: Iterable[int]) -> bool:
    """Whether each broker took metadata of this controller, and removed nothing on its account."""
    by = controller.rpartition("-")[2]
    return all(_updated(history, each, by, _NONE) and not _updated(history, each, by, _SOME) for each in brokers)


def _updated(history: History, broker: int, by: str, deleted: str) -> bool:
    pattern = _OF_METADATA.format(broker=broker, deleted=deleted, by=by)
    return re.search(pattern, log_of(history, f"broker-{broker}")) is not None


def _active_before(history: History, at_ns: int) -> set[str]:
    """Those that were active up to then, and are no more."""
    seen = {str(each.node) for each in history.of(ActiveControllerChanged) if each.at_ns <= at_ns}
    return seen - {active_at(history, at_ns)}
