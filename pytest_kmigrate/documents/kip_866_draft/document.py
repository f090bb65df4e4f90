"""The draft of KIP-866: its requirements are its own, its procedure and what shows it are those of the final one."""

from dataclasses import replace

from pytest_kmigrate.documents.kip_866.document import DOCUMENT as FINAL
from pytest_kmigrate.model.document import Document

DOCUMENT: Document = replace(
    FINAL, id="kip-866-draft", title="KIP-866, an early draft: ZooKeeper to KRaft migration", checks=()
)
