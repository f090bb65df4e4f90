"""KAFKA-20774: a node that loads its log loses credentials; a controller takes them from ZooKeeper as it takes over."""

from collections.abc import Mapping
from functools import reduce
from urllib.parse import unquote

from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.checkers.metadata.changes import began_ns, has_failed
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.checks.settled import BROKERS
from pytest_kmigrate.documents.kip_866.diagnoses.windows import loaded_and_synced
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.nodes import NodeReady, NodeStarted
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History, Write
from pytest_kmigrate.model.topology import BrokerMode
from pytest_kmigrate.model.verdict import Verdict

_USERS = "/config/users/"
_LOADED = "Publishing initial metadata at offset"

_Changes = list[Recorded[MetadataChanged]]


@diagnosis("KAFKA-20774")
def controller_took_credentials_from_zookeeper(history: History, verdict: Verdict) -> bool:
    """A KRaft controller wrote users without credentials that were never removed, and such are all that is wrong.

    It had taken over, and been started after another credential of the same mechanism was removed. A controller that
    loads both from its log at once drops the mechanism if the first user that it comes to has none left, and with it
    those that it adds afterwards, whichever of them was changed first.
    """
    wrong = wrong_in(history, verdict)
    if wrong is None or not wrong.places or wrong.behind(history, "zookeeper") is None:
        return False
    return all(family == "scram" and _was_taken(history, key) for family, key in wrong.places)


@diagnosis("KAFKA-20774")
def broker_lost_credentials_as_it_loaded_the_log(history: History, verdict: Verdict) -> bool:
    """Brokers in KRaft mode lack credentials that others have, and such are all that is wrong.

    Each of them was started after another credential of the same mechanism was removed, and was not ready yet when the
    one that it lacks was set last: it loaded both at once, as such a controller does, and its log has this load. By
    their names the removed one is the first that it came to.
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
    return has_last and all(_loaded_without(history, broker, own[-1], removals) for broker in lacking)


def _loaded_without(history: History, broker: str, last: Recorded[MetadataChanged], removals: _Changes) -> bool:
    """Whether a broker was started last in KRaft mode after a removal, and became ready only after ``last``.

    What was changed last is a change of this run, or of the checkpoint that it began from and recorded first.
    """
    starts = [each for each in history.of(NodeStarted) if each.node == broker]
    is_loaded = _LOADED in log_of(history, broker)
    if not is_loaded or not starts or starts[-1].what.mode != BrokerMode.KRAFT.value:
        return False
    ready = [each for each in history.of(NodeReady) if each.node == broker and each.at_ns > starts[-1].at_ns]
    was_removed = any(each.at_ns < starts[-1].at_ns for each in removals)
    if not was_removed or not ready or not 0 < began_ns(last) < ready[0].at_ns:
        return False
    return _drops_all(_of_mechanism(history, last), starts[-1].at_ns, ready[0].at_ns)


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
    if not written or not any(loaded_and_synced(history, written[0], own[-1], each) for each in removals):
        return False
    return _drops_all(_of_mechanism(history, own[-1]), own[-1].at_ns, written[0].at_ns)


def _drops_all(changes: _Changes, certain_ns: int, until_ns: int) -> bool:
    """Whether a load of these changes, at least of those by ``certain_ns``, begins with a user without a credential.

    ``ScramDelta`` drops a mechanism as soon as no credential of it is left, and goes on filling what it dropped. It
    comes to the users in the order of a Java ``HashMap``.
    """
    loaded = [each for each in changes if began_ns(each) < until_ns]
    least = sum(each.at_ns <= certain_ns for each in loaded)
    return any(_begins_with_a_removal(loaded[:count]) for count in range(max(least, 1), len(loaded) + 1))


def _begins_with_a_removal(changes: _Changes) -> bool:
    """Whether the user that comes first in a ``HashMap`` of these changes has no credential after them."""
    last = {each.what.subject.rpartition(":")[0]: _removes(each) for each in changes}
    places = 16
    while len(last) > places * 3 // 4:
        places *= 2
    return last[min(last, key=lambda user: _spread_hash(user) % places)]


def _spread_hash(text: str) -> int:
    """The hash of a string by which a Java ``HashMap`` chooses its place."""
    units = memoryview(text.encode("utf-16-le")).cast("H")
    value = reduce(lambda so_far, unit: (31 * so_far + unit) & 0xFFFFFFFF, units, 0)
    return value ^ value >> 16


def _is_without(write: Write, user: str, mechanism: str) -> bool:
    """Whether it sets the configs of a user, and this credential is not among them."""
    configs = held_in(write).get("config")
    is_user = write.path.startswith(_USERS) and unquote(write.path.removeprefix(_USERS)) == user
    return is_user and isinstance(configs, dict) and mechanism not in configs


def _changes_about(history: History, key: str) -> tuple[_Changes, _Changes]:
    """The changes of a credential, and the removals of others of its mechanism, as far as they were not refused."""
    changes = [each for each in history.of(MetadataChanged) if not has_failed(each)]
    own = [each for each in changes if each.what.subject == key]
    others = [each for each in changes if _removes(each) and each.what.subject != key]
    return own, [each for each in others if _mechanism(each) == key.rpartition(":")[2]]


def _of_mechanism(history: History, change: Recorded[MetadataChanged]) -> _Changes:
    """The changes of all credentials of the same mechanism, as far as they were not refused."""
    mechanism = _mechanism(change)
    return [e for e in history.of(MetadataChanged) if not has_failed(e) and _is_scram(e) and _mechanism(e) == mechanism]


def _is_scram(change: Recorded[MetadataChanged]) -> bool:
    return change.what.change in ("set-scram", "remove-scram")


def _mechanism(change: Recorded[MetadataChanged]) -> str:
    return change.what.subject.rpartition(":")[2]


def _removes(change: Recorded[MetadataChanged]) -> bool:
    return change.what.change == "remove-scram"
