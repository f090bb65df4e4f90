"""Checks of KIP-500."""
