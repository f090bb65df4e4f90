"""Claims about dual write: ZooKeeper follows the metadata log."""
