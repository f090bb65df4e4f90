"""kmigrate-17: the copy is complete, but a controller died before ``/migration`` said so, and no other goes on."""

from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.logs import logs_of
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.clients.answers import OF_ZOOKEEPER_MODE
from pytest_kmigrate.documents.kip_866.checks.clients.brokers_only import clients_are_told_of_brokers_only
from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import clients_are_told_the_same
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.documents.kip_866.expectations import POSITION_HELD
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_GIVEN_UP = "KRaft controller indicates an active migration, but the ZK state does not."
_OF_CLIENTS = (clients_are_told_the_same, clients_are_told_of_brokers_only)
"""What brokers in ZooKeeper mode say, which hear of no controller then."""


@diagnosis("kmigrate-17", windows=since_the_takeover)
def migration_was_given_up_after_the_copy(history: History, verdict: Verdict) -> bool:
    """A controller found the migration begun in its log and not in ``/migration``, which has no position since.

    It explains that, what ZooKeeper lacks, and what brokers in ZooKeeper mode, which hear of no controller, report.
    """
    wrong = wrong_in(history, verdict)
    label = wrong.behind(history, "zookeeper") if wrong else None
    taken = snapshot(history, label) if label is not None else None
    if taken is not None:
        return _is_given_up_at(history, taken.at_ns)
    if verdict.is_of(*_OF_CLIENTS):
        are_of_zookeeper_mode = all(OF_ZOOKEEPER_MODE in each.observed for each in verdict.violations)
        return are_of_zookeeper_mode and _is_given_up_at(history, history.end_ns)
    return all_unmet(
        history,
        verdict,
        lambda event: POSITION_HELD.is_of(event.what) and _is_given_up_at(history, event.at_ns),
    )


def _is_given_up_at(history: History, at_ns: int) -> bool:
    seen = [each for each in history.znodes if each.path == MIGRATION and each.at_ns < at_ns]
    is_without = bool(seen) and held_in(seen[-1]).get("kraft_metadata_offset") == -1
    return is_without and any(_GIVEN_UP in log for _, log in logs_of(history, "controller"))
