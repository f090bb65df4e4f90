"""KIP-125 as the rest of the product uses it."""

import sys

from pytest_kmigrate.checkers.registry import checkers_in
from pytest_kmigrate.documents.kip_125.bindings import BINDINGS
from pytest_kmigrate.documents.kip_125.kinds import JAVA, OLD, WITH, WITHOUT, ActKind
from pytest_kmigrate.documents.kip_125.operating import Operator
from pytest_kmigrate.documents.kip_125.rehearsing import rehearse
from pytest_kmigrate.model.document import Document, MembersUnderTest

MEMBERS = MembersUnderTest(
    (sys.executable, "-m", "pytest_kmigrate.documents.kip_125.reference"),
    {
        OLD: (sys.executable, "-m", "pytest_kmigrate.documents.kip_125.old_consumer"),
        JAVA: (sys.executable, "-m", "pytest_kmigrate.documents.kip_125.java_consumer"),
    },
    frozenset({WITHOUT, WITH}),
    script=rehearse,
    topology="zk1-broker1",
)
DOCUMENT = Document(
    id="kip-125",
    title="KIP-125: ZookeeperConsumerConnector to KafkaConsumer migration and rollback",
    checks=(*checkers_in("pytest_kmigrate.documents.kip_125.checks"), *BINDINGS),
    members=MEMBERS,
    operator=Operator(),
    acts=tuple(each.value for each in ActKind),
)
