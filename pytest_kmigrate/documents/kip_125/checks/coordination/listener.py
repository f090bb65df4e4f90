"""Checks of the user's ConsumerRebalanceListener: when it is called, and with which global assignment."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.ownership import Partition, client_of, happened_ns, partitions_of
from pytest_kmigrate.checkers.evidence.spans import Span, spans
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, lives
from pytest_kmigrate.documents.kip_125.evidence.modes import KAFKA, modes_at
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.members import MemberAssigned, MemberReported
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind
from pytest_kmigrate.model.verdict import Verdict

_RELEASE, _START = "K125-LSN-before-release", "K125-LSN-before-start"
_MATCH, _SPLIT = "K125-LSN-client-id-match", "K125-LSN-thread-split"
_SAME, _PLAIN = "K125-LSN-consistent", "K125-LSN-kc-member"
_RELEASING, _STARTING = "before_releasing_partitions", "before_starting_fetchers"
_NEAR_NS = 2_000_000_000
"""Members report what Kafka assigned them at about the same time, in any order."""
_OWNED_NS = 10_000_000_000


@dataclass(frozen=True)
class _Call:
    client: int
    at_ns: int
    threads: Mapping[Partition, str]


def _has_listeners(history: History) -> bool:
    return any(event.what.what == _STARTING for event in history.of(MemberReported))


@checker(_RELEASE, _START, in_every_run=_has_listeners)
def listeners_are_called_in_time(history: History) -> Verdict:
    """A member's listener is called after a partition is owned and before it is read, and before it is released.

    Where Kafka decides there is one call for each release, and nothing of the partition is read after it.
    """
    rows = ByRequirement(_RELEASE, _START)
    starting, releasing = _calls(history), _releases(history)
    reads = history.operations.of(OperationKind.CONSUME)
    count = 0
    for partition, those in spans(history).items():
        of_partition = (reads.topic == partition[0]) & (reads.partition == partition[1])
        for span in (each for each in those if each.client in starting):
            count += 1
            mine = reads.ended_ns[of_partition & (reads.client == span.client)].tolist()
            within = [at for at in mine if span.began_ns <= at <= span.ended_ns]
            _judge_start(history, rows, span, starting[span.client], within)
            if span.is_orderly:
                called = [at for at, those in releasing[span.client] if partition in those]
                _judge_release(history, rows, span, called, within)
    return rows.verdict(f"listeners were called around {counted(count, 'span')} of ownership", "no listener was called")


def _judge_start(history: History, rows: ByRequirement, span: Span, calls: list[_Call], reads: list[int]) -> None:
    first = min(reads, default=span.ended_ns)
    earlier = [each for each in calls if each.at_ns <= first]
    owner = lives(history)[span.client].consumer_id
    rows.looked_at(_START)
    if not earlier or not earlier[-1].threads.get(span.partition, "").startswith(f"{owner}-"):
        expected = f"the listener of {owner} gets {span.partition} with one of its threads before the first record"
        observed = f"{counted(len(earlier), 'call')} before it"
        rows.violated(_START, timed_violation(history, expected, observed, first))


def _judge_release(history: History, rows: ByRequirement, span: Span, called: list[int], reads: list[int]) -> None:
    mine = [at for at in called if span.began_ns <= at <= span.ended_ns]
    late = [at for at in reads if mine and at > mine[-1]]
    is_by_kafka = modes_at(history, span.ended_ns).get(span.client) == KAFKA
    rows.looked_at(_RELEASE)
    if not mine or late or (is_by_kafka and len(mine) > 1):
        expected = f"the listener is called when {span.partition} is fetched no more, and before it is released"
        observed = f"{counted(len(mine), 'call')}, and {counted(len(late), 'record')} read after it"
        rows.violated(_RELEASE, timed_violation(history, expected, observed, span.ended_ns))


@checker(_MATCH, _SPLIT, _SAME, _PLAIN, in_every_run=_has_listeners)
def listeners_get_what_kafka_assigns(history: History) -> Verdict:
    """Where Kafka decides, every listener gets each member's partitions, split over its threads one after the other.

    Partitions of a plain KafkaConsumer are those of one thread, named by its client id.
    """
    rows = ByRequirement(_MATCH, _SPLIT, _SAME, _PLAIN)
    known = lives(history)
    judged: dict[object, _Call] = {}
    calls = [call for those in _calls(history).values() for call in those]
    by_kafka = [each for each in calls if modes_at(history, each.at_ns).get(each.client) == KAFKA]
    for call in by_kafka:
        alive = [each for each in known.values() if each.began_ns <= call.at_ns < each.ended_ns]
        for life in alive:
            mine = sorted(
                each for each, thread in call.threads.items() if thread.rpartition("-")[0] == life.consumer_id
            )
            _judge_member(history, rows, call, life, mine)
        holders = frozenset((each, thread.rpartition("-")[0]) for each, thread in call.threads.items())
        other = judged.setdefault(holders, call)
        rows.looked_at(_SAME, int(other.client != call.client))
        if other.threads != call.threads:
            expected = "members give every partition to the same thread"
            rows.violated(_SAME, timed_violation(history, expected, "they differ in threads", call.at_ns))
    text = f"{counted(len(by_kafka), 'call')} with what Kafka's coordinator assigns"
    return rows.verdict(text, "no listener was called while Kafka decided")


def _judge_member(history: History, rows: ByRequirement, call: _Call, life: Life, mine: list[Partition]) -> None:
    if life.is_migrating:
        row, wanted = _MATCH, _assigned_near(history, life.client, call.at_ns)
    else:
        row, wanted = _PLAIN, [_owned_next(history, life.client, call.at_ns)]
    if not all(wanted):
        return
    rows.looked_at(row)
    if set(mine) not in wanted:
        expected = f"the listener gets {wanted[0]} as those of {life.consumer_id}"
        rows.violated(row, timed_violation(history, expected, f"it got {mine}", call.at_ns))
    streams = max(life.streams.values(), default=1) if life.is_migrating else 1
    threads = sorted(f"{life.consumer_id}-{number}" for number in range(streams))
    rows.looked_at(_SPLIT, int(streams > 1))
    if [call.threads[each] for each in mine] != [threads[at % streams] for at in range(len(mine))]:
        expected = f"the partitions of {life.consumer_id} go to its threads one after the other, in ascending order"
        observed = f"{ {each: call.threads[each] for each in mine} }"
        rows.violated(_SPLIT if row == _MATCH else row, timed_violation(history, expected, observed, call.at_ns))


def _owned_next(history: History, client: int, at_ns: int) -> set[Partition]:
    """What a plain consumer owned at this time, or began to own soon after: it looks up offsets first."""
    mine = [each for those in spans(history).values() for each in those if each.client == client]
    return {each.partition for each in mine if each.began_ns < at_ns + _OWNED_NS and each.ended_ns > at_ns}


def _assigned_near(history: History, client: int, at_ns: int) -> list[set[Partition]]:
    """What Kafka had assigned to a member at about this time, and what it assigned next."""
    mine = [event for event in history.of(MemberAssigned) if client_of(event) == client]
    assigned = [event for event in mine if event.what.what == "assigned" and happened_ns(event) <= at_ns + _NEAR_NS]
    return [set(partitions_of(event)) for event in assigned[-2:]] or [set()]


def _calls(history: History) -> dict[int, list[_Call]]:
    found: dict[int, list[_Call]] = defaultdict(list)
    for event in history.of(MemberReported):
        if event.what.what == _STARTING:
            call = _Call(client_of(event), happened_ns(event), _threads(event))
            found[call.client].append(call)
    return found


def _threads(event: Recorded[MemberReported]) -> dict[Partition, str]:
    content: Mapping[str, Any] = event.what.content
    topics: Mapping[str, Mapping[str, str]] = content.get("assignment") or {}
    return {(topic, int(number)): thread for topic, those in topics.items() for number, thread in those.items()}


def _releases(history: History) -> dict[int, list[tuple[int, set[Partition]]]]:
    found: dict[int, list[tuple[int, set[Partition]]]] = defaultdict(list)
    for event in history.of(MemberReported):
        content: Mapping[str, Any] = event.what.content
        if event.what.what == _RELEASING:
            listed = {(str(each["topic"]), int(each["partition"])) for each in content["partitions"]}
            found[client_of(event)].append((happened_ns(event), listed))
    return found
