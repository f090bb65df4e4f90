"""Schedules: what a cluster walks, and what is done to it meanwhile, as data."""
