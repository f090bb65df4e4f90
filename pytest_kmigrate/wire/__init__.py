"""Kafka requests to one chosen node, byte for byte."""
