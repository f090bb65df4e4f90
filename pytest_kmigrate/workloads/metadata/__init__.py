"""Metadata changes: filling a cluster, and changing it again and again."""
