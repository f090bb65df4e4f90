"""kmigrate-7: ZooKeeper carried out a write, and the controller expects the version from before it for ever.

Its answer was lost with the connection, or another write of the same topic was refused.
"""

import re
from collections.abc import Sequence

from pytest_kmigrate.checkers.clients.availability import longest_time_without_acked_write
from pytest_kmigrate.checkers.clients.consumption import longest_time_without_consumption
from pytest_kmigrate.checkers.controllers.lives import active_at
from pytest_kmigrate.checkers.controllers.znode_changes import writes_to
from pytest_kmigrate.checkers.evidence.expectations import CLIENTS_SERVED
from pytest_kmigrate.checkers.evidence.logs import log_of, was_logged_between
from pytest_kmigrate.checkers.evidence.moments import faults_during, phase_at
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import Wrong, wrong_in
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.broker_modes import is_one_in_zookeeper_mode, ran_one_in_zookeeper_mode
from pytest_kmigrate.documents.kip_866.checks.clients.answers import is_of_zookeeper_mode
from pytest_kmigrate.documents.kip_866.checks.clients.every_broker import clients_are_told_of_every_broker
from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import clients_are_told_the_same
from pytest_kmigrate.documents.kip_866.checks.dual_write.forwarding import brokers_are_told_of_changes
from pytest_kmigrate.documents.kip_866.checks.metrics.distance import lag_is_the_distance
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import zookeeper_lag_grows_and_falls_back
from pytest_kmigrate.documents.kip_866.checks.procedure.availability import partitions_stay_available
from pytest_kmigrate.documents.kip_866.checks.procedure.rolling import brokers_are_rolled_one_by_one
from pytest_kmigrate.documents.kip_866.checks.settled import BROKERS, LOG, ZOOKEEPER
from pytest_kmigrate.documents.kip_866.checks.transactions.following import raised_by, zookeeper_follows_the_log
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import (
    MIGRATION,
    STILL_NS,
    faults_between,
    held_by_migration,
    is_given_up_at,
    writer_in,
)
from pytest_kmigrate.documents.kip_866.diagnoses.unsent import were_not_sent
from pytest_kmigrate.documents.kip_866.diagnoses.windows import never_written, unwritten, was_reached
from pytest_kmigrate.documents.kip_866.driver_log import CHANGE_FAILED
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.steps import ActiveControllerChanged
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Verdict

_TURNS = (EventKind.FAULT_APPLIED, EventKind.FAULT_HEALED, EventKind.ACTIVE_CONTROLLER)
_ELECTS_NS = 30_000_000_000  # an ensemble that lost its leader may need several elections
_TOPICS = "/brokers/topics/"
_OFFSETS = "__consumer_offsets"
_OF_BROKERS_THAT_STOP = (brokers_are_rolled_one_by_one, partitions_stay_available)
_OF_WHAT_CLIENTS_LEARN = (clients_are_told_of_every_broker, clients_are_told_the_same)
_CHECK_FAILED = re.compile(r"Check op on KRaft Migration ZNode failed\. (?:Expected|Sent) zkVersion = (\d+)")
_FAILED = re.compile(rf"^[^\n]*{CHANGE_FAILED}", re.MULTILINE)
_CONNECTION_LOST = re.compile(r"Session 0x[0-9a-f]+ for server |Client session timed out, have not heard from server")
"""What ZooKeeper's client logs of a connection that it lost; also one that was never there has no session."""
_AROUND_NS = 2_000_000_000
"""How far from a fault a write may lie that it disturbed: its answer is lost with a link that is cut just after it."""


