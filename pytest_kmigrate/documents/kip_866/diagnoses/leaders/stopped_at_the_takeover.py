"""kmigrate-26: a broker that is stopped as KRaft takes over asks the former controller alone to be let go."""

import re

from pytest_kmigrate.checkers.controllers.claims import Claim, kraft_claims
from pytest_kmigrate.checkers.evidence.logs import line_to, log_of, was_logged_between
from pytest_kmigrate.checkers.evidence.moments import took_ns
from pytest_kmigrate.documents.kip_866.checks.procedure.rolling import AS_SOON_AS, brokers_are_rolled_one_by_one
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import (
    healed_since_ns,
    held_by_migration,
    offset_in,
    writer_in,
)
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.nodes import NodeStopped
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict, Violation

_STOPPED = re.compile(AS_SOON_AS.format(r"(\S+)") + "$")
_UNCLEAN = re.compile(
    r"Controlled shutdown request returned after \d+ms with error STALE_CONTROLLER_EPOCH"
    r"(?:(?!Controlled shutdown request returned).)*Proceeding to do an unclean shutdown",
    re.DOTALL,
)
_INFORMED_NS = 15_000_000_000
"""By then brokers know the controller that took over; up to 3.5 its driver takes a second for each of its steps."""


@diagnosis("kmigrate-26", windows=since_the_takeover)
def broker_asked_the_former_controller(history: History, verdict: Verdict) -> bool:
    """The broker was stopped just after the take-over, and ended in an unclean way: its last request was stale."""
    if not verdict.is_of(brokers_are_rolled_one_by_one) or verdict.count > len(verdict.violations):
        return False
    return bool(verdict.violations) and all(_is_of_such_a_stop(history, each) for each in verdict.violations)


def _is_of_such_a_stop(history: History, violation: Violation) -> bool:
    """Whether a violation is of a stop just after a take-over that ended so: others of the broker have other causes."""
    named = _STOPPED.search(violation.expected)
    stops = [
        event
        for event in history.of(NodeStopped)
        if named and event.node == named[1] and event.at_ns == violation.at_ns and event.what.how == "controlled"
    ]
    return any(_is_just_after(history, each) and _ended_unclean(history, each) for each in stops)


def _is_just_after(history: History, stop: Recorded[NodeStopped]) -> bool:
    began_ns = stop.at_ns - took_ns(stop)
    return any(claim.at_ns <= began_ns <= _informed_by_ns(history, claim) for claim in kraft_claims(history))


def _ended_unclean(history: History, stop: Recorded[NodeStopped]) -> bool:
    """Whether the broker logged so in this stop: it may have been stopped again, or before."""
    log = log_of(history, str(stop.node))
    lines = (line_to(log, each.end()) for each in _UNCLEAN.finditer(log))
    return any(
        was_logged_between(history, each, stop.at_ns - took_ns(stop), stop.at_ns, str(stop.node)) for each in lines
    )


def _informed_by_ns(history: History, claim: Claim) -> int:
    """By when brokers know the controller that took over: it sends them nothing before ZooKeeper has what was copied.

    A fault that keeps it from ZooKeeper meanwhile has to be healed first. Once it raises the offset of ``/migration``
    above that of the copy, brokers were sent all, whatever fault goes on.
    """
    writer, by_ns = f"controller-{claim.controller}", claim.at_ns + _INFORMED_NS
    since_ns = healed_since_ns(history, writer, claim.at_ns, by_ns)
    late_ns = (history.end_ns if since_ns is None else since_ns) + _INFORMED_NS
    places = [each for each in held_by_migration(history) if each.at_ns > claim.at_ns and writer_in(each) == writer]
    offsets = [(each.at_ns, offset) for each in places if (offset := offset_in(each) or -1) >= 0]
    raised_ns = [at_ns + _INFORMED_NS for at_ns, offset in offsets if offset > offsets[0][1]]
    return max(by_ns, min([late_ns, *raised_ns[:1]]))
