"""kmigrate-24: of a topic that was being written when ZooKeeper was lost, the last write is made first, and fails."""

import re
from collections.abc import Sequence

from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.logs import logs_of
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import Wrong, wrong_in
from pytest_kmigrate.documents.kip_866.checks.metrics.distance import lag_is_the_distance
from pytest_kmigrate.documents.kip_866.checks.procedure.availability import partitions_stay_available
from pytest_kmigrate.documents.kip_866.checks.procedure.rolling import brokers_are_rolled_one_by_one
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import lacks_its_znode
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION, writer_in
from pytest_kmigrate.documents.kip_866.diagnoses.owed import is_owed
from pytest_kmigrate.documents.kip_866.diagnoses.position.refused import sent_below
from pytest_kmigrate.documents.kip_866.diagnoses.windows import unwritten
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.history import History, Write
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.verdict import Verdict, Violation

_TOGETHER_NS = 1_000_000_000
_RECOVERED_NS = 20_000_000_000
"""By then a controller that took over has sent brokers all there is, and writers have found the leaders."""
_OF_A_TOPIC = re.compile(r"/brokers/topics/([^/]+)(?:/partitions/(\d+)(?:/state)?)?")
_NOT_REPEATED = "Should only see a SetData operation on /migration in the last request"
_OF_A_STANDSTILL = (lag_is_the_distance, brokers_are_rolled_one_by_one, partitions_stay_available)


@diagnosis("kmigrate-24", windows=unwritten)
def topic_was_written_out_of_order(history: History, verdict: Verdict) -> bool:
    """ZooKeeper refused the last writes of a topic, then took all others: partitions have no state.

    It explains that ZooKeeper lacks these. The next change of all partitions raises the version of ``/migration``,
    and the controller goes on with the one before: that explains what ZooKeeper lacks since, a lag that is not the
    distance, and in HYBRID that writes stop with a broker, as the others do not hear what they lead.
    """
    stateless = _without_a_state(history)
    if not stateless or not any(_NOT_REPEATED in log for _, log in logs_of(history, "controller")):
        return False
    if verdict.is_of(*_OF_A_STANDSTILL):
        return bool(verdict.violations) and all(_is_of_a_standstill(history, each) for each in verdict.violations)
    wrong = wrong_in(history, verdict)
    label = wrong.behind(history, "zookeeper") if wrong else None
    taken = snapshot(history, label) if label is not None else None
    if wrong is None or taken is None:
        return False
    if all(family == "partitions" and key in stateless for family, key in wrong.places):
        return True
    return _stands_still_at(history, taken.at_ns) and _is_of_then(history, wrong, verdict.listed("images"))


def _is_of_then(history: History, wrong: Wrong, labels: Sequence[str]) -> bool:
    """Whether what ZooKeeper lacks was changed while it was not written, or is leaders that were elected since."""
    windows = unwritten(history)
    return is_owed(history, wrong, labels, lambda at_ns: any(each.from_ns <= at_ns <= each.to_ns for each in windows))


@kept
def _without_a_state(history: History) -> frozenset[str]:
    """Partitions that a session made just after it was refused a write for want of a znode, and that have no state.

    Those of a topic made then, too: of a topic with many, the znodes of the last partitions were among those refused.
    """
    made, with_state, refused_ns = set[str](), set[str](), dict[int, int]()
    for each in history.transactions:
        if lacks_its_znode(each):
            refused_ns[each.session] = each.at_ns
        is_near = each.at_ns - refused_ns.get(each.session, -_TOGETHER_NS) < _TOGETHER_NS
        for write in (write for write in each.changes if write.operation == "create"):
            if write.path.endswith("/state"):
                with_state |= _made_by(write)
            elif is_near:
                made |= _made_by(write)
    return frozenset(made - with_state)


def _made_by(write: Write) -> set[str]:
    """The partitions that a znode is about, as ``orders-0``; none for one that is not about a topic."""
    match = _OF_A_TOPIC.fullmatch(write.path)
    if match is None:
        return set()
    numbers = [match[2]] if match[2] else held_in(write).get("partitions", ())
    return {f"{match[1]}-{number}" for number in numbers}


def _is_of_a_standstill(history: History, violation: Violation) -> bool:
    """Whether the controller stood still when something began, and until soon before it ended: another one goes on."""
    at_ns, ended_ns = violation.at_ns, violation.ended_ns
    if at_ns is None or ended_ns is None:
        return False
    return all(_stands_still_at(history, each) for each in (at_ns, max(at_ns, ended_ns - _RECOVERED_NS)))


def _stands_still_at(history: History, at_ns: int | None) -> bool:
    """Whether the last writer of ``/migration`` has sent a version below that which its own write had left there."""
    written = [each for each in history.znodes if each.path == MIGRATION and at_ns is not None and each.at_ns < at_ns]
    if at_ns is None or not written or phase_at(history, at_ns) != Phase.HYBRID.name:
        return False
    writer = writer_in(written[-1])
    return sent_below(history, writer, written[-1].version, at_ns)