@diagnosis("kmigrate-7", windows=unwritten)
def answer_of_zookeeper_was_lost(history: History, verdict: Verdict) -> bool:
    """The controller that wrote ``/migration`` last expects a former version of it, and goes on without a write.

    And something had disturbed its write: a fault, or the loss of its connection to ZooKeeper. Or the change that it
    wrote failed for another part. A controller that takes no version from its own writes, though each was answered,
    has another defect.
    It explains what ZooKeeper lacks since, a lag that does not fall back or is not the distance (it is brought up to
    date before the write that fails), and in HYBRID clients that are not served: brokers in ZooKeeper mode learn what
    they lead and follow when ZooKeeper has been written.
    """
    wrong = wrong_in(history, verdict)
    if wrong is not None:
        return _is_behind(history, wrong)
    if verdict.is_of(zookeeper_lag_grows_and_falls_back):
        # One that does not grow while ZooKeeper is away is of safety: this bug's writes wait, too.
        return verdict.kind is Kind.LIVENESS and _is_lost_at(history, history.end_ns)
    if verdict.is_of(lag_is_the_distance):
        return all(_stands_still_at(history, each.at_ns) for each in verdict.violations)
    if verdict.is_of(*_OF_BROKERS_THAT_STOP):
        return bool(verdict.violations) and all(
            _is_unserved_at(history, each.at_ns) and ran_one_in_zookeeper_mode(history, each)
            for each in verdict.violations
        )
    if verdict.is_of(longest_time_without_acked_write):
        gaps = _gaps(verdict)
        return bool(gaps) and all(_is_without_writes(history, *each) for each in gaps)
    return all_unmet(
        history,
        verdict,
        lambda event: (
            event.what.name == CLIENTS_SERVED
            and _is_unserved_at(history, event.at_ns)
            and is_one_in_zookeeper_mode(history, event.at_ns - event.what.took_ms * 1_000_000, event.at_ns)
        ),
    )


@diagnosis("kmigrate-7", windows=unwritten)
def no_write_raises_the_offset_since(history: History, verdict: Verdict) -> bool:
    """What was written last left the offset as it was, as its writer was lost for good before it could raise it."""
    places = held_by_migration(history)
    is_about = verdict.is_of(zookeeper_follows_the_log) and all(raised_by(0) in e.observed for e in verdict.violations)
    return is_about and bool(places) and _stands_still_at(history, places[-1].at_ns + 1)


@diagnosis("kmigrate-7", windows=unwritten)
def brokers_are_sent_nothing_since(history: History, verdict: Verdict) -> bool:
    """In HYBRID brokers lack what was changed since, and the topic whose write it was: both are sent after a write.

    If they lack the topic of offsets, the consumers that need it wait for ever. Clients learn what brokers know; those
    in KRaft mode know what the log has.
    """
    wrong = wrong_in(history, verdict)
    if wrong is not None:
        return _are_not_sent(history, verdict, wrong)
    if verdict.is_of(longest_time_without_consumption):
        asked = [image for image in history.images.values() if image.source == BROKERS]
        has_none = bool(asked) and all(_OFFSETS not in image.topics for image in asked)
        return has_none and _is_unserved_at(history, history.end_ns)
    if verdict.is_of(*_OF_WHAT_CLIENTS_LEARN):
        return bool(verdict.violations) and all(
            is_of_zookeeper_mode(each) and _is_unserved_at(history, each.at_ns) for each in verdict.violations
        )
    return verdict.is_of(brokers_are_told_of_changes) and were_not_sent(
        history,
        verdict,
        stopped_at=lambda at_ns: _is_unserved_at(history, at_ns),
        owes=lambda state: _is_owed(history, state.topic, state.last.at_ns),
    )


def _is_behind(history: History, wrong: Wrong) -> bool:
    """Whether ZooKeeper alone lacks something, and it was never written there, nor reached by the position."""
    label = wrong.behind(history, ZOOKEEPER)
    taken = snapshot(history, label) if label is not None else None
    if label is None or taken is None or not _is_lost_at(history, taken.at_ns):
        return False
    was_missed = never_written(history, wrong) and not was_reached(history, wrong, label)
    return was_missed and not _is_ahead(history, wrong, label, taken.at_ns)


