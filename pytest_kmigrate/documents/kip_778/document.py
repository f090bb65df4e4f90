"""KIP-778 as the rest of the product uses it."""

from pytest_kmigrate.model.document import Document

DOCUMENT = Document(id="kip-778", title="KIP-778: KRaft to KRaft upgrades and metadata.version")
