"""KAFKA-20774: a node that loads its log loses credentials; a controller takes them from ZooKeeper as it takes over."""

from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.checkers.metadata.changes import began_ns, has_failed
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.checks.settled import BROKERS
from pytest_kmigrate.documents.kip_866.diagnoses.windows import loaded_and_synced
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Event, Recorded
from pytest_kmigrate.model.events.nodes import NodeReady, NodeStarted
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History, Write
from pytest_kmigrate.model.topology import BrokerMode
from pytest_kmigrate.model.verdict import Verdict

_USERS = "/config/users/"
_LOADED = "Publishing initial metadata at offset"


@diagnosis("KAFKA-20774")
def controller_took_credentials_from_zookeeper(history: History, verdict: Verdict) -> bool:
    """A KRaft controller wrote users without credentials that were never removed, and such are all that is wrong.

    It had taken over, and been started after another credential of the same mechanism was removed. A controller that
    loads both from its log at once drops the mechanism when no credential of it is left, and with it those that it
    adds afterwards.
    """
    wrong = wrong_in(history, verdict)
    if wrong is None or not wrong.places or wrong.behind(history, "zookeeper") is None:
        return False
    return all(family == "scram" and _was_taken(history, key) for family, key in wrong.places)


@diagnosis("KAFKA-20774")
def broker_lost_credentials_as_it_loaded_the_log(history: History, verdict: Verdict) -> bool:
    """Brokers in KRaft mode lack credentials that others have, and such are all that is wrong.

    Each of them was started after another credential of the same mechanism was removed, and was not ready yet when the
    one that it lacks was set last: it loaded both at once, as such a controller does, and its log has this load.
    """
    wrong = wrong_in(history, verdict)
    if wrong is None or not wrong.places:
        return False
    return all(family == "scram" and _was_loaded_without(history, verdict, key) for family, key in wrong.places)


def _was_loaded_without(history: History, verdict: Verdict, key: str) -> bool:
    images = [history.images[label] for label in verdict.listed("images")]
    seen = [image.scram.get(key, {}).get("iterations") for image in images if image.source == BROKERS]
    if len(seen) != 1 or not isinstance(seen[0], Mapping):
        return False
    lacking = [broker for broker, iterations in seen[0].items() if iterations is None]
    own, removals = _changes_about(history, key)
    if not lacking or not own or _removes(own[-1]):
        return False
    others = {iterations for iterations in seen[0].values() if iterations is not None}
    has_last = others == {own[-1].what.wanted.get("iterations")}
    return has_last and all(_loaded(history, broker, own[-1], removals) for broker in lacking)


def _loaded(history: History, broker: str, last: Recorded[MetadataChanged], removals: Sequence[Event]) -> bool:
    """Whether a broker was started last in KRaft mode after a removal, and became ready only after ``last``."""
    starts = [each for each in history.of(NodeStarted) if each.node == broker]
    is_loaded = _LOADED in log_of(history, broker)
    if not is_loaded or not starts or starts[-1].what.mode != BrokerMode.KRAFT.value:
        return False
    ready = [each for each in history.of(NodeReady) if each.node == broker and each.at_ns > starts[-1].at_ns]
    was_removed = any(each.at_ns < min(starts[-1].at_ns, began_ns(last)) for each in removals)
    return was_removed and bool(ready) and began_ns(last) < ready[0].at_ns


def _was_taken(history: History, key: str) -> bool:
    user, _, mechanism = key.rpartition(":")
    own, removals = _changes_about(history, key)
    if not own or any(map(_removes, own)):
        return False
    written = [
        each
        for each in history.transactions
        if each.at_ns > own[-1].at_ns and any(_is_without(write, user, mechanism) for write in each.changes)
    ]
    return bool(written) and any(loaded_and_synced(history, written[0], own[-1], each) for each in removals)


def _is_without(write: Write, user: str, mechanism: str) -> bool:
    """Whether it sets the configs of a user, and this credential is not among them."""
    configs = held_in(write).get("config")
    is_user = write.path.startswith(_USERS) and unquote(write.path.removeprefix(_USERS)) == user
    return is_user and isinstance(configs, dict) and mechanism not in configs


_Changes = list[Recorded[MetadataChanged]]


def _changes_about(history: History, key: str) -> tuple[_Changes, _Changes]:
    """The changes of a credential, and the removals of others of its mechanism, as far as they were not refused."""
    changes = [each for each in history.of(MetadataChanged) if not has_failed(each)]
    own = [each for each in changes if each.what.subject == key]
    others = [each for each in changes if _removes(each) and each.what.subject != key]
    mechanism = key.rpartition(":")[2]
    return own, [each for each in others if each.what.subject.endswith(f":{mechanism}")]


def _removes(change: Recorded[MetadataChanged]) -> bool:
    return change.what.change == "remove-scram"
