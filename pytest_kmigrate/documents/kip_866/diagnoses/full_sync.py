"""kmigrate-2, 10 and 22: a new active controller begins its full sync with ZooKeeper again and again."""

import re
from collections import Counter
from collections.abc import Callable, Collection

from pytest_kmigrate.checkers.controllers.lives import active_at
from pytest_kmigrate.checkers.evidence.logs import log_of, logs_of
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import Wrong, wrong_in
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.broker_modes import ran_one_in_zookeeper_mode
from pytest_kmigrate.documents.kip_866.checks.clients.answers import is_of_zookeeper_mode
from pytest_kmigrate.documents.kip_866.checks.clients.every_broker import clients_are_told_of_every_broker
from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import clients_are_told_the_same
from pytest_kmigrate.documents.kip_866.checks.nodes.unaware_clients import clients_read_the_answers_of_ready_brokers
from pytest_kmigrate.documents.kip_866.checks.procedure.availability import partitions_stay_available
from pytest_kmigrate.documents.kip_866.checks.procedure.rolling import brokers_are_rolled_one_by_one
from pytest_kmigrate.documents.kip_866.checks.transactions.following import raised_by, zookeeper_follows_the_log
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import held_by_migration, writer_in
from pytest_kmigrate.documents.kip_866.diagnoses.windows import never_written, unwritten, was_reached
from pytest_kmigrate.documents.kip_866.driver_log import CHANGE_WRITTEN, NO_STATE
from pytest_kmigrate.documents.kip_866.expectations import BROKERS_KNOW, CONFIG_WRITTEN
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation

_RETRIED = "Encountered ZooKeeper error during event SyncKRaftMetadataEvent"
_FAILED = r"Unhandled error in SyncKRaftMetadataEvent[^\n]*\n[^\n]*"
_UNKNOWN = re.compile(_FAILED + "Unknown config resource type CLIENT_METRICS")
_NO_NAME = re.compile(
    _FAILED + r"NullPointerException[^\n]*entityName[^\n]*\n(?:\s+at [^\n]*\n)*?\s+at [^\n]*writeClientQuotas"
)
_FORGOTTEN = _FAILED + r"(?:Conditional update|Check op) on KRaft Migration ZNode failed"
_FAILS = re.compile(f"{_RETRIED}|{_FORGOTTEN}")
"""How an attempt ends that comes to a partition without a state, or whose version of ``/migration`` is wrong."""
_WRITTEN = "Made the following ZK writes when reconciling with KRaft state: "
_BEGUN = "Performing a full metadata sync from KRaft to ZK"
_SYNC = re.compile(
    _BEGUN + r"((?:(?!Performing a full metadata sync).)*?)" + _WRITTEN + r"\{([^}\n]*)\}",
    re.DOTALL,
)
"""A full sync that ended, and the counts of what it wrote."""
_AGAIN = 3
"""So often a sync begins that does not end; one that is disturbed once does so twice."""
_BEFORE_CONFIGS = frozenset({"topics", "partitions"})
"""What a full sync writes before it comes to the configs."""
_BEFORE_QUOTAS = _BEFORE_CONFIGS | {"configs"}
_OF_WHAT_BROKERS_REPORT = (clients_are_told_the_same, clients_are_told_of_every_broker)
_STAYS = " stays for "
_NONE_RAISES = raised_by(0)
_WRITES_TO = "writes to "
"""What is not acknowledged as a broker is stopped, since those in ZooKeeper mode do not hear who leads from then on."""


@diagnosis("kmigrate-2", windows=unwritten)
def full_sync_begins_again_before_new_partitions(history: History, verdict: Verdict) -> bool:
    """A controller found the same partition without a state, again and again, and each full sync failed after it.

    It explains what ZooKeeper lacks while it has that partition without a state; while this controller is active and no
    sync has ended since, that brokers in ZooKeeper mode hear of nothing; if ZooKeeper has the partition so, also that
    partitions have no leaders, or get none as a broker is stopped in HYBRID, and that the offset in ``/migration``
    stays. Up to 3.6 the sync passes the partition
    over, and ends, or fails at what comes later (kmigrate-22); then it explains that partition.
    """
    if _is_of_brokers_not_informed(history, verdict):
        return _were_stuck(history, verdict, lambda log: bool(_without_state(log)) and _never_ended(log))
    if _is_of_what_stands_still(history, verdict):
        seen = frozenset().union(*(_stateless(each) for each in history.images.values()))
        return _is_stuck(history, verdict, lambda log: not seen.isdisjoint(_without_state(log)) and _never_ended(log))
    blocking, passed = _found_without_state(history)
    wrong = wrong_in(history, verdict)
    label = wrong.behind(history, "zookeeper") if wrong else None
    if wrong is not None and label is not None:
        stateless = _stateless(history.images[label])
        is_blocked = bool(blocking & stateless) and _was_missed(history, wrong, label)
        return is_blocked or _are_of(wrong.places, passed & stateless)
    return bool(blocking | passed) and all_unmet(history, verdict, lambda event: _is_about(event, blocking | passed))


