"""Check of topics whose deletion was pending at the take-over: it is finished in ZooKeeper, too."""

from pytest_kmigrate.checkers.controllers.lives import life_starts_ns
from pytest_kmigrate.checkers.controllers.quorum_stops import without_quorum
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.replicas import served_ns
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.settled import (
    ZOOKEEPER,
    image_of,
    settled_images,
    takeover_ns,
)
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict

_PENDING, _TOPICS = "/admin/delete_topics", "/brokers/topics"
_DONE_NS = 60_000_000_000  # by then a controller that goes on has carried it out
_ROW = "K866-DW-deletion-finalized-in-zk"


@checker(
    _ROW,
    in_every_run=lambda history: any(each.path == _PENDING for each in history.znodes),
    anomaly="deletion left in ZooKeeper",
    needs=[Capability.ZNODES],
)
def pending_deletions_leave_zookeeper(history: History) -> Verdict:
    """Of a topic whose deletion was pending when KRaft took over, ZooKeeper holds nothing any more in dual write.

    Pending is what ``/admin/delete_topics`` listed at the take-over. The topic must leave it and ``/brokers/topics`` in
    60 s in which the quorum was not stopped; in the images of ZooKeeper its configs must be gone, too.
    """
    rows = ByRequirement(_ROW)
    looked = 0
    for life in range(len(life_starts_ns(history)) + 1):
        since_ns = takeover_ns(history, life)
        for topic in sorted(_pending_at(history, since_ns)) if since_ns is not None else ():
            looked += _judge(history, rows, topic, since_ns or 0, life)
    text = f"nothing is left in ZooKeeper of {counted(looked, 'topic')} whose deletion was pending at the take-over"
    return rows.verdict(text, "no deletion was pending at a take-over")


def _judge(history: History, rows: ByRequirement, topic: str, since_ns: int, life: int) -> bool:
    """Whether it is known what became of the topic, of which nothing must be left."""
    until_ns = _until_ns(history, life)
    seen = {path: _children(history, path, until_ns) for path in (_PENDING, _TOPICS)}
    left = [f"{path}/{topic}" for path, children in seen.items() if topic in children]
    left += [] if left else sorted(_configs_left(history, topic, life))
    if left and served_ns(since_ns, until_ns, without_quorum(history)) < _DONE_NS:
        return False
    if left:
        observed = f"{' and '.join(left)} is still there"
        expected = f"nothing is left of {topic}, whose deletion was pending"
        awaited = (since_ns, until_ns)
        violation = timed_violation(history, expected, observed, until_ns, f"znode {_PENDING}", awaited=awaited)
        rows.violated(_ROW, violation, Kind.LIVENESS)
    else:
        rows.looked_at(_ROW)
    return True


def _until_ns(history: History, life: int) -> int:
    """The end of a life of the metadata log, or of the run."""
    starts = life_starts_ns(history)
    return starts[life] if life < len(starts) else history.end_ns


def _children(history: History, path: str, at_ns: int) -> set[str]:
    """What a znode had below it at an instant, as the watch saw it."""
    seen = [each for each in history.znodes if each.path == path and each.at_ns <= at_ns]
    return set(seen[-1].children) if seen else set()


def _pending_at(history: History, at_ns: int | None) -> set[str]:
    return _children(history, _PENDING, at_ns) if at_ns is not None else set()


def _configs_left(history: History, topic: str, life: int) -> set[str]:
    """What the last image of ZooKeeper in dual write has of the topic's configs."""
    pairs = [each for each in settled_images(history) if each.life == life and each.is_dual_write]
    lasts = [image_of(history, each, ZOOKEEPER) for each in pairs if each.has(ZOOKEEPER)][-1:]
    return {f"/config/topics/{topic}" for image in lasts if f"topic:{topic}" in image.configs}
