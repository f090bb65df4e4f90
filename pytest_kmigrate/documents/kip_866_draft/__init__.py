"""KIP-866, an early draft: ZooKeeper to KRaft migration."""
