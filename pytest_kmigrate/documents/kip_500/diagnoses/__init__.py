"""Diagnoses of known bugs in runs of KIP-500."""
