"""KIP-778: KRaft to KRaft upgrades and metadata.version."""
