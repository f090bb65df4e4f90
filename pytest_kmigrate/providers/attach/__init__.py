"""Clusters that somebody else runs: found by a file of addresses, looked at, and changed only as the file allows."""