@diagnosis("kmigrate-10", windows=unwritten)
def full_sync_begins_again_before_client_metrics(history: History, verdict: Verdict) -> bool:
    """Each full sync of the active controller failed at the configs of CLIENT_METRICS.

    It explains that ZooKeeper lacks what comes later than topics and partitions.
    """

    def is_blocked_at(at_ns: int) -> bool:
        return _is_blocked_at(history, _UNKNOWN, at_ns)

    return _is_behind(history, verdict, _BEFORE_CONFIGS, is_blocked_at) or all_unmet(
        history, verdict, lambda event: CONFIG_WRITTEN.is_of(event.what) and is_blocked_at(event.at_ns)
    )


@diagnosis("kmigrate-22", windows=unwritten)
def full_sync_begins_again_before_a_default_quota(history: History, verdict: Verdict) -> bool:
    """Each full sync of a controller failed at the quota of a default entity, which has no name.

    It explains that ZooKeeper lacks what comes later than configs, and that brokers in ZooKeeper mode hear of nothing;
    while this controller is active also that partitions have no leaders, and that the offset in ``/migration`` stays.
    """

    def is_blocked_at(at_ns: int) -> bool:
        return _is_blocked_at(history, _NO_NAME, at_ns)

    return (
        (_is_of_brokers_not_informed(history, verdict) and _were_stuck(history, verdict, _ends_at_a_default_quota))
        or (_is_of_what_stands_still(history, verdict) and _is_stuck(history, verdict, _ends_at_a_default_quota))
        or _is_behind(history, verdict, _BEFORE_QUOTAS, is_blocked_at)
        or all_unmet(
            history,
            verdict,
            lambda event: any(each.is_of(event.what) for each in BROKERS_KNOW) and is_blocked_at(event.at_ns),
        )
    )


def _is_of_brokers_not_informed(history: History, verdict: Verdict) -> bool:
    """Whether a verdict is about what a broker in ZooKeeper mode does not report, or do, in time."""
    if verdict.kind is not Kind.LIVENESS:
        return False
    if verdict.is_of(clients_read_the_answers_of_ready_brokers):
        return all(ran_one_in_zookeeper_mode(history, each) for each in verdict.violations)
    return verdict.is_of(*_OF_WHAT_BROKERS_REPORT) and all(map(is_of_zookeeper_mode, verdict.violations))


def _is_of_what_stands_still(history: History, verdict: Verdict) -> bool:
    """Whether a verdict is about leaders, or about the offset; of brokers that are rolled, about writes in HYBRID.

    Only brokers in ZooKeeper mode do not hear who leads: one has to run.
    """
    if verdict.is_of(zookeeper_follows_the_log):
        return True
    is_about = verdict.is_of(partitions_stay_available) or (
        verdict.is_of(brokers_are_rolled_one_by_one)
        and all(
            each.expected.startswith(_WRITES_TO) and phase_at(history, each.at_ns or 0) == Phase.HYBRID.name
            for each in verdict.violations
        )
    )
    return is_about and all(ran_one_in_zookeeper_mode(history, each) for each in verdict.violations)


def _is_blocked_at(history: History, fault: re.Pattern[str], at_ns: int) -> bool:
    """Whether the controller that was active then failed so again and again, and no sync of it has ended since."""
    return _ends_at(fault, log_of(history, active_at(history, at_ns)))


def _is_stuck(history: History, verdict: Verdict, is_so: Callable[[str], bool]) -> bool:
    """Whether that is so by the log of the controller that was active at the time of each violation."""
    if verdict.count != len(verdict.violations):
        return False
    # Where a departure violates the same row for ever, too, the verdict is one of safety.
    stays = verdict.is_of(zookeeper_follows_the_log) and all(
        _STAYS in each.observed or _NONE_RAISES in each.observed for each in verdict.violations
    )
    if not stays and (verdict.is_of(zookeeper_follows_the_log) or verdict.kind is not Kind.LIVENESS):
        return False
    return bool(verdict.violations) and all(_is_of_who_was_active(history, each, is_so) for each in verdict.violations)


