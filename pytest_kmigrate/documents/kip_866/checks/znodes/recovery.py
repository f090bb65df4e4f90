"""Check of what a new controller does in dual write: it goes on where ``/migration`` says, and copies nothing again."""

from itertools import pairwise

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.controllers.znode_changes import evidence_of, held_in, since_controllers, untampered
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.log_images import LogImage, log_images
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import (
    MIGRATION,
    has_place,
    holds_position,
    offset_in,
)
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Verdict, Violation

_RECOVERY = "K866-ZNODE-migration-recovery"


@checker(
    _RECOVERY,
    in_every_run=holds_position,
    anomaly="copied again after a failover",
    needs=[Capability.ZNODES, Capability.METADATA_LOG],
)
def failover_copies_nothing_again(history: History) -> Verdict:
    """A controller that takes over in dual write goes on from the place in ``/migration``, and copies nothing again.

    That nothing is copied again shows in an image of the log that was taken afterwards.
    """
    rows = ByRequirement(_RECOVERY)
    images = log_images(history)
    failovers = _failovers(history)
    for before, after, life in failovers:
        later = [log for log in images if log.life == life and log.began_ns > after.at_ns]
        if not has_place(after):
            observed = f"it begins anew, after {offset_in(before)}: {after.data}"
            expected = f"a new controller goes on from the place in {MIGRATION}"
            rows.violated(_RECOVERY, timed_violation(history, expected, observed, after.at_ns, evidence_of(after)))
        elif later:
            rows.looked_at(_RECOVERY)
        for log in (each for each in later if _copies(each) > 1):
            rows.violated(_RECOVERY, _again(history, log))
    text = f"{counted(len(failovers), 'failover')} in dual write, after which the new controller went on"
    return rows.verdict(text, "no controller took over in dual write whose log was looked at afterwards")


def _failovers(history: History) -> list[tuple[ZnodeChange, ZnodeChange, int]]:
    """Contents of ``/migration`` in a row by two controllers, the first with a place, in one life of the log."""
    starts = life_starts_ns(history)
    written = [each for each in since_controllers(history, untampered(history, MIGRATION)) if held_in(each)]
    lives = [life_at(starts, each.at_ns) for each in written]
    return [
        (before, after, life)
        for (before, life), (after, later) in pairwise(zip(written, lives, strict=True))
        if life == later and has_place(before) and _writer(before) != _writer(after)
    ]


def _writer(change: ZnodeChange) -> tuple[object, object]:
    held = held_in(change)
    return held.get("kraft_controller_id"), held.get("kraft_controller_epoch")


def _copies(log: LogImage) -> int:
    """How many transactions with metadata came to their end, from that of the copy on."""
    return sum(log.copied is not None and end > log.copied.offset for end in log.metadata_until)


def _again(history: History, log: LogImage) -> Violation:
    observed = f"{_copies(log)} transactions with metadata ended in the log"
    return timed_violation(history, "the metadata is copied once", observed, log.ended_ns, log.file)
