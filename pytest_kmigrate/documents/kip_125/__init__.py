"""KIP-125: ZookeeperConsumerConnector to KafkaConsumer migration and rollback."""