def _were_stuck(history: History, verdict: Verdict, is_so: Callable[[str], bool]) -> bool:
    """Whether that is so by the log of the controller that was active when each violation was seen."""
    logs = [log_of(history, active_at(history, each.at_ns or 0)) for each in verdict.violations]
    return bool(logs) and all(map(is_so, logs))


def _is_of_who_was_active(history: History, violation: Violation, is_so: Callable[[str], bool]) -> bool:
    """Whether that is so by that log; an offset that none raises was so from the first sync to the last write."""
    active = active_at(history, violation.at_ns or 0)
    log = log_of(history, active)
    if _NONE_RAISES not in violation.observed:
        return is_so(log)
    places = held_by_migration(history)
    return bool(places) and writer_in(places[-1]) == active and CHANGE_WRITTEN not in log and is_so(log)


def _ends_at_a_default_quota(log: str) -> bool:
    """Whether a controller never came beyond the default quota."""
    return _ends_at(_NO_NAME, log)


def _ends_at(fault: re.Pattern[str], log: str) -> bool:
    attempts = fault.split(log)
    return len(attempts) > _AGAIN and _WRITTEN not in attempts[-1]


def _is_behind(
    history: History, verdict: Verdict, before: Collection[str], is_blocked_at: Callable[[int], bool]
) -> bool:
    """Whether ZooKeeper alone lacks something, which was never written, while a sync was blocked.

    It is nothing of these families, which a full sync writes before.
    """
    wrong = wrong_in(history, verdict)
    label = wrong.behind(history, "zookeeper") if wrong else None
    taken = snapshot(history, label) if label else None
    if wrong is None or label is None or taken is None or not _was_missed(history, wrong, label):
        return False
    return is_blocked_at(taken.at_ns) and not any(family in before for family, _ in wrong.places)


def _was_missed(history: History, wrong: Wrong, label: str) -> bool:
    """Whether what is wrong was not written since it changed, by ZooKeeper's log and by the position in the other."""
    return never_written(history, wrong, but_created=True) and not was_reached(history, wrong, label)


def _are_of(places: Collection[tuple[str, str]], partitions: Collection[str]) -> bool:
    """Whether these partitions, and how many their topics have, are all that is wrong."""
    keys = {*partitions, *(each.rpartition("-")[0] for each in partitions)}
    return bool(places) and all(family == "partitions" and key in keys for family, key in places)


def _stateless(image: MetadataImage) -> frozenset[str]:
    """The partitions without a state, as ZooKeeper alone can have them."""
    return frozenset(name for name, value in image.partitions.items() if value.get("isr") is None)


@kept
def _found_without_state(history: History) -> tuple[frozenset[str], frozenset[str]]:
    """The partitions without a state before which a full sync failed, and those that one passed over."""
    logs = [log for _, log in logs_of(history, "controller")]
    blocking = frozenset(each for log in logs for each in _without_state(log))
    return blocking, frozenset(each for log in logs for each in _passed_over(log))


def _without_state(log: str) -> list[str]:
    """The partitions before which a controller's full sync failed, again and again."""
    failed, begins = Counter[str](), 0
    for end in _FAILS.finditer(log):
        found = set(NO_STATE.findall(log[begins : end.start()].rpartition(_BEGUN)[2]))
        # A version is forgotten as an attempt is retried: where none was at this partition, it is wrong for another
        # reason.
        failed.update(each for each in found if end[0] == _RETRIED or each in failed)
        begins = end.end()
    return [partition for partition, times in failed.items() if times >= _AGAIN]


def _never_ended(log: str) -> bool:
    """Whether no full sync has ended since the last one that failed; brokers are informed after it only."""
    return _WRITTEN not in log.rpartition(_RETRIED)[2]


def _passed_over(log: str) -> list[str]:
    """The partitions without a state of a full sync that ended and wrote none, or that failed at a default quota."""
    passed = [during for during, writes in _SYNC.findall(log) if "Partition" not in writes]
    passed += [during for during in log.split(_BEGUN)[1:] if _NO_NAME.search(during)]
    return [partition for during in passed for partition in NO_STATE.findall(during)]


def _is_about(event: Recorded[ExpectationEnded], partitions: frozenset[str]) -> bool:
    words = re.findall(r"[\w.-]+", event.what.name)
    return event.what.expected is True and not partitions.isdisjoint(words)
