"""Checks of KIP-125."""
