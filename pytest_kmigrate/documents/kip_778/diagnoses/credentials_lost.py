"""KAFKA-20774: a node that loads its log loses credentials."""

from pytest_kmigrate.checkers.metadata.credentials import brokers_loaded_without
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict


@diagnosis("KAFKA-20774")
def broker_lost_credentials_as_it_loaded_the_log(history: History, verdict: Verdict) -> bool:
    """Brokers that started again or were cut off lack credentials that others have, and such are all that is wrong."""
    return brokers_loaded_without(history, verdict)
