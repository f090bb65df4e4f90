"""What known bugs look like to clients that are not served."""

from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.documents.kip_866.checks.migration_znode import GIVEN_UP, is_given_up_at
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.history import History


def signatures_of_unserved(history: History, at_ns: int) -> list[str]:
    """The signatures of what kept clients from being served at ``at_ns``.

    The controller writes to ZooKeeper first and then tells brokers in ZooKeeper mode whom they lead and follow; one
    that does not write there any more tells them nothing, and one that was restarted serves nobody.
    """
    has_brokers_to_tell = phase_at(history, at_ns) == Phase.HYBRID.name
    return [GIVEN_UP] if has_brokers_to_tell and is_given_up_at(history, at_ns) else []
