"""KIP-125: groups that migrate from ZooKeeper to Kafka coordination, and back."""
