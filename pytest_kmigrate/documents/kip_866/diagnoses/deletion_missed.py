"""kmigrate-13, kmigrate-39, KAFKA-15799: a broker in ZooKeeper mode that was away never learns what it lost then."""

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
from pytest_kmigrate.model.events.nodes import NodeDied, NodeReady, NodeStarted, NodeStopped
from pytest_kmigrate.model.events.steps import ActiveControllerChanged
from pytest_kmigrate.model.events.workloads import MetadataChanged
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
_STARTING = " INFO starting (kafka.server.KafkaServer)"
_REGISTERED = "Successfully registered broker {broker} with broker epoch"
_REMOVED_AND_ANEW = (
    r"(?:Replayed RemoveTopicRecord for topic |Removed topic ){topic}\s"
    r".*RegisterBrokerRecord establishing a new incarnation of broker {broker}:"
)


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
    found = _reported(history, verdict)
    return bool(found) and all(each and _missed(history, active_at(history, each.at_ns), each) for each in found)


@diagnosis("kmigrate-39", windows=since_the_takeover)
def deletion_went_to_the_former_registration(history: History, verdict: Verdict) -> bool:
    """A topic was deleted while a broker was away or came up, and this one had not registered anew yet.

    It obeyed what its controller had queued for its former registration, which the deletion was behind, and removed
    nothing since. It explains what that broker still has, to whom asks it and to clients.
    """
    found = _reported(history, verdict) or list(_kept(history, verdict))
    return bool(found) and all(
        each and each.topic and all(_obeyed_the_former(history, broker, each) for broker in each.brokers)
        for each in found
    )


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


def _reported(history: History, verdict: Verdict) -> list[_Kept | None]:
    """By place of a comparison, the brokers that still have a topic which ZooKeeper does not have any more."""
    both = compared(history, verdict)
    return [_still_listed(both.asked, both.zookeeper, key, both.at_ns) for _, key in both.places] if both else []


def _obeyed_the_former(history: History, broker: int, kept: _Kept) -> bool:
    """Whether a broker's last start, and the logs of it and of its controller, show that it took an older request.

    The topic was deleted between the end of its process before and the time at which it was ready; the controller
    replayed its registration behind the deletion; and the broker took metadata, and removed nothing, ahead of it.
    """
    name, controller = f"broker-{broker}", active_at(history, kept.at_ns)
    started = [each for each in history.of(NodeStarted) if each.node == name and each.at_ns <= kept.at_ns]
    ends_ns = [
        each.at_ns
        for each in (*history.of(NodeStopped), *history.of(NodeDied))
        if each.node == name and started and each.at_ns <= started[-1].at_ns
    ]
    ready_ns = [each.at_ns for each in history.of(NodeReady) if each.node == name and each.at_ns <= kept.at_ns]
    deleted_ns = [
        each.at_ns
        for each in history.of(MetadataChanged)
        if each.what.change == "delete-topic" and each.what.subject == kept.topic and each.what.outcome == "ok"
    ]
    if not (ends_ns and ready_ns and deleted_ns and max(ends_ns) < deleted_ns[-1] < ready_ns[-1]):
        return False
    behind = _REMOVED_AND_ANEW.format(broker=broker, topic=re.escape(kept.topic))
    own = log_of(history, name).rpartition(_STARTING)[2]
    took = _OF_METADATA.format(broker=broker, deleted=_NONE, by=controller.rpartition("-")[2])
    registered = own.find(_REGISTERED.format(broker=broker))
    return (
        re.search(behind, log_of(history, controller), re.DOTALL) is not None
        and registered >= 0
        and re.search(took, own[:registered]) is not None
        and re.search(_OF_METADATA.format(broker=broker, deleted=_SOME, by=r"\d+"), own) is None
    )


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
