"""Diagnoses of what belongs to users: quotas that ZooKeeper keeps, and credentials that it loses."""
