"""KIP-866, the final revision: ZooKeeper to KRaft migration."""
