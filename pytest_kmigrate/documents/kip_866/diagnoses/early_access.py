"""kmigrate-30 and 33, KAFKA-14801: what 3.4, whose migration was an early access, does not bring to the other side."""

import re
from collections.abc import Collection, Mapping

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.controllers.lives import active_at
from pytest_kmigrate.checkers.controllers.znode_changes import writes_to
from pytest_kmigrate.checkers.evidence.logs import log_of, logs_of
from pytest_kmigrate.checkers.metadata.made import znode_of
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.metadata_kept import metadata_changed_in_the_migration_outlives_it
from pytest_kmigrate.documents.kip_866.checks.procedure.availability import partitions_stay_available
from pytest_kmigrate.documents.kip_866.diagnoses.copied import as_copied_by_3_4, sides
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.documents.kip_866.driver_log import TO_DUAL_WRITE
from pytest_kmigrate.documents.kip_866.expectations import IN_FLIGHT, PARTITIONS_WRITTEN, PASSWORD_COPIED
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict

"""Brokers have then what ZooKeeper has."""
_BROKEN_OFF = re.compile(
    r"fails to send request \(type=LeaderAndIsRequest[^\n]*\njava\.io\.IOException: Connection to \d+ was disconnected"
)
_OFTEN = 100
"""So often no broker that is restarted breaks a connection off."""
_MIRRORED = ("topics", "partitions", "configs", "quotas")
_FAILED = "Error during ZK migration"
_WAITS, _WAITS_NO_MORE = "to WAIT_FOR_BROKERS state", "from WAIT_FOR_BROKERS to"
_ORDERS = re.compile(r"Sending LeaderAndIsr request to broker \d+ with")
_ORDERS_LOST = re.compile(
    r"handleBrokerFenced: changing [1-9]\d* partition\(s\)[^\n]*\n(?:(?!.*Sending LeaderAndIsr)[^\n]*\n)*?[^\n]*"
    + _FAILED
)
"""A broker was fenced, and the failure came before any broker was sent what that changed."""


@diagnosis("kmigrate-30")
def znode_was_left_as_it_was(history: History, verdict: Verdict) -> bool:
    """ZooKeeper alone is behind in what changed in dual write, and no controller has written the znode since.

    A topic was deleted, a replica moved, or a controller reported that its migration driver failed: it goes on with
    the next batch, and sends brokers nothing of the one that failed. Or one took over when no broker was in ZooKeeper
    mode any more, and waits for them; or a topic was made before it came to dual write. Quotas that are taken away
    stay where the log has them under another kind (kmigrate-28).
    """
    wrong, claim = wrong_in(history, verdict), next(kraft_claims(history), None)
    if claim is None:
        return False
    if wrong is None:
        return _were_orders_lost(history, verdict, claim.at_ns) or all_unmet(
            history, verdict, lambda event: _was_made_before_dual_write(history, event)
        )
    if not wrong.places:
        return False
    behind = {history.images[label].source for label, lost in wrong.lost.items() if lost}
    followers = (
        {"zookeeper", "admin"} if verdict.is_of(metadata_changed_in_the_migration_outlives_it) else {"zookeeper"}
    )
    return behind <= followers and all(_was_missed(history, claim.at_ns, wrong.lost, *place) for place in wrong.places)


@diagnosis("kmigrate-33")
def brokers_in_kraft_mode_are_sent_orders(history: History, verdict: Verdict) -> bool:
    """The active controller sent LeaderAndIsr to a broker that broke off the connection, each time, and tried again.

    What a broker needs that goes back to ZooKeeper mode waits behind that; it explains partitions that take no write
    once one has.
    """
    waiting_ns = _waiting_since(verdict)
    return bool(waiting_ns) and all(
        _went_back(history, at_ns) and len(_BROKEN_OFF.findall(log_of(history, active_at(history, at_ns)))) >= _OFTEN
        for at_ns in waiting_ns
    )


@diagnosis("KAFKA-14801", windows=since_the_takeover)
def password_was_not_decoded(history: History, verdict: Verdict) -> bool:
    """The log has another password than ZooKeeper, encoded as it was there, or ZooKeeper has none that can be read."""
    return all_unmet(history, verdict, _is_password_otherwise)


def _went_back(history: History, at_ns: int) -> bool:
    """Whether a broker was started in ZooKeeper mode by then that had run in KRaft mode."""
    modes: dict[object, list[object]] = {}
    for event in history.of(NodeStarted):
        if event.at_ns <= at_ns:
            modes.setdefault(event.node, []).append(event.what.mode)
    return any("kraft" in each and each[-1] == "zookeeper" for each in modes.values())


