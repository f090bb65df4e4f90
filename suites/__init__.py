"""Conformance suites, a folder per profile."""
