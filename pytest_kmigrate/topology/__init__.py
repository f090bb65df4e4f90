"""Topology files: loading, format, rules, and all mistakes at once."""
