"""Producers and consumers in a process of their own, and the final read."""
