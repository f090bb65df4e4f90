"""KIP-500 as the rest of the product uses it."""

from pytest_kmigrate.model.document import Document

DOCUMENT = Document(id="kip-500", title="KIP-500: a self-managed metadata quorum instead of ZooKeeper")
