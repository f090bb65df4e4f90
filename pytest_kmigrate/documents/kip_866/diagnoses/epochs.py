"""kmigrate-11, 12 and 21: after a rollback the epochs of the controllers and of their partitions do not fit."""

import re
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER, CONTROLLER_EPOCH, kraft_claims
from pytest_kmigrate.checkers.controllers.znode_changes import held_in, was_deleted
from pytest_kmigrate.checkers.evidence.expectations import Unmet, claims_of, lists_in
from pytest_kmigrate.checkers.evidence.logs import log_of, logs_of
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.procedure.availability import partitions_stay_available
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Verdict

_OLD = (
    r"since its controller epoch {epoch} is old"
    r"|from an old controller \d+ with epoch {epoch}\. Latest known controller epoch"
)
_STARVED = re.compile(r"some write to (\S+) is acknowledged")
_REFUSED_TO_LEAD = "Skipped the become-leader state change for {} .* already at a newer partition epoch"
# The controller may give up to take a dead replica out of the in-sync ones, too, which "all" then waits for.
_ABORTED_CHANGE = (
    "Aborted leader election for partition {0} since .* already written by another controller"
    r"|state change of replica \d+ for partition {0} from \w+ to OfflineReplica failed.*\n"
    ".*isr path written by another controller"
)


@diagnosis("kmigrate-21", windows=since_the_takeover)
def partitions_have_an_epoch_above_their_znode(history: History, verdict: Verdict) -> bool:
    """A broker refused to lead each partition: by KRaft it knew a later epoch of it than its znode has versions."""
    return _all_starved(history, verdict, _REFUSED_TO_LEAD)


@diagnosis("kmigrate-11", windows=since_the_takeover)
def partitions_have_the_epoch_of_the_quorum(history: History, verdict: Verdict) -> bool:
    """The epoch of the KRaft controller that holds ``/controller`` is above ``/controller_epoch``.

    Later a controller of ZooKeeper gives up to elect a leader or to change its in-sync replicas, as it takes itself for
    one that was succeeded.
    """
    if _all_starved(history, verdict, _ABORTED_CHANGE):
        return any(_is_above(history, each, each.at_ns) for each in history.znodes if each.path == CONTROLLER)
    return all_unmet(history, verdict, lambda event: _is_of_a_later_epoch(history, event))


@diagnosis("kmigrate-12")
def controller_epoch_began_anew(history: History, verdict: Verdict) -> bool:
    """``/controller_epoch`` was deleted and made anew with a lower number, which the brokers refuse as old."""
    return all_unmet(history, verdict, lambda event: _is_refused(history, event))


def _all_starved(history: History, verdict: Verdict, reason: str) -> bool:
    """Whether each partition that no write reached has a broker that logged the reason, in which it is named.

    No write reached it since a controller of ZooKeeper was in charge again: before that KRaft elects its leaders.
    """
    if not verdict.is_of(partitions_stay_available) or verdict.count != len(verdict.violations):
        return False
    back_ns = _rolled_back_ns(history)
    if back_ns is None or any((each.ended_ns or 0) <= back_ns for each in verdict.violations):
        return False
    named = [_STARVED.search(each.expected) for each in verdict.violations]
    logs = [log for _, log in logs_of(history, "broker")]
    return all(found and any(re.search(reason.format(re.escape(found[1])), log) for log in logs) for found in named)


def _rolled_back_ns(history: History) -> int | None:
    """When a controller of ZooKeeper first held ``/controller`` after KRaft; None: none was seen to."""
    claim = next(kraft_claims(history), None)
    held = [(each.at_ns, held_in(each)) for each in history.znodes if each.path == CONTROLLER]
    return next(
        (
            at_ns
            for at_ns, holder in held
            if claim is not None
            and at_ns > claim.at_ns
            and "brokerid" in holder
            and int(holder.get("kraftControllerEpoch", -1)) < 0
        ),
        None,
    )


def _is_of_a_later_epoch(history: History, event: Unmet) -> bool:
    both, claim = lists_in(event), _last(history, CONTROLLER, event.at_ns)
    is_about = "K866-ZNODE-controller-epoch-monotonic" in claims_of(history, event)
    return (
        both is not None and not both[0] and is_about and claim is not None and _is_above(history, claim, event.at_ns)
    )


def _is_above(history: History, claim: ZnodeChange, at_ns: int) -> bool:
    """Whether the epoch in ``/controller`` was above ``/controller_epoch`` then."""
    known = _number(_last(history, CONTROLLER_EPOCH, at_ns))
    return known is not None and int(held_in(claim).get("kraftControllerEpoch", -1)) > known


def _is_refused(history: History, event: Unmet) -> bool:
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
