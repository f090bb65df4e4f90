"""kmigrate-35: a controller became the leader while its ZooKeeper session had expired, and never takes over."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER
from pytest_kmigrate.checkers.controllers.leaderships import leaderships
from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.logs import line_to, log_of, was_logged_between
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.checkers.metadata.changes import State
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import Wrong, wrong_in
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import clients_are_told_the_same
from pytest_kmigrate.documents.kip_866.checks.dual_write.acceptance import (
    admin_requests_to_zookeeper_brokers_are_carried_out,
)
from pytest_kmigrate.documents.kip_866.checks.dual_write.forwarding import brokers_are_told_of_changes
from pytest_kmigrate.documents.kip_866.checks.znodes.elections import kraft_takes_both_controller_znodes
from pytest_kmigrate.documents.kip_866.diagnoses.owed import is_owed
from pytest_kmigrate.documents.kip_866.diagnoses.stale_migration_znode import hears_nothing
from pytest_kmigrate.documents.kip_866.diagnoses.unsent import were_not_sent
from pytest_kmigrate.documents.kip_866.diagnoses.windows import never_written
from pytest_kmigrate.documents.kip_866.failed_steps import blamed_steps
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.documents.kip_866.procedure import ENTER_MIGRATION
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.events.steps import ActiveControllerChanged, StepEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict

_FAILED = re.compile(
    "Encountered ZooKeeper error during event KRaftLeaderEvent|Unhandled error in KRaftLeaderEvent",
)
_EXPIRED = "ZooKeeperClient KRaft Migration] Session expired."
_WENT_ON = "transitioning from INACTIVE to "
_BEFORE_NS = 10_000_000_000
"""What the former leader did not come to write before it lost the leadership is owed by this one."""
_SEEN_LATE_NS = 5_000_000_000
"""A reign is seen so long after it began."""
_FAILS_WITHIN_NS = 60_000_000_000
"""Where the event waits for a connection, it fails only as the session is found to have expired."""
_LONG_NS = 60_000_000_000
"""By then any other leader would have copied a cluster as small as those of the suite."""
_NOT_COPIED = (Phase.PREPARING.name, Phase.COPYING.name)
_NEVER = (
    kraft_takes_both_controller_znodes,
    admin_requests_to_zookeeper_brokers_are_carried_out,
    clients_are_told_the_same,
)
"""Checks of what did not come in time, and cannot while such a controller leads."""


@dataclass(frozen=True)
class Reign:
    """The time for which a controller led, and its driver did not."""

    node: str
    from_ns: int
    to_ns: int

    def holds(self, at_ns: int) -> bool:
        """Whether something falls in it."""
        return self.from_ns <= at_ns <= self.to_ns

    def owes(self, at_ns: int) -> bool:
        """Whether what was acknowledged at this time was this leader's to write."""
        return self.from_ns - _BEFORE_NS <= at_ns <= self.to_ns

    def owes_state(self, state: State) -> bool:
        """Whether this leader had to send what was changed last."""
        return self.owes(state.last.at_ns)


@diagnosis("kmigrate-35")
def leader_without_a_session_never_took_over(history: History, verdict: Verdict) -> bool:
    """The leader's event failed with an expired session, its driver stayed inactive, and it never claimed its znode.

    It explains, while this controller leads, that another one is in ``/controller``, and that ZooKeeper lacks what was
    acknowledged since it was elected, or leaders and in-sync replicas as they have been since. Brokers in ZooKeeper
    mode were sent none of it: one that was started since knows nothing, and admin requests go to the former leader,
    without an answer. If the copy was still to be made, it is not made.
    """
    led = reigns(history)
    if not led:
        return False
    if verdict.is_of(*_NEVER):
        return any(_never_comes(history, verdict, each) for each in led)
    if verdict.check == brokers_are_told_of_changes.name:
        return any(were_not_sent(history, verdict, stopped_at=each.holds, owes=each.owes_state) for each in led)
    if steps := blamed_steps(history, verdict):
        return all(any(_copies_nothing(history, each, step) for each in led) for step in steps)
    wrong = wrong_in(history, verdict)
    if wrong is None:
        return all_unmet(history, verdict, lambda event: any(_is_held_by_another(each, event) for each in led))
    return any(_was_owed(history, verdict, wrong, each) for each in led)


