"""Probes: what can be seen of a live cluster: metrics, znodes, metadata, the metadata log."""
