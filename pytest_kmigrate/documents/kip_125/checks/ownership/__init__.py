"""Checks of who reads what: by one member at a time, by one at all times, and without needless interruptions."""
