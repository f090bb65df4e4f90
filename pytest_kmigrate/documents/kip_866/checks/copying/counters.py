"""Check of what only grows: the copy goes on counting where ZooKeeper had come to, and does not begin anew."""

import re
from collections.abc import Mapping

from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.settled import LOG, Settled, first_logs_in_dual_write, takeover_ns
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import EVIDENCE, has_transactions
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Verdict

_IDS, _EPOCHS = "K866-PROC-copy-tokens-pids", "K866-PROC-copy-topics"
_PRODUCER_IDS = "/latest_producer_id_block"
_STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state\Z")
_TOPIC = re.compile(r"/brokers/topics/([^/]+)\Z")
_NEXT = "the next producer id"


@checker(
    _IDS,
    _EPOCHS,
    in_every_run=has_transactions,
    anomaly="counted anew",
    needs=[Capability.ZOOKEEPER_LOG, Capability.METADATA_LOG],
)
def counters_go_on_after_the_copy(history: History) -> Verdict:
    """The metadata log gives no producer id and no leader epoch that ZooKeeper had given before the take-over.

    Compared are what ZooKeeper logged last before a KRaft controller took ``/controller``, and the first image of the
    log in dual write at a quiet moment. A topic that was made or deleted since is left out.
    """
    rows = ByRequirement(_IDS, _EPOCHS)
    firsts = first_logs_in_dual_write(history)
    for first in firsts:
        until_ns = takeover_ns(history, first.life)
        if until_ns is not None:
            _judge(history, rows, first, until_ns)
    text = f"{counted(len(firsts), 'image')} of the log, counting on from where ZooKeeper was at the take-over"
    return rows.verdict(text, "ZooKeeper logged no counter before a take-over that an image shows")


def _judge(history: History, rows: ByRequirement, first: Settled, until_ns: int) -> None:
    label = first.labels[LOG]
    after = _in_log(history.images[label])
    for name, least in _in_zookeeper(history, until_ns).items():
        row = _IDS if name == _NEXT else _EPOCHS
        if name not in after:
            continue
        if after[name] >= least:
            rows.looked_at(row)
        else:
            expected = f"{name} is {least} at least, as ZooKeeper had it before the take-over"
            observed = f"it is {after[name]} in {label}"
            rows.violated(row, timed_violation(history, expected, observed, first.ended_ns, f"image {label}", EVIDENCE))


def _in_zookeeper(history: History, until_ns: int) -> dict[str, int]:
    """By counter, the last value that was written until an instant; without topics that were made or deleted later."""
    found: dict[str, int] = {}
    for each in history.transactions:
        for write in each.changes:
            topic, state = _TOPIC.match(write.path), _STATE.match(write.path)
            if topic and write.operation in ("create", "delete"):
                found = {name: value for name, value in found.items() if not _is_of(name, topic[1])}
            elif each.at_ns > until_ns:
                continue
            elif write.path == _PRODUCER_IDS and "block_end" in (held := held_in(write)):
                found[_NEXT] = int(held["block_end"]) + 1
            elif state and "leader_epoch" in (held := held_in(write)):
                found[_epoch_of(f"{state[1]}-{state[2]}")] = int(held["leader_epoch"])
    return found


def _in_log(image: MetadataImage) -> Mapping[str, int]:
    following = image.producer_ids.get("next")
    found = {_NEXT: following if isinstance(following, int) else 0}  # a log without it begins with 0
    for place, value in image.partitions.items():
        epoch = value.get("leader_epoch")
        if isinstance(epoch, int):
            found[_epoch_of(place)] = epoch
    return found


def _epoch_of(place: str) -> str:
    return f"the leader epoch of {place}"


def _is_of(name: str, topic: str) -> bool:
    return name.rpartition("-")[0] == _epoch_of(topic)
