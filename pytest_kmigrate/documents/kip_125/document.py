"""KIP-125 as the rest of the product uses it."""

from pytest_kmigrate.checkers.registry import checkers_in
from pytest_kmigrate.documents.kip_125.bindings import BINDINGS
from pytest_kmigrate.documents.kip_125.group import MEMBERS
from pytest_kmigrate.documents.kip_125.operating import Operator
from pytest_kmigrate.model.document import Document

DOCUMENT = Document(
    id="kip-125",
    title="KIP-125: ZookeeperConsumerConnector to KafkaConsumer migration and rollback",
    checks=(*checkers_in("pytest_kmigrate.documents.kip_125.checks"), *BINDINGS),
    members=MEMBERS,
    operator=Operator(),
)
