"""KIP-866, an early draft as the rest of the product uses it."""

from pytest_kmigrate.model.document import Document

DOCUMENT = Document(id="kip-866-draft", title="KIP-866, an early draft: ZooKeeper to KRaft migration")
