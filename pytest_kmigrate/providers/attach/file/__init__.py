"""The file that describes a cluster that stands: what it may hold, and what it says."""
