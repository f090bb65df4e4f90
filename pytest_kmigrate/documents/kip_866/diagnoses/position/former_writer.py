"""A former controller writes to ZooKeeper when its successor has read ``/migration`` and not claimed yet.

In KAFKA-16171 the successor never gets over it. Since that was mended, it puts back the position that it had read.
"""

from collections.abc import Iterator
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.expectations import Unmet, lists_in
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import (
    held_by_migration,
    migration_znode_never_moves_back,
)
from pytest_kmigrate.documents.kip_866.diagnoses.position.refused import sent_below
from pytest_kmigrate.documents.kip_866.diagnoses.windows import are_within, unwritten
from pytest_kmigrate.documents.kip_866.expectations import TOPICS_LACKING
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Verdict

_CONTROLLER = "/controller"
_READ_NS = 10_000_000_000
"""So long before its claim a controller reads the position, at most."""


@diagnosis("KAFKA-16171", windows=unwritten)
def former_controller_wrote_after_it_was_read(history: History, verdict: Verdict) -> bool:
    """The controller that ``/controller`` names sends a version of ``/migration`` that another has raised since.

    It explains what ZooKeeper lacks.
    """
    return all_unmet(history, verdict, lambda event: _lacks_some(history, event) and _is_stuck_at(history, event.at_ns))


@diagnosis("kmigrate-18")
def position_was_read_before_the_claim(history: History, verdict: Verdict) -> bool:
    """Each time that ``/migration`` moved back, its new owner wrote a position that it had held before."""
    if not verdict.is_of(migration_znode_never_moves_back):
        return False
    at_ns = {each.at_ns for each in verdict.violations}
    fallen = [(before, after) for before, after in _fallen(history) if after.at_ns in at_ns]
    return len(fallen) == len(at_ns) and all(_is_read_before(history, before, after) for before, after in fallen)


def _is_stuck_at(history: History, at_ns: int) -> bool:
    """Whether who is in charge did not write ``/migration`` last, and sends a version below that which it has."""
    claims = [each for each in history.znodes if each.path == _CONTROLLER and each.data and each.at_ns < at_ns]
    written = [each for each in held_by_migration(history) if each.at_ns < at_ns]
    if not claims or not written:
        return False
    owner = held_in(claims[-1]).get("brokerid")
    is_of_another = held_in(written[-1]).get("kraft_controller_id") != owner
    return is_of_another and sent_below(history, f"controller-{owner}", written[-1].version, at_ns)


def _place(change: ZnodeChange) -> tuple[int, int]:
    held = held_in(change)
    return held.get("kraft_metadata_epoch", -1), held.get("kraft_metadata_offset", -1)


def _fallen(history: History) -> Iterator[tuple[ZnodeChange, ZnodeChange]]:
    for before, after in pairwise(held_by_migration(history)):
        if _place(after) < _place(before):
            yield before, after


def _is_read_before(history: History, before: ZnodeChange, after: ZnodeChange) -> bool:
    """Whether another controller, of a later epoch, wrote what the znode held at some time before."""
    former, owner = held_in(before), held_in(after)
    is_new = owner.get("kraft_controller_epoch", -1) > former.get("kraft_controller_epoch", -1)
    is_other = owner.get("kraft_controller_id") != former.get("kraft_controller_id")
    return is_new and is_other and _place(after) in _readable(history, after, before.at_ns)


def _readable(history: History, after: ZnodeChange, before_ns: int) -> list[tuple[int, int]]:
    """What the znode held in the last 10 s before its new owner claimed ``/controller``: one of it the owner read."""
    claims = [each for each in history.znodes if each.path == _CONTROLLER and each.data and each.at_ns <= after.at_ns]
    own = [each for each in claims if held_in(each).get("brokerid") == held_in(after).get("kraft_controller_id")]
    if not own:
        return []
    held = [each for each in held_by_migration(history) if each.at_ns < before_ns]
    ends_ns = [*(each.at_ns for each in held[1:]), before_ns]
    return [_place(each) for each, end in zip(held, ends_ns, strict=True) if end >= own[-1].at_ns - _READ_NS]


def _lacks_some(history: History, event: Unmet) -> bool:
    """Whether a test found topics that ZooKeeper lacks, and none of them was written before."""
    both = lists_in(event) if TOPICS_LACKING.is_of(event.what) else None
    return both is not None and not both[0] and bool(both[1]) and are_within(history, both[1], unwritten(history))
