"""Last words name why a node ends or hangs: KAFKA-15098, 14237, 16463, kmigrate-3, 8, 19, 20, 23, 25, 31, 32 and 38."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence

from pytest_kmigrate.checkers.controllers.raft_logs import logs
from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.logs import log_of, logs_of
from pytest_kmigrate.checkers.run.deaths import failed_stops, unexpected_deaths
from pytest_kmigrate.checkers.run.runs import no_unexpected_death
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.copying.beginning import migration_begins_when_every_node_is_ready
from pytest_kmigrate.documents.kip_866.checks.procedure.rolling import brokers_are_rolled_one_by_one
from pytest_kmigrate.documents.kip_866.checks.registration.preparation import brokers_register_before_the_takeover
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION
from pytest_kmigrate.documents.kip_866.driver_log import ABORTED_COPY, COPY_BEGUN
from pytest_kmigrate.documents.kip_866.expectations import (
    ALL_STATES_WRITTEN,
    LATER_TOPICS_WRITTEN,
    PARTITION_STATE,
    SUCCESSOR_KNOWN,
    TOPIC_REPORTED,
)
from pytest_kmigrate.documents.kip_866.failed_steps import blamed_steps, waits_for_leaders
from pytest_kmigrate.model.document import Window, diagnosis
from pytest_kmigrate.model.event import Event, Recorded, is_a
from pytest_kmigrate.model.events.nodes import NodeDied, NodeStarted, NodeStopped, ThreadDied
from pytest_kmigrate.model.events.steps import StepEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict

_NO_BOOTSTRAP = "Should not have ZK migrations enabled on a cluster running metadata.version 3.0-IV1"
_METRIC_LEFT = "already exists, can't register another one"
_CHANNEL = "to-controller-"
_NO_PROTOCOL = 'Cannot invoke "org.apache.kafka.common.security.auth.SecurityProtocol.ordinal()"'
_RAFT_THREAD = "raft-io-thread"
_NOT_REGISTERED = (
    no_unexpected_death,
    brokers_register_before_the_takeover,
    migration_begins_when_every_node_is_ready,
)
_OTHER_LEADER = re.compile(
    r"with leader \S+ and epoch (\d+) which is inconsistent with current leader \S+ and epoch \1\b"
)
_NO_AUTHORIZERS = "ZooKeeper migration does not yet support authorizers"
_NO_WHOLE_NUMBER = re.compile(r'NumberFormatException: For input string: "(\d+\.\d+(?:E\d+)?)"')
_SAME_ID = re.compile(
    r"Next Producer ID from replayed record \((\d+)\) is not greater than current next Producer ID \(\1\)"
)
_SINCE = (
    *(PARTITION_STATE, LATER_TOPICS_WRITTEN, ALL_STATES_WRITTEN),
    *(SUCCESSOR_KNOWN, TOPIC_REPORTED),
)
"""What expectations name that nothing is written or sent any more."""
_QUOTAS = ("/config/users", "/config/clients", "/config/ips")
_EMPTY_ID = re.compile(
    r'NumberFormatException: For input string: ""\n(?:\s+at [^\n]*\n)*?\s+at [^\n]*migrateBrokerConfigs'
)

_NEVER_CLOSED = re.compile(r"BeginTransactionRecord at (\d+) because the transaction at (\d+) was never closed")
_RENOUNCED = re.compile(r"We were the leader at epoch (\d+), [^\n]*Reverting to last stable offset (\d+)\.")

_COPIES = re.compile(r'migration-driver-event-handler" (?:(?!\n\n).)*?MigrateMetadataEvent\.run', re.DOTALL)
_WAITS_FOR_IT = re.compile(r'"kafka-shutdown-hook" (?:(?!\n\n).)*?KRaftMigrationDriver\.close', re.DOTALL)
_WAITS_FOR_A_CHANNEL = re.compile(r'"kafka-shutdown-hook" (?:(?!\n\n).)*?InterBrokerSendThread\.shutdown', re.DOTALL)
_CHANNEL_WAITS = re.compile(
    r'-to-controller-\S+" (?:(?!\n\n).)*?Selector\.poll(?:(?!\n\n).)*?NodeToControllerRequestThread\.doWork', re.DOTALL
)
_MAIN = "main"
_HOOK = "kafka-shutdown-hook"
"""Threads that stop a broker: the first does where its start has failed, the other where it was asked to stop."""
_CLOSES_ZOOKEEPER = re.compile(rf'"({_MAIN}|{_HOOK})" (?:(?!\n\n).)*?ZooKeeperClient\.close', re.DOTALL)
_EXPIRY_WAITS = re.compile(
    r'-reinit-\d+" (?:(?!\n\n).)*?QueuedEvent\.awaitProcessing(?:(?!\n\n).)*?\.beforeInitializingSession', re.DOTALL
)
"""Threads, as a JVM that is to be killed is made to list them; an empty line ends each."""
_CONTROLLER_THREAD = '"controller-event-thread" '
_NEVER_READY = re.compile(r"(broker-\d+) ready: not within ")
_STILL_THERE = "it was still there "
_TAKES_PART_NS = 60_000_000_000
"""By then a node that was started again takes part."""

_Death = Recorded[NodeDied | ThreadDied | NodeStopped]


def _since_it_was_stopped(history: History) -> list[Window]:
    """From when a node was stopped that had to be killed."""
    hung = [each for each in history.of(NodeStopped) if each.what.how == "hung"]
    return [Window(each.at_ns - each.what.took_ms * 1_000_000, sys.maxsize) for each in hung[:1]]


def _since_they_started(history: History) -> list[Window]:
    """From the first start of a node that ended."""
    ended = {event.node for event in _deaths(history)}
    starts = [event.at_ns for event in history.of(NodeStarted) if event.node in ended]
    return [Window(min(starts), sys.maxsize)] if starts else []


@diagnosis("KAFKA-15098")
def authorizers_cannot_migrate(history: History, verdict: Verdict) -> bool:
    """A broker with an authorizer ended when it was restarted with the flag, and named the authorizer as the reason."""
    return _explains(history, verdict, lambda event: _NO_AUTHORIZERS in event.what.said)


@diagnosis("apache/kafka#14237")
def default_broker_config_ended_the_copy(history: History, verdict: Verdict) -> bool:
    """A controller aborted the copy, and itself, as it took the empty name of the default broker for a broker's id."""
    return _explains(history, verdict, lambda event: _took_for_an_id(history, event))


