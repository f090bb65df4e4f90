"""KIP-866 as the rest of the product uses it."""

from pytest_kmigrate.checkers.registry import checkers_in
from pytest_kmigrate.documents.kip_866.bindings import BINDINGS
from pytest_kmigrate.model.document import Document

DOCUMENT = Document(
    id="kip-866",
    title="KIP-866: ZooKeeper to KRaft migration",
    checks=(*checkers_in("pytest_kmigrate.documents.kip_866.checks"), *BINDINGS),
)
