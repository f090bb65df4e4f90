"""Checks of what ZooKeeper itself logged: every write, by session, with what was written together."""
