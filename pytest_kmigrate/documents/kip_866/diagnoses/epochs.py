"""kmigrate-11 and kmigrate-12: after a rollback the epochs of the controllers and of their partitions do not fit."""

import re
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER, CONTROLLER_EPOCH
from pytest_kmigrate.checkers.controllers.znode_changes import held_in, was_deleted
from pytest_kmigrate.checkers.evidence.expectations import all_unmet, claims_of, lists_in
from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Verdict

_OLD = (
    r"since its controller epoch {epoch} is old"
    r"|from an old controller \d+ with epoch {epoch}\. Latest known controller epoch"
)


@diagnosis("kmigrate-11")
def partitions_have_the_epoch_of_the_quorum(history: History, verdict: Verdict) -> bool:
    """The epoch of the KRaft controller that holds ``/controller`` is above ``/controller_epoch``."""
    return all_unmet(history, verdict, lambda event: _is_of_a_later_epoch(history, event))


@diagnosis("kmigrate-12")
def controller_epoch_began_anew(history: History, verdict: Verdict) -> bool:
    """``/controller_epoch`` was deleted and made anew with a lower number, which the brokers refuse as old."""
    return all_unmet(history, verdict, lambda event: _is_refused(history, event))


def _is_of_a_later_epoch(history: History, event: Event) -> bool:
    both, claim = lists_in(event), _last(history, CONTROLLER, event.at_ns)
    known = _number(_last(history, CONTROLLER_EPOCH, event.at_ns))
    is_about = "K866-ZNODE-controller-epoch-monotonic" in claims_of(history, event)
    if both is None or both[0] or claim is None or known is None or not is_about:
        return False
    return int(held_in(claim).get("kraftControllerEpoch", -1)) > known


def _is_refused(history: History, event: Event) -> bool:
    """Whether all brokers that are missing among those observed have refused the new epoch."""
    both, epoch = lists_in(event), _epoch_made_anew(history, event.at_ns)
    if both is None or epoch is None:
        return False
    missing = [broker for broker in both[0] if broker not in both[1]]
    old = re.compile(_OLD.format(epoch=epoch))
    return bool(missing) and all(old.search(log_of(history, f"broker-{broker}")) for broker in missing)


def _epoch_made_anew(history: History, at_ns: int) -> int | None:
    """What ``/controller_epoch`` held, if it was deleted and is below what it was."""
    seen = [each for each in history.znodes if each.path == CONTROLLER_EPOCH and each.at_ns <= at_ns]
    numbers = [number for number in map(_number, seen) if number is not None]
    is_anew = any(was_deleted(later, earlier) for earlier, later in pairwise(seen) if earlier.data)
    return numbers[-1] if is_anew and numbers[-1] < max(numbers) else None


def _last(history: History, path: str, at_ns: int) -> ZnodeChange | None:
    return next((each for each in reversed(history.znodes) if each.path == path and each.at_ns <= at_ns), None)


def _number(change: ZnodeChange | None) -> int | None:
    return int(change.data) if change is not None and change.data and change.data.isdecimal() else None
