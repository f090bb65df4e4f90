"""KIP-500: a self-managed metadata quorum instead of ZooKeeper."""
