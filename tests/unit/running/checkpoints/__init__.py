"""Unit tests of checkpoints."""
