"""KIP-125 as the rest of the product uses it."""

from pytest_kmigrate.model.document import Document

DOCUMENT = Document(id="kip-125", title="KIP-125: ZookeeperConsumerConnector to KafkaConsumer migration and rollback")
