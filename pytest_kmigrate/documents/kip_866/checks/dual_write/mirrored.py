"""Check of dual write: at each quiet moment ZooKeeper holds what the log holds, and every change made since."""

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.metadata.acknowledged import looked_for
from pytest_kmigrate.checkers.metadata.changes import State, began_ns
from pytest_kmigrate.checkers.metadata.differences import Difference, differences
from pytest_kmigrate.documents.kip_866.checks.settled import (
    LOG,
    ZOOKEEPER,
    Settled,
    dual_write_ns,
    image_of,
    settled_images,
)
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.events.evidence import ImagesSettled
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict, Violation

_PARITY = "K866-DW-full-parity"
_CREATED, _DELETED, _GROWN = "K866-DW-topic-create", "K866-DW-topic-delete", "K866-DW-partitions-add"
_ISR, _UNTIL_FINALIZED = "K866-DW-isr-leader", "K866-DW-until-finalized"
_TOPIC_CONFIG, _BROKER_CONFIG = "K866-DW-topic-config", "K866-DW-broker-config"
_PRODUCER_ID, _PRODUCER_ID_ZNODE = "K866-DW-producer-id", "/latest_producer_id_block"
_OF_CHANGE = {"create-topic": _CREATED, "delete-topic": _DELETED, "add-partitions": _GROWN}
_OF_FAMILY = {
    "quotas": "K866-DW-quotas",
    "scram": "K866-DW-scram",
    "acls": "K866-DW-acls",
    "producer_ids": _PRODUCER_ID,
}
_ISR_FIELDS = ("isr", "leader", "leader_epoch")


@checker(
    _PARITY,
    _CREATED,
    _DELETED,
    _GROWN,
    _ISR,
    _TOPIC_CONFIG,
    _BROKER_CONFIG,
    *_OF_FAMILY.values(),
    _UNTIL_FINALIZED,
    in_every_run=lambda history: bool(history.of(ImagesSettled)),
    anomaly="ZooKeeper unlike the log",
    needs=[Capability.METADATA_LOG, Capability.ZNODES],
)
def zookeeper_mirrors_the_log(history: History) -> Verdict:
    """In dual write ZooKeeper holds what the metadata log holds, with every change that was acknowledged since.

    Judged by images of both that were taken together, while no fault was in force and nothing was being changed.
    A kind of change counts as looked at where one was acknowledged in dual write, leaders and ISRs where the log has
    changes of partitions, and the time until finalization where ZooKeeper was written after the last broker left it.
    """
    rows = ByRequirement(*zookeeper_mirrors_the_log.requirements)
    pairs = [each for each in settled_images(history) if each.is_dual_write and each.has(LOG, ZOOKEEPER)]
    unlike = [pair for pair in pairs if _judge(history, rows, pair)]
    text = f"{counted(len(pairs), 'pair')} of images in dual write, ZooKeeper as the metadata log each time"
    lacking = "the two were never compared at a quiet moment of dual write"
    unlike_labels = [[pair.labels[LOG], pair.labels[ZOOKEEPER]] for pair in unlike]
    return rows.verdict(text, lacking, images=[label for pair in unlike_labels for label in pair], pairs=unlike_labels)


def _judge(history: History, rows: ByRequirement, pair: Settled) -> bool:
    """Count what the pair shows; whether anything is not as it must be."""
    since_ns = dual_write_ns(history, pair.life)
    looked = looked_for(history, pair.labels[ZOOKEEPER])
    for state in looked.held:
        if since_ns is not None and began_ns(state.last) >= since_ns:
            rows.looked_at(_row_of(state))
    found = [
        *((_row_of_difference(each), _unlike(history, pair, each)) for each in _differences(history, pair)),
        *((_row_of(each.state), _lost(history, pair, each.state, each.observed)) for each in looked.lost),
    ]
    log, other = image_of(history, pair, LOG), image_of(history, pair, ZOOKEEPER)
    rows.looked_at(_PARITY, sum(len(getattr(log, family)) for family in other.known))
    rows.looked_at(_ISR, log.of_log.get("record_counts", {}).get("PARTITION_CHANGE_RECORD", 0))
    rows.looked_at(_PRODUCER_ID, _writes(history, _PRODUCER_ID_ZNODE, since_ns, pair.ended_ns))
    if pair.phase == Phase.ALL_KRAFT.name:
        rows.looked_at(_UNTIL_FINALIZED, _writes(history, MIGRATION, _all_kraft_ns(history, pair), pair.ended_ns))
    for row, violation in found:
        for each in {row, _PARITY, *([_UNTIL_FINALIZED] if pair.phase == Phase.ALL_KRAFT.name else [])}:
            if each:
                rows.violated(each, violation)
    return bool(found)


def _differences(history: History, pair: Settled) -> list[Difference]:
    return differences(image_of(history, pair, LOG), image_of(history, pair, ZOOKEEPER))


def _row_of(state: State) -> str:
    """The row of the change that was made of a thing last; "" for a kind that none of these speaks for."""
    change = state.last.what.change
    if state.family == "configs" and change == "alter-config":
        return _config_row(state.slot[1])
    return _OF_CHANGE.get(change) or _OF_FAMILY.get(state.family, "")


def _row_of_difference(unlike: Difference) -> str:
    """The row that a difference is about, by what differs; ``left`` is the log's side."""
    if unlike.family == "topics":
        return _DELETED if unlike.left is None else _CREATED
    if unlike.family == "partitions":
        return _GROWN if not unlike.part else _ISR if unlike.part in _ISR_FIELDS else ""
    return _config_row(unlike.key) if unlike.family == "configs" else _OF_FAMILY.get(unlike.family, "")


def _config_row(key: str) -> str:
    return {"topic": _TOPIC_CONFIG, "broker": _BROKER_CONFIG}.get(key.partition(":")[0], "")


def _writes(history: History, path: str, from_ns: int | None, to_ns: int) -> int:
    """How often a znode was seen to change between two instants; what it held when it was first seen is no change."""
    changes = [each for each in history.znodes if each.path == path][1:]
    return sum(from_ns is not None and from_ns < each.at_ns <= to_ns for each in changes)


def _all_kraft_ns(history: History, pair: Settled) -> int | None:
    """When the brokers' last one is in KRaft mode, before the pair was taken."""
    edges = (each for each in history.states(PHASE) if each.at_ns <= pair.ended_ns)
    return max((each.at_ns for each in edges if each.what.state == Phase.ALL_KRAFT.name), default=None)


def _unlike(history: History, pair: Settled, each: Difference) -> Violation:
    left, right = pair.labels[LOG], pair.labels[ZOOKEEPER]
    expected = f"{each.subject} is {each.left!r} in {right}, as in {left}"
    return _violation(history, pair, expected, f"it is {each.right!r}")


def _lost(history: History, pair: Settled, state: State, observed: object) -> Violation:
    expected = f"{state.subject} is {state.expected} in {pair.labels[ZOOKEEPER]}, as acknowledged"
    return _violation(history, pair, expected, f"it is {state.reported(observed)}")


def _violation(history: History, pair: Settled, expected: str, observed: str) -> Violation:
    evidence = [f"image {pair.labels[side]}" for side in (LOG, ZOOKEEPER)]
    return timed_violation(history, expected, observed, pair.ended_ns, *evidence)