def _never_comes(history: History, verdict: Verdict, reign: Reign) -> bool:
    """Whether every violation, none left out of the list, is of this time, and none of safety.

    Where brokers report different metadata, all that differs is that one which was started in it knows nothing.
    """
    is_whole = verdict.kind is Kind.LIVENESS and len(verdict.violations) == verdict.count
    if not is_whole or not all(reign.holds(each.at_ns or 0) for each in verdict.violations):
        return False
    if not verdict.is_of(clients_are_told_the_same):
        return True
    begun = [str(event.node) for event in history.of(NodeStarted) if reign.owes(event.at_ns)]
    brokers = [each for each in begun if roles(history).get(each) == "broker"]
    return bool(brokers) and all(hears_nothing(each.observed, brokers) for each in verdict.violations)


def reigns(history: History) -> list[Reign]:
    """The last reign of each controller, by all that shows it, if its driver stayed inactive in it.

    Before the copy the active controller is one of ZooKeeper: who leads the quorum says so by its metrics alone.
    """
    changes = history.of(ActiveControllerChanged)
    led = ((row[0].node, row[0].at_ns) for row in leaderships(history))
    seen = [*_last_of(history, led), *_last_of(history, ((str(each.node), each.at_ns) for each in changes))]
    last = {each.node: each for each in sorted(seen, key=lambda each: each.from_ns)}
    return [each for each in last.values() if _stays_inactive(history, each) and not _claims(history, each)]


def _last_of(history: History, began: Iterable[tuple[str, int]]) -> Iterable[Reign]:
    """The last reign of each node; each ends as the next one begins."""
    spans = pairwise([*began, ("", history.end_ns)])
    return {node: Reign(node, from_ns, to_ns) for (node, from_ns), (_, to_ns) in spans}.values()


def _stays_inactive(history: History, reign: Reign) -> bool:
    """Whether the event of this reign failed, and the driver did not go on; one that failed before says nothing."""
    log = log_of(history, reign.node)
    until_ns = min(reign.to_ns, reign.from_ns + _FAILS_WITHIN_NS)
    failed = [
        each.start()
        for each in _FAILED.finditer(log)
        if was_logged_between(history, line_to(log, each.start()), reign.from_ns - _SEEN_LATE_NS, until_ns, reign.node)
    ]
    return bool(failed) and _EXPIRED in log and _WENT_ON not in log[failed[-1] :]


def _claims(history: History, reign: Reign) -> bool:
    held = [held_in(each) for each in history.znodes if each.path == CONTROLLER and reign.holds(each.at_ns)]
    return any(f"controller-{each.get('brokerid')}" == reign.node for each in held)


def _is_held_by_another(reign: Reign, event: Recorded[ExpectationEnded]) -> bool:
    """Whether an expectation names this controller as it leads, and another controller was observed."""
    expected, observed = event.what.expected, str(event.what.observed)
    is_other = observed.startswith("controller-") and observed != reign.node
    return expected == reign.node and is_other and reign.holds(event.at_ns)


def _copies_nothing(history: History, reign: Reign, step: Recorded[StepEnded]) -> bool:
    """Whether a step waited for this leader's copy until it failed, for longer than a copy takes."""
    waits = step.what.step == ENTER_MIGRATION.name and phase_at(history, step.at_ns) in _NOT_COPIED
    return waits and reign.holds(step.at_ns) and step.at_ns - reign.from_ns >= _LONG_NS


def _was_owed(history: History, verdict: Verdict, wrong: Wrong, reign: Reign) -> bool:
    """Whether all that is wrong is ZooKeeper's, looked at in this reign, and changed when this leader had to write.

    What the log lacks no driver has lost, nor has this one what ZooKeeper's own log has a write of.
    """
    images = {label: history.images[label] for label in verdict.listed("images")}
    behind = [label for label, image in images.items() if image.source == "zookeeper"]
    taken = snapshot(history, behind[0]) if len(behind) == 1 else None
    if taken is None or not reign.holds(taken.at_ns):
        return False
    if wrong.behind(history, "zookeeper") is None or not never_written(history, wrong):
        return False
    return is_owed(history, wrong, list(images), reign.owes)
