"""kmigrate-30 and 33, KAFKA-14801: what 3.4, whose migration was an early access, does not bring to the other side."""

import re
from collections.abc import Mapping

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.controllers.lives import active_at
from pytest_kmigrate.checkers.evidence.expectations import all_unmet
from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.diagnoses.copied import znode_of_quota
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict

_ENCODED = "the password in the log, and as the broker reads it in ZooKeeper, "
_OF_A_WAY_BACK = "metadata_changed_in_the_migration_outlives_it"
"""Brokers have then what ZooKeeper has."""
_BROKEN_OFF = re.compile(
    r"fails to send request \(type=LeaderAndIsRequest[^\n]*\njava\.io\.IOException: Connection to \d+ was disconnected"
)
_OFTEN = 100
"""So often no broker that is restarted breaks a connection off; ten times a second it is tried."""
_FOLDERS = {"topic": "topics", "broker": "brokers"}
_DEFAULT_BROKER = "<default>"


@diagnosis("kmigrate-30")
def znode_was_left_as_it_was(history: History, verdict: Verdict) -> bool:
    """No controller has written the znode since what it holds was changed in dual write; ZooKeeper alone is behind.

    What was changed by requests of a test counts from the take-over on, but for the creation of a topic.
    """
    wrong, claim = wrong_in(history, verdict), next(kraft_claims(history), None)
    if wrong is None or claim is None or not wrong.places:
        return False
    behind = {history.images[label].source for label, lost in wrong.lost.items() if lost}
    followers = {"zookeeper", "admin"} if verdict.check == _OF_A_WAY_BACK else {"zookeeper"}
    return behind <= followers and all(_was_left(history, claim.at_ns, *place) for place in wrong.places)


@diagnosis("kmigrate-33")
def brokers_in_kraft_mode_are_sent_orders(history: History, verdict: Verdict) -> bool:
    """The active controller sent LeaderAndIsr to a broker that broke off the connection, each time, and tried again.

    What the same broker needs when it is back in ZooKeeper mode waits behind that; it explains partitions that take
    no write meanwhile.
    """
    if verdict.check != "partitions_stay_available" or verdict.kind is not Kind.LIVENESS:
        return False
    active = [active_at(history, each.at_ns or 0) for each in verdict.violations]
    return bool(active) and all(len(_BROKEN_OFF.findall(log_of(history, node))) >= _OFTEN for node in active)


@diagnosis("KAFKA-14801")
def password_was_not_decoded(history: History, verdict: Verdict) -> bool:
    """The log has another password than ZooKeeper, encoded as it was there, or ZooKeeper has none that can be read."""
    return all_unmet(history, verdict, _is_password_otherwise)


def _was_left(history: History, claimed_ns: int, family: str, key: str) -> bool:
    path, subject = _znode(history, family, key)
    changes = [each for each in history.of(EventKind.METADATA_CHANGE) if each.data.get("subject") == subject]
    changed_ns = [each.at_ns for each in changes if each.at_ns > claimed_ns and each.data.get("outcome") == "ok"]
    since_ns = changed_ns[-1] if changed_ns else claimed_ns
    after = [each for each in history.transactions if each.at_ns > since_ns]
    written = [change for each in after for change in each.changes if change.path == path]
    return path != "" and bool(history.transactions) and all(each.operation == "create" for each in written)


def _znode(history: History, family: str, key: str) -> tuple[str, str]:
    """The path of what is at a place, and the subject of changes to it; both empty for other families."""
    if family in ("topics", "partitions"):
        topics = {each for image in history.images.values() for each in image.topics}
        topic = key if family == "topics" or key in topics else key.rpartition("-")[0]
        return f"/brokers/topics/{topic}", topic
    if family == "configs":
        kind, _, name = key.partition(":")
        return f"/config/{_FOLDERS.get(kind, kind)}/{name or _DEFAULT_BROKER}", key
    return (znode_of_quota(key), key) if family == "quotas" else ("", "")


def _is_password_otherwise(event: Event) -> bool:
    wanted, seen = event.data.get("expected"), event.data.get("observed")
    if not str(event.data.get("name")).startswith(_ENCODED) or not isinstance(wanted, Mapping):
        return False
    return isinstance(seen, Mapping) and (seen.get("log") != wanted.get("log") or seen.get("zookeeper") is None)
