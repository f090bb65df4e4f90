"""Checks of what nodes are by their own account: the requests that they accept, and their meta.properties."""
