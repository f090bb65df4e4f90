"""Schedules against the harness itself."""
