"""Tests of KIP-778: upgrades of KRaft clusters, and metadata.version."""
