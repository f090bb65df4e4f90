"""Marts into the rows and sentences of the summary."""
