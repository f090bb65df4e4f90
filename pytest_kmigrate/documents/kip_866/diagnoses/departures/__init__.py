"""Departures from the document that are meant to be, or do no harm: each by what Kafka is known to do instead."""