@diagnosis("kmigrate-3")
def bootstrap_was_lost(history: History, verdict: Verdict) -> bool:
    """A controller ended because it found no metadata.version in a log that it took for one with records.

    The migration waits for the registration of every controller, so that no step reaches its phase any more.
    """
    return _explains(history, verdict, lambda event: _NO_BOOTSTRAP in event.what.said)


@diagnosis("kmigrate-31")
def quota_was_written_as_a_fraction(history: History, verdict: Verdict) -> bool:
    """A broker in ZooKeeper mode ended as it read a quota that dual write had written as a fraction."""
    changes = (change for each in history.transactions for change in each.changes)
    written = [str(change.data) for change in changes if change.path.startswith(_QUOTAS)]

    def had_read_it(event: _Death) -> bool:
        read = _NO_WHOLE_NUMBER.search(event.what.said)
        return read is not None and any(f'"{read[1]}"' in data for data in written)

    return _explains(history, verdict, had_read_it)


@diagnosis("kmigrate-32")
def copied_once_more(history: History, verdict: Verdict) -> bool:
    """A controller copied once more, and ended as it wrote the producer id that its log had already.

    From then on ZooKeeper lacks what changes, and brokers in ZooKeeper mode hear of nothing: the next one ends, too.
    """
    deaths = _deaths(history)
    if not deaths or not all(_copied_the_same_id(history, event) for event in deaths):
        return False
    return _explains(history, verdict, lambda _: True) or all_unmet(
        history,
        verdict,
        lambda event: event.at_ns > deaths[0].at_ns and any(each.is_of(event.what) for each in _SINCE),
    )


def _copied_the_same_id(history: History, event: _Death) -> bool:
    """Whether a controller ended so in a copy, and one was complete by ``/migration``, or had begun, before."""
    offsets = (held_in(each) for each in history.znodes if each.path == MIGRATION and each.at_ns <= event.at_ns)
    was_complete = any(held.get("kraft_metadata_offset", -1) > 0 for held in offsets)
    begun = sum(log.count(COPY_BEGUN) for _, log in logs_of(history, "controller"))
    has_begun = COPY_BEGUN in log_of(history, str(event.node)) and (was_complete or begun > 1)
    return has_begun and bool(_SAME_ID.search(event.what.said))


@diagnosis("kmigrate-25")
def transaction_that_was_undone_stays_open(history: History, verdict: Verdict) -> bool:
    """A controller ended as it replayed a transaction's begin, since it took one of its own for open.

    That one it had begun as the leader, and undone with the leadership: another leader's record has its place, or the
    same one, which had reached the next leader.
    """
    return _explains(history, verdict, lambda event: _had_undone_it(history, event))


