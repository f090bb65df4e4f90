"""Claims about the requests by which controllers control brokers in ZooKeeper mode."""