def _is_ahead(history: History, wrong: Wrong, label: str, taken_ns: int) -> bool:
    """Whether ZooKeeper has a topic that brokers lack, and it is not that they learned of its end before.

    In ZooKeeper mode they learn of it from ZooKeeper; in KRaft mode the log lacks it, too.
    """
    brokers = [history.images[each] for each in wrong.lost if history.images[each].source == BROKERS]
    logs = [image for image in history.images.values() if image.source == LOG]
    is_hybrid = phase_at(history, taken_ns) == Phase.HYBRID.name
    return any(
        _has(history.images[label], each)
        and not all(_has(image, each) for image in brokers)
        and (is_hybrid or any(_has(image, each) for image in logs))
        for each in wrong.places
        if each[0] in ("topics", "partitions")
    )


def _are_not_sent(history: History, verdict: Verdict, wrong: Wrong) -> bool:
    """Whether brokers in ZooKeeper mode lack what ZooKeeper lacks, too, or the topic whose write it was."""
    labels = {history.images[label].source: label for label in verdict.listed("images")}
    taken = snapshot(history, labels[BROKERS]) if labels.keys() == {ZOOKEEPER, BROKERS} else None
    if taken is None or not _is_unserved_at(history, taken.at_ns):
        return False
    behind, unsent = ({each.place for each in wrong.lost.get(labels[side], ())} for side in (ZOOKEEPER, BROKERS))
    reported = history.images[labels[BROKERS]]
    missing = {place for place in wrong.places if _is_of(place, _half_made(history)) and not _has(reported, place)}
    places = wrong.places | behind | unsent
    return bool(places) and places <= behind | missing and never_written(history, wrong)


def _is_owed(history: History, topic: str, changed_ns: int) -> bool:
    """Whether a topic was changed while ZooKeeper was not written, and is not there, or by the write that was lost."""
    is_since = any(each.from_ns <= changed_ns <= each.to_ns for each in unwritten(history))
    later = [each for each, _ in writes_to(history, _TOPICS + topic) if each.at_ns > changed_ns]
    return is_since and (not later or topic in _half_made(history))


def _half_made(history: History) -> set[str]:
    """The topics that were made by the transactions whose answer was lost: they checked the version that is sent since.

    The controller had sent brokers nothing of them yet, and fails before it does.
    """
    made: set[str] = set()
    for writer in {name for name in history.logs if name.startswith("controller-")}:
        sent = {int(version) for version in _CHECK_FAILED.findall(log_of(history, writer))}
        for each in history.transactions:
            checked = {write.version for write in each.writes if write.path == MIGRATION and write.operation == "check"}
            if checked & sent:
                made |= {write.path.removeprefix(_TOPICS) for write in each.changes if write.path.startswith(_TOPICS)}
    return {each for each in made if "/" not in each}


def _is_of(place: tuple[str, str], topics: set[str]) -> bool:
    family, key = place
    return (family == "topics" and key in topics) or (family == "partitions" and key.rpartition("-")[0] in topics)


def _has(image: MetadataImage, place: tuple[str, str]) -> bool:
    family, key = place
    return key in (image.topics if family == "topics" else image.partitions)


def _is_unserved_at(history: History, at_ns: int | None) -> bool:
    """Whether a controller is lost in HYBRID, or will turn out to be, as it wrote nothing since something began."""
    if at_ns is None or phase_at(history, at_ns) != Phase.HYBRID.name:
        return False
    has_begun = any(each.kind is EventKind.FAULT_APPLIED and each.at_ns < at_ns for each in history.events)
    return _is_lost_at(history, at_ns) or (has_begun and _stands_still_at(history, at_ns))


