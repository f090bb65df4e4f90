"""Checks of what members write to ZooKeeper, by ZooKeeper's own log."""
