"""Stubs of Kafka, and a relay before it."""
