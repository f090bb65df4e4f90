"""Tests of KIP-500's checks."""
