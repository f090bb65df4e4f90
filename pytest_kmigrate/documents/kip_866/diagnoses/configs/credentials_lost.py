"""KAFKA-20774: a node that loads its log loses credentials; a controller takes them from ZooKeeper as it takes over."""

from collections.abc import Mapping
from urllib.parse import unquote

from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.metadata.credentials import (
    brokers_loaded_without,
    changes_about,
    drops_all,
    of_mechanism,
    removes,
)
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.diagnoses.windows import loaded_and_synced
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.history import History, Transaction
from pytest_kmigrate.model.verdict import Verdict

_USERS = "/config/users/"


@diagnosis("KAFKA-20774")
def controller_took_credentials_from_zookeeper(history: History, verdict: Verdict) -> bool:
    """A KRaft controller wrote users without credentials that were never removed, and such are all that is wrong.

    It had taken over, and been started after another credential of the same mechanism was removed. A controller that
    loads both from its log at once drops the mechanism if the first user that it comes to has none left, and with it
    those that it adds afterwards, whichever of them was changed first.
    """
    wrong = wrong_in(history, verdict)
    label = wrong.behind(history, "zookeeper") if wrong else None
    if wrong is None or not wrong.places or label is None:
        return False
    return all(family == "scram" and _was_taken(history, key, label) for family, key in wrong.places)


@diagnosis("KAFKA-20774")
def broker_lost_credentials_as_it_loaded_the_log(history: History, verdict: Verdict) -> bool:
    """Brokers in KRaft mode lack credentials that others have, and such are all that is wrong.

    Each of them read it and the removal of another one of the same mechanism at once, as such a controller does: as it
    came up, or after its high watermark had stood still. By their names the removed one is the first that it came to.
    """
    return brokers_loaded_without(history, verdict)


def _was_taken(history: History, key: str, label: str) -> bool:
    """Whether this image lacks a credential since such a sync: none has written it from then to the image."""
    user, _, mechanism = key.rpartition(":")
    own, removals = changes_about(history, key)
    taken = snapshot(history, label)
    if taken is None or key in history.images[label].scram or not own or any(map(removes, own)):
        return False
    writes = [
        (each, mechanism in configs)
        for each in history.transactions
        if own[-1].at_ns < each.at_ns <= taken.at_ns
        for configs in [_configs_of(each, user)]
        if configs is not None
    ]
    since = max((number for number, (_, has_it) in enumerate(writes, 1) if has_it), default=0)
    written = [each for each, _ in writes[since:]]
    if not written or not any(loaded_and_synced(history, written[0], own[-1], each) for each in removals):
        return False
    return drops_all(of_mechanism(history, own[-1]), own[-1].at_ns, written[0].at_ns)


def _configs_of(transaction: Transaction, user: str) -> Mapping[str, object] | None:
    """What a transaction sets the configs of a user to; None: it leaves them alone."""
    for write in transaction.changes:
        configs = held_in(write).get("config")
        is_user = write.path.startswith(_USERS) and unquote(write.path.removeprefix(_USERS)) == user
        if is_user and isinstance(configs, dict):
            return configs
    return None