def _was_missed(history: History, claimed_ns: int, labels: Collection[str], family: str, key: str) -> bool:
    """Whether the driver missed the last change of what is at a place, and shows why.

    It writes some changes and misses others: the last one that was acknowledged counts, and only a write of its value
    refutes it, as the creation of the znode may be an earlier change that is written behind.
    """
    path, subject = znode_of(history, family, key)
    changes = [each for each in history.of(MetadataChanged) if each.what.subject == subject]
    changed = [each for each in changes if each.at_ns > claimed_ns and each.what.outcome == "ok"]
    since_ns = changed[-1].what.began_ns if changed else claimed_ns
    written = {write.operation for each, write in writes_to(history, path) if each.at_ns > since_ns}
    if family not in _MIRRORED or not history.transactions or written - {"create"}:
        return False
    logs = [image for image in history.images.values() if image.source == "metadata-log"]
    if family == "quotas" and any(as_copied_by_3_4(key) in log.quotas for log in logs):
        return True
    has_failed = any(_FAILED in log for _, log in logs_of(history, "controller")) or _waits_for_brokers(
        log_of(history, active_at(history, since_ns))
    )
    if changed:
        return has_failed or changed[-1].what.change == "delete-topic"
    return family == "partitions" and _was_changed(history, labels, key, has_failed=has_failed)


def _were_orders_lost(history: History, verdict: Verdict, claimed_ns: int) -> bool:
    """Whether partitions take no write since brokers do not know who leads them: a batch that fenced one failed."""
    waiting_ns = _waiting_since(verdict)
    return bool(waiting_ns) and all(
        at_ns > claimed_ns and bool(_ORDERS_LOST.search(log_of(history, active_at(history, at_ns))))
        for at_ns in waiting_ns
    )


def _waiting_since(verdict: Verdict) -> list[int]:
    """Since when each partition takes no write; none for another verdict, or one that does not list them all."""
    is_about = verdict.is_of(partitions_stay_available) and verdict.kind is Kind.LIVENESS
    is_whole = verdict.count == len(verdict.violations)
    return [each.at_ns or 0 for each in verdict.violations] if is_about and is_whole else []


def _was_made_before_dual_write(history: History, event: Recorded[ExpectationEnded]) -> bool:
    """Whether ZooKeeper has nothing of a topic, and the active controller changed none since it came to dual write.

    It sent the brokers all partitions just before. What is not written has no requests in flight.
    """
    if IN_FLIGHT.is_of(event.what):
        others = [each for each in history.of(ExpectationEnded) if PARTITIONS_WRITTEN.is_of(each.what)]
        return event.what.observed is False and any(_was_made_before_dual_write(history, each) for each in others)
    topic = PARTITIONS_WRITTEN.places_in(event.what)
    if topic is None or event.what.observed != 0 or not history.transactions:
        return False
    before, came, after = log_of(history, active_at(history, event.at_ns)).rpartition(TO_DUAL_WRITE)
    written = writes_to(history, f"/brokers/topics/{topic['topic']}")
    return bool(came) and not written and bool(_ORDERS.search(before)) and not _ORDERS.search(after)


def _waits_for_brokers(log: str) -> bool:
    """Whether the driver of a controller has not come beyond waiting for brokers in ZooKeeper mode again."""
    return _WAITS in log and _WAITS_NO_MORE not in log.rpartition(_WAITS)[2]


def _was_changed(history: History, labels: Collection[str], partition: str, *, has_failed: bool) -> bool:
    """Whether a partition was added or led anew, and a driver failed, or has other replicas.

    No request that is recorded does that.
    """
    pairs = [(log.partitions.get(partition), tree.partitions.get(partition)) for log, tree in sides(history, labels)]
    return bool(pairs) and all(
        log is not None and (_is_otherwise(log, tree) or (has_failed and _is_later(log, tree))) for log, tree in pairs
    )


def _is_otherwise(log: Mapping[str, object], tree: Mapping[str, object] | None) -> bool:
    """Whether replicas were moved, or another image has the difference."""
    return tree is not None and (log == tree or log.get("replicas") != tree.get("replicas"))


def _is_later(log: Mapping[str, object], tree: Mapping[str, object] | None) -> bool:
    return tree is None or int(str(log.get("leader_epoch", 0))) > int(str(tree.get("leader_epoch", 0)))


def _is_password_otherwise(event: Recorded[ExpectationEnded]) -> bool:
    wanted, seen = event.what.expected, event.what.observed
    if not PASSWORD_COPIED.is_of(event.what):
        return False
    if not isinstance(wanted, Mapping) or not isinstance(seen, Mapping) or seen.get("log") is None:
        return False
    is_otherwise = seen["log"] != wanted.get("log") and seen.get("zookeeper") == wanted.get("zookeeper")
    return is_otherwise or (seen["log"] == wanted.get("log") and seen.get("zookeeper") is None)
