"""Adapters: how images of others are run. One TOML file each, for images whose names match, or by its path."""
