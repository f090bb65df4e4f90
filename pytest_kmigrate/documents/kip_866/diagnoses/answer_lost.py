"""kmigrate-7: ZooKeeper carried out a write whose answer was lost, and the controller repeats it for ever."""

import re

from pytest_kmigrate.checkers.clients.availability import longest_time_without_acked_write
from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.expectations import CLIENTS_SERVED, all_unmet
from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.checks.metrics.distance import lag_is_the_distance
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import zookeeper_lag_grows_and_falls_back
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION, STILL_NS, is_given_up_at
from pytest_kmigrate.documents.kip_866.diagnoses.windows import never_written, unwritten
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_TURNS = (EventKind.FAULT_APPLIED, EventKind.FAULT_HEALED, EventKind.ACTIVE_CONTROLLER)
_ELECTS_NS = 30_000_000_000  # an ensemble that lost its leader may need several elections
_OF_BROKERS_THAT_STOP = ("brokers_are_rolled_one_by_one", "partitions_stay_available")
_CHECK_FAILED = re.compile(r"Check op on KRaft Migration ZNode failed\. (?:Expected|Sent) zkVersion = (\d+)")


@diagnosis("kmigrate-7", windows=unwritten)
def answer_of_zookeeper_was_lost(history: History, verdict: Verdict) -> bool:
    """The controller that wrote ``/migration`` last expects a former version of it, and goes on without a write.

    It explains what ZooKeeper lacks since, a lag that does not fall back or is not the distance (it is brought up to
    date before the write that fails), and in HYBRID clients that are not served: brokers in ZooKeeper mode learn what
    they lead and follow when ZooKeeper has been written.
    """
    wrong = wrong_in(history, verdict)
    label = wrong.behind(history, "zookeeper") if wrong else None
    if label is not None:
        taken = snapshot(history, label)
        is_lost = taken is not None and _is_lost_at(history, taken.at_ns)
        return is_lost and wrong is not None and never_written(history, wrong)
    if verdict.is_of(zookeeper_lag_grows_and_falls_back):
        return _is_lost_at(history, history.end_ns)
    if verdict.is_of(lag_is_the_distance):
        return all(_stands_still_at(history, each.at_ns) for each in verdict.violations)
    if verdict.check in _OF_BROKERS_THAT_STOP:
        return bool(verdict.violations) and all(_is_unserved_at(history, each.at_ns) for each in verdict.violations)
    if verdict.is_of(longest_time_without_acked_write):
        ended_ns = _gaps_ended_ns(verdict)
        return bool(ended_ns) and all(_is_unserved_at(history, at_ns) for at_ns in ended_ns)
    return all_unmet(
        history,
        verdict,
        lambda event: event.what.name == CLIENTS_SERVED and _is_unserved_at(history, event.at_ns),
    )


def _is_unserved_at(history: History, at_ns: int | None) -> bool:
    return at_ns is not None and phase_at(history, at_ns) == Phase.HYBRID.name and _is_lost_at(history, at_ns)


def _stands_still_at(history: History, at_ns: int | None) -> bool:
    """Whether nothing was written from then until a turn of the run at which the writer was lost for good."""
    if at_ns is None:
        return False
    written_ns = min((e.at_ns for e in history.znodes if e.path == MIGRATION and e.at_ns >= at_ns), default=None)
    turns_ns = [each.at_ns for each in history.events if each.kind in _TURNS and each.at_ns > at_ns]
    still_ns = [turn for turn in (*turns_ns, history.end_ns) if written_ns is None or turn < written_ns]
    return any(_is_lost_at(history, turn) for turn in still_ns)


def _is_lost_at(history: History, at_ns: int) -> bool:
    """Whether the last writer of ``/migration`` sent a version below that which its own write had left there."""
    written = [each for each in history.znodes if each.path == MIGRATION and each.at_ns < at_ns and each.data]
    if not written or at_ns < written[-1].at_ns + STILL_NS or not is_given_up_at(history, at_ns, _ELECTS_NS):
        return False
    writer = f"controller-{held_in(written[-1]).get('kraft_controller_id')}"
    sent = [int(version) for version in _CHECK_FAILED.findall(log_of(history, writer))]
    return any(version < written[-1].version for version in sent)


def _gaps_ended_ns(verdict: Verdict) -> list[int]:
    gaps = verdict.facts.get("too_long_ns")
    return [int(ended) for _, ended in gaps] if isinstance(gaps, list | tuple) else []
