"""Checks of changes in dual write: they reach the metadata log, and the brokers in ZooKeeper mode."""

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.metadata.acknowledged import Lost, looked_for
from pytest_kmigrate.checkers.metadata.changes import State, began_ns
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.settled import BROKERS, LOG, Settled, dual_write_ns, settled_images
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.evidence import ImagesSettled
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict, Violation

_FORWARDED, _TOLD = "K866-FWD-create-topic", "K866-RPC-umr-on-change"


def _has_settled(history: History) -> bool:
    return bool(history.of(ImagesSettled))


@checker(_FORWARDED, in_every_run=_has_settled, anomaly="change not forwarded", needs=[Capability.METADATA_LOG])
def admin_changes_reach_the_log(history: History) -> Verdict:
    """What any broker acknowledged in dual write, such as the creation of a topic, is in the metadata log.

    Judged by images of the log in dual write; clients ask whichever broker they know.
    """
    rows = ByRequirement(_FORWARDED)
    for each in settled_images(history):
        if each.is_dual_write and each.has(LOG):
            _judge(history, rows, each, _FORWARDED, LOG, ())
    return rows.verdict("what was acknowledged in dual write is in the metadata log", "nothing was changed by then")


@checker(_TOLD, in_every_run=_has_settled, anomaly="broker not told of a change", needs=[Capability.CHANGE])
def brokers_are_told_of_changes(history: History) -> Verdict:
    """Brokers report topics to clients as dual write has made them, while some of the brokers are in ZooKeeper mode.

    Judged by images of what brokers answer; one of them that does not agree makes a value differ from what it must be.
    """
    rows = ByRequirement(_TOLD)
    for each in settled_images(history):
        in_zookeeper_mode = [b for b in brokers_at(history, each.began_ns) if b.is_migrating and b.away_ns is None]
        if each.is_dual_write and each.has(BROKERS) and in_zookeeper_mode:
            _judge(history, rows, each, _TOLD, BROKERS, ("topics", "partitions"))
    text = "all brokers report topics as they were changed in dual write"
    return rows.verdict(text, "no broker in ZooKeeper mode was asked about topics that were changed in dual write")


def _judge(
    history: History, rows: ByRequirement, settled: Settled, row: str, side: str, families: tuple[str, ...]
) -> None:
    """Families: those looked at; none means all."""
    since_ns = dual_write_ns(history, settled.life)

    def is_of_dual_write(state: State) -> bool:
        is_since = since_ns is not None and began_ns(state.last) >= since_ns
        return is_since and (not families or state.family in families)

    looked = looked_for(history, settled.labels[side])
    rows.looked_at(row, sum(is_of_dual_write(state) for state in looked.held))
    for lost in looked.lost:
        if is_of_dual_write(lost.state):
            rows.violated(row, _violation(history, settled, side, lost))


def _violation(history: History, settled: Settled, side: str, lost: Lost) -> Violation:
    state, label = lost.state, settled.labels[side]
    observed = f"it is {state.reported(lost.observed)}"
    expected = f"{state.subject} is {state.expected} in {label}, as a broker acknowledged"
    return timed_violation(history, expected, observed, settled.ended_ns, f"image {label}", f"event {state.last.seq}")
