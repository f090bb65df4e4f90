"""KAFKA-20774: a controller that loads its log loses credentials, and takes them from ZooKeeper as it takes over."""

from urllib.parse import unquote

from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.metadata.changes import has_failed
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.diagnoses.windows import loaded_and_synced
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Write
from pytest_kmigrate.model.verdict import Verdict

_USERS = "/config/users/"


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


def _was_taken(history: History, key: str) -> bool:
    user, _, mechanism = key.rpartition(":")
    changes = [each for each in history.of(EventKind.METADATA_CHANGE) if not has_failed(each)]
    own = [each for each in changes if each.data.get("subject") == key]
    if not own or any(each.data.get("change") == "remove-scram" for each in own):
        return False
    written = [
        each
        for each in history.transactions
        if each.at_ns > own[-1].at_ns and any(_is_without(write, user, mechanism) for write in each.changes)
    ]
    removals = [each for each in changes if _removes_another(each, key, mechanism)]
    return bool(written) and any(loaded_and_synced(history, written[0], own[-1], each) for each in removals)


def _is_without(write: Write, user: str, mechanism: str) -> bool:
    """Whether it sets the configs of a user, and this credential is not among them."""
    configs = held_in(write).get("config")
    is_user = write.path.startswith(_USERS) and unquote(write.path.removeprefix(_USERS)) == user
    return is_user and isinstance(configs, dict) and mechanism not in configs


def _removes_another(change: Event, key: str, mechanism: str) -> bool:
    subject = str(change.data.get("subject"))
    return change.data.get("change") == "remove-scram" and subject != key and subject.endswith(f":{mechanism}")
