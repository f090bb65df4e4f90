"""Claims about the copy of ZooKeeper's metadata, and about when it begins."""
