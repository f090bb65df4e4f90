"""Diagnoses of leaders that brokers in ZooKeeper mode do not get, or do not give away."""
