"""kmigrate-17: the copy is complete, but a controller died before ``/migration`` said so, and no other goes on."""

from collections.abc import Sequence

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.logs import ZONES_NS, logs_of, was_logged_between
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import Wrong, wrong_in
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.clients.brokers_only import clients_are_told_of_brokers_only
from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import clients_are_told_the_same
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION
from pytest_kmigrate.documents.kip_866.diagnoses.owed import is_owed
from pytest_kmigrate.documents.kip_866.diagnoses.unsent import is_uninformed
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.documents.kip_866.expectations import POSITION_HELD
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict, Violation

_GIVEN_UP = "KRaft controller indicates an active migration, but the ZK state does not."
_OF_CLIENTS = (clients_are_told_the_same, clients_are_told_of_brokers_only)
"""What brokers in ZooKeeper mode say, which hear of no controller then."""


@diagnosis("kmigrate-17", windows=since_the_takeover)
def migration_was_given_up_after_the_copy(history: History, verdict: Verdict) -> bool:
    """A controller found the migration begun in its log and not in ``/migration``, which has no position since.

    It explains that, what ZooKeeper lacks, and what brokers in ZooKeeper mode, which hear of no controller, report.
    """
    wrong = wrong_in(history, verdict)
    if wrong is not None:
        return _lacks_what_came_since(history, wrong, verdict.listed("images"))
    if verdict.is_of(*_OF_CLIENTS):
        return all(_is_uninformed(history, each) for each in verdict.violations)
    return all_unmet(
        history,
        verdict,
        lambda event: POSITION_HELD.is_of(event.what) and _is_given_up_at(history, event.at_ns),
    )


def _lacks_what_came_since(history: History, wrong: Wrong, labels: Sequence[str]) -> bool:
    """Whether ZooKeeper alone is behind, was given up when it was looked at, and is behind by what was changed since.

    A difference that no change after the take-over explains has another cause, such as the copy.
    """
    behind = [label for label in labels if history.images[label].source == "zookeeper"]
    taken = [each for label in behind if (each := snapshot(history, label)) is not None]
    claim = next(kraft_claims(history), None)
    if claim is None or wrong.behind(history, "zookeeper") is None or len(taken) < len(behind):
        return False
    is_since = is_owed(history, wrong, labels, lambda at_ns: at_ns >= claim.at_ns)
    return is_since and all(_is_given_up_at(history, each.at_ns) for each in taken)


def _is_uninformed(history: History, violation: Violation) -> bool:
    """Whether a broker in ZooKeeper mode, which hears of no controller then, is what was observed."""
    at_ns = history.end_ns if violation.at_ns is None else violation.at_ns
    return is_uninformed(violation.observed) and _is_given_up_at(history, at_ns)


def _is_given_up_at(history: History, at_ns: int) -> bool:
    """Whether ``/migration`` has no position, and a controller has found so since the first claim of this log."""
    seen = [each for each in history.znodes if each.path == MIGRATION and each.at_ns < at_ns]
    is_without = bool(seen) and held_in(seen[-1]).get("kraft_metadata_offset") == -1
    claims = [each for each in kraft_claims(history) if each.at_ns <= at_ns]
    claim = next((each for each in claims if each.series == claims[-1].series), None)
    if claim is None or not is_without:
        return False
    until_ns = min(at_ns, claim.at_ns + ZONES_NS - 1)
    lines = (
        (line, node) for node, log in logs_of(history, "controller") for line in log.splitlines() if _GIVEN_UP in line
    )
    return any(was_logged_between(history, line, claim.at_ns, until_ns, node) for line, node in lines)
