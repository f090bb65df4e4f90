"""Checks of KIP-778."""
