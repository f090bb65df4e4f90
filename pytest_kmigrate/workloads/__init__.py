"""Workloads: clients that produce and consume, and changes of metadata, while the cluster is migrated."""