@diagnosis("kmigrate-8", windows=_since_they_started)
def channel_to_the_controller_ended(history: History, verdict: Verdict) -> bool:
    """A broker's channel to the controller ended because a metric of its former connection was still registered."""
    ended = [event for event in _deaths(history) if _is_channel_for(_METRIC_LEFT, event)]
    if verdict.is_of(no_unexpected_death):
        return bool(ended) and len(ended) == len(_deaths(history))
    blamed = blamed_steps(history, verdict)
    leaders = {str(event.node) for event in ended if _is_thread(event, f"{_CHANNEL}alter-partition")}
    return bool(blamed) and all(waits_for_leaders(history, step, leaders) for step in blamed)


@diagnosis("kmigrate-19")
def stop_waits_for_the_copy(history: History, verdict: Verdict) -> bool:
    """A controller had to be killed while its driver was still copying, and its shutdown waited for the driver.

    The quorum's client had ended before, so nothing was committed any more.
    """
    return verdict.is_of(no_unexpected_death) and _all_hung(history, _were_at(_COPIES, _WAITS_FOR_IT))


@diagnosis("kmigrate-23", windows=_since_it_was_stopped)
def stop_waits_for_a_channel(history: History, verdict: Verdict) -> bool:
    """A broker had to be killed while its shutdown waited for a channel to the controller, which waited for answers."""
    is_about = verdict.is_of(no_unexpected_death) or (
        verdict.is_of(brokers_are_rolled_one_by_one)
        and verdict.count == len(verdict.violations)
        and all(each.observed.startswith(_STILL_THERE) for each in verdict.violations)
    )
    return is_about and _all_hung(history, _were_at(_CHANNEL_WAITS, _WAITS_FOR_A_CHANNEL))


def _since_it_began_or_was_stopped(history: History) -> list[Window]:
    """From when a node was stopped that had to be killed, or was started last that hangs since."""
    starts = {event.node: event.at_ns for event in history.of(NodeStarted)}
    hang = [
        at_ns for node, at_ns in starts.items() if _hangs_with_an_expired_session(_last_dump(history, str(node)), _MAIN)
    ]
    return [*_since_it_was_stopped(history), *(Window(at_ns, sys.maxsize) for at_ns in hang)]


@diagnosis("kmigrate-38", windows=_since_it_began_or_was_stopped)
def stop_waits_for_an_expired_session(history: History, verdict: Verdict) -> bool:
    """A broker's shutdown waited for the handler of its expired session, which waited for a thread that had ended.

    The broker was asked to stop and had to be killed; or its start had failed, and a step waited for it in vain.
    """
    if verdict.is_of(no_unexpected_death):
        return _all_hung(history, lambda dump: _hangs_with_an_expired_session(dump, _MAIN, _HOOK))
    blamed = blamed_steps(history, verdict)
    return bool(blamed) and all(_hangs_since_its_start_failed(history, step) for step in blamed)


def _hangs_since_its_start_failed(history: History, step: Recorded[StepEnded]) -> bool:
    awaited = _NEVER_READY.match(step.what.reason)
    return awaited is not None and _hangs_with_an_expired_session(_last_dump(history, awaited[1]), _MAIN)


def _hangs_with_an_expired_session(dump: str, *stopped_by: str) -> bool:
    """Whether one of these threads waits so; the last list may be of a stop that followed upon the failed start."""
    closes = any(thread in stopped_by for thread in _CLOSES_ZOOKEEPER.findall(dump))
    return closes and bool(_EXPIRY_WAITS.search(dump)) and _CONTROLLER_THREAD not in dump


@diagnosis("kmigrate-20")
def a_controller_without_a_protocol(history: History, verdict: Verdict) -> bool:
    """Channels to the controller ended in a broker that knows no protocol for one: it has no migration enabled."""
    deaths = _deaths(history)
    is_of_it = bool(deaths) and all(_is_channel_for(_NO_PROTOCOL, event) for event in deaths)
    return verdict.is_of(no_unexpected_death) and is_of_it


