"""KIP-866: the live migration from ZooKeeper to KRaft."""
