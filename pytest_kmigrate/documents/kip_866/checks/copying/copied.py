"""Check of the copy by what it holds: all that had been changed in ZooKeeper before the controllers took over."""

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.metadata.acknowledged import Lost, looked_for
from pytest_kmigrate.documents.kip_866.checks.settled import LOG, Settled, first_logs_in_dual_write, takeover_ns
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.evidence import ImagesSettled
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict, Violation

_ROWS = {
    "topics": "K866-PROC-copy-topics",
    "partitions": "K866-PROC-copy-topics",
    "configs": "K866-PROC-copy-configs",
    "quotas": "K866-PROC-copy-quotas-scram",
    "scram": "K866-PROC-copy-quotas-scram",
    "acls": "K866-PROC-copy-acls",
}
"""The requirement of each family of metadata."""


@checker(
    *dict.fromkeys(_ROWS.values()),
    in_every_run=lambda history: bool(history.of(ImagesSettled)),
    anomaly="lost in the copy",
    needs=[Capability.METADATA_LOG],
)
def copy_holds_what_was_acknowledged(history: History) -> Verdict:
    """The metadata log holds every change that was acknowledged before a KRaft controller took ``/controller``.

    Judged by the first image of the log in dual write at a quiet moment, by what was not changed again since.
    """
    rows = ByRequirement(*dict.fromkeys(_ROWS.values()))
    looked, images = 0, list[str]()
    for first in first_logs_in_dual_write(history):
        found, until_ns = looked_for(history, first.labels[LOG]), takeover_ns(history, first.life)
        for state in found.held:
            if until_ns is not None and state.last.at_ns <= until_ns and state.family in _ROWS:
                rows.looked_at(_ROWS[state.family])
                looked += 1
        for lost in found.lost:
            if until_ns is not None and lost.state.last.at_ns <= until_ns and lost.state.family in _ROWS:
                rows.violated(_ROWS[lost.state.family], _violation(history, first, lost))
                images = [*images, *({first.labels[LOG]} - set(images))]
    text = f"{counted(looked, 'value')} acknowledged before the take-over, all in the metadata log"
    return rows.verdict(text, "no image shows anything that was changed before a take-over", images=images)


def _violation(history: History, first: Settled, lost: Lost) -> Violation:
    state, label = lost.state, first.labels[LOG]
    observed = f"it is {state.reported(lost.observed)}"
    return timed_violation(
        history,
        f"{state.subject} is {state.expected} in {label}, as acknowledged before the take-over",
        observed,
        first.ended_ns,
        f"image {label}",
        f"event {state.last.seq}",
    )
