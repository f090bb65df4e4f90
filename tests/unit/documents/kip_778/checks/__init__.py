"""Tests of KIP-778's checks."""
