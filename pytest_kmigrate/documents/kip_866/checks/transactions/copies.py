"""The copies of ZooKeeper's metadata in its transactions, and what writes in them are notified by."""

from dataclasses import dataclass

from pytest_kmigrate.documents.kip_866.checks.transactions.conditional import NOTIFICATIONS
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import claims, sets_place
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.keeping import kept

CHANGES_NOTIFIED = (*NOTIFICATIONS, "/delegation_token/token_changes/")


@dataclass(frozen=True)
class Copy:
    """From the claim of a controller to the first place that it puts into ``/migration``."""

    began_ns: int
    ended_ns: int
    zxid: int
    transactions: list[Transaction]


@kept
def copies(history: History) -> list[Copy]:
    """What was logged during each copy; of a log that came with the run's beginning the copy had ended before."""
    found = []
    first = {each.life: each for each in reversed(claims(history)) if each.is_kraft}
    for life, claimed in sorted(first.items()):
        if life == 0 and history.header.inherited_offset >= 0:
            continue
        later = [each for each in history.transactions if each.zxid > claimed.transaction.zxid]
        ended = next((number for number, each in enumerate(later) if sets_place(each)), None)
        if ended is not None:
            begun = claimed.transaction
            found.append(Copy(begun.at_ns, later[ended].at_ns, begun.zxid, later[:ended]))
    return found


def is_named_by(notification: Write, change: Write) -> bool:
    """Whether a notification has the name of a znode, and is of its family."""
    parent, _, name = change.path.rpartition("/")
    family = parent.split("/")[1:2]
    is_of_family = notification.path.split("/")[1].startswith(tuple(family)) and not parent.endswith("changes")
    return is_of_family and bool(name) and name in (notification.data or "")
