"""Diagnoses of KIP-778's known bugs."""