@diagnosis("KAFKA-16463", windows=_since_they_started)
def log_of_a_former_quorum(history: History, verdict: Verdict) -> bool:
    """Brokers stopped to follow the quorum: they had the log of a former one, whose leader of that epoch was another.

    They register with no controller, so that the copy does not begin. Those of 3.4 end.
    """
    deaths = _deaths(history)
    if not deaths or not all(_had_another_leader(history, event) for event in deaths):
        return False
    blamed = blamed_steps(history, verdict)  # perhaps earlier than the deaths, for those of threads are noticed late
    late = [step.what.reason.startswith("phase ") or _waits_for(history, step, deaths) for step in blamed]
    return (
        (verdict.is_of(*_NOT_REGISTERED) and verdict.kind is Kind.LIVENESS)
        or (bool(late) and all(late))
        or all_unmet(history, verdict, lambda event: event.what.observed == "PREPARING")
    )


def _had_another_leader(history: History, event: _Death) -> bool:
    if is_a(event, NodeDied):
        return str(event.node).startswith("broker-") and bool(_OTHER_LEADER.search(event.what.said))
    return _is_thread(event, _RAFT_THREAD) and bool(_OTHER_LEADER.search(log_of(history, str(event.node))))


def _deaths(history: History) -> list[_Death]:
    return [*unexpected_deaths(history), *history.of(ThreadDied), *failed_stops(history)]


def _explains(history: History, verdict: Verdict, is_of_the_bug: Callable[[_Death], bool]) -> bool:
    """Whether all that ended is nodes, for this reason, and the verdict is about these or steps that wait for them."""
    deaths = _deaths(history)
    if not deaths or not all(is_a(event, NodeDied) and is_of_the_bug(event) for event in deaths):
        return False
    blamed = blamed_steps(history, verdict)
    return verdict.is_of(no_unexpected_death) or (
        bool(blamed) and all(_waits_for(history, step, deaths) for step in blamed)
    )


def _took_for_an_id(history: History, event: _Death) -> bool:
    return ABORTED_COPY in event.what.said and bool(_EMPTY_ID.search(log_of(history, str(event.node))))


def _had_undone_it(history: History, event: _Death) -> bool:
    """Whether another leader's record, or this begin itself, has the place of the one that was undone."""
    open_at = [(int(begin), int(at)) for begin, at in _NEVER_CLOSED.findall(event.what.said)]
    renounced = [(int(epoch), int(kept)) for epoch, kept in _RENOUNCED.findall(log_of(history, str(event.node)))]
    batches = [batch for log in logs(history) if log.node == event.node for batch in log.batches]
    return any(
        kept < at
        and batch.first <= at <= batch.last
        and (batch.epoch > epoch or (batch.epoch == epoch and begin == at))
        for begin, at in open_at
        for epoch, kept in renounced
        for batch in batches
    )


def _is_channel_for(reason: str, event: _Death) -> bool:
    return _is_thread(event, _CHANNEL) and reason in event.what.said


def _is_thread(event: _Death, name: str) -> bool:
    return is_a(event, ThreadDied) and name in event.what.thread


def _waits_for(history: History, step: Recorded[StepEnded], deaths: Sequence[Event]) -> bool:
    """Whether a step waited for a phase that came no more, or for the controller itself to start.

    One that was started again, and had the time to take part, keeps no phase from coming.
    """
    reason = step.what.reason
    before = [event for event in deaths if event.at_ns <= step.at_ns]
    starts = [(each.node, each.at_ns) for each in history.of(NodeStarted) if each.at_ns <= step.at_ns - _TAKES_PART_NS]
    return any(
        reason.startswith(f"{event.node} died")
        or (reason.startswith("phase ") and not any(node == event.node and at > event.at_ns for node, at in starts))
        for event in before
    )


def _all_hung(history: History, is_of_the_bug: Callable[[str], bool]) -> bool:
    """Whether all that ended is nodes that did not, each of them, and each time, for this reason."""
    hung = [event for event in history.of(NodeStopped) if event.what.how == "hung"]
    others = [event for event in _deaths(history) if event not in hung]
    times = Counter(str(event.node) for event in hung)
    dumps = {node: _dumps(history, node)[-count:] for node, count in times.items()}
    return (
        bool(hung)
        and not others
        and all(len(dumps[node]) == count and all(map(is_of_the_bug, dumps[node])) for node, count in times.items())
    )


def _were_at(*threads: re.Pattern[str]) -> Callable[[str], bool]:
    """Whether the threads of a node were doing all of this when it was to be killed."""
    return lambda dump: all(each.search(dump) for each in threads)


def _dumps(history: History, node: str) -> list[str]:
    """What a node logged from each list of its threads to the next: it is made to list them before it is killed."""
    return log_of(history, node).split("Full thread dump")[1:]


def _last_dump(history: History, node: str) -> str:
    return next(reversed(_dumps(history, node)), "")