def _stands_still_at(history: History, at_ns: int | None) -> bool:
    """Whether nothing was written from then until a turn of the run at which the writer was lost for good.

    The next one writes before it is seen to be the active one.
    """
    if at_ns is None:
        return False
    places = held_by_migration(history)
    before = [each for each in places if each.at_ns < at_ns]
    later = next((each for each in places if each.at_ns >= at_ns), None)
    turns_ns = [each.at_ns for each in history.events if each.kind in _TURNS and each.at_ns > at_ns]
    still_ns = [turn for turn in (*turns_ns, history.end_ns) if later is None or turn < later.at_ns]
    if later is not None and before and writer_in(before[-1]) != writer_in(later):
        still_ns.append(later.at_ns)
    return any(_is_lost_at(history, turn) for turn in still_ns)


def _is_lost_at(history: History, at_ns: int) -> bool:
    """Whether the last writer of ``/migration`` sent a version below that which its own write had left there."""
    written = [each for each in held_by_migration(history) if each.at_ns < at_ns]
    if not written or at_ns < written[-1].at_ns + STILL_NS:
        return False
    writer, written_ns = writer_in(written[-1]), written[-1].at_ns
    sent = [int(version) for version in _CHECK_FAILED.findall(log_of(history, writer))]
    if not any(_known_to(history, writer, written) <= version < written[-1].version for version in sent):
        return False
    is_given_up = is_given_up_at(history, at_ns, _ELECTS_NS) and _was_disturbed(history, writer, written_ns)
    return is_given_up or (active_at(history, at_ns) == writer and _was_refused(history, writer, written[-1]))


def _known_to(history: History, writer: str, written: Sequence[ZnodeChange]) -> int:
    """The lowest version that a writer may send: it has read the znode since it was elected last before its write.

    What it sent in an earlier reign is lower. A znode that was made anew has versions of its own.
    """
    elected = [each.at_ns for each in history.of(ActiveControllerChanged) if each.node == writer]
    elected_ns = max((at_ns for at_ns in elected if at_ns <= written[-1].at_ns), default=0)
    known = [each.version for each in written if each.at_ns < elected_ns]
    return known[-1] if known and known[-1] <= written[-1].version else -1


def _was_refused(history: History, writer: str, written: ZnodeChange) -> bool:
    """Whether a change of which that write was a part failed, by the writer's own word, for another part of it.

    The first version that it sends since is below; and no fault was in force by which the change may have failed.
    """
    log, from_ns, to_ns = log_of(history, writer), written.at_ns - _AROUND_NS, written.at_ns + _AROUND_NS
    if faults_between(history, writer, from_ns, to_ns):
        return False
    failed = [each for each in _FAILED.finditer(log) if was_logged_between(history, each[0], from_ns, to_ns, writer)]
    sent = (_CHECK_FAILED.search(log, each.end()) for each in failed)
    return any(each is not None and int(each[1]) < written.version for each in sent)


def _was_disturbed(history: History, writer: str, written_ns: int) -> bool:
    """Whether a fault was in force at a write, or the writer had lost a connection before it failed."""
    before_it_failed = _CHECK_FAILED.split(log_of(history, writer), maxsplit=1)[0]
    is_under_a_fault = faults_during(history, written_ns - _AROUND_NS, written_ns + _AROUND_NS)
    return bool(is_under_a_fault or _CONNECTION_LOST.search(before_it_failed))


def _gaps(verdict: Verdict) -> list[tuple[int, int]]:
    gaps = verdict.facts.get("too_long_ns")
    return [(int(began), int(ended)) for began, ended in gaps] if isinstance(gaps, list | tuple) else []


def _is_without_writes(history: History, began_ns: int, ended_ns: int) -> bool:
    """Whether clients were not served from when ZooKeeper was written last: what began before has another cause."""
    is_since = any(each.from_ns <= began_ns and ended_ns <= each.to_ns for each in unwritten(history))
    return is_since and _is_unserved_at(history, ended_ns) and is_one_in_zookeeper_mode(history, began_ns, ended_ns)
