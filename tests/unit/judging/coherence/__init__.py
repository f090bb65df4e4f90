"""Coherence of evidence."""
