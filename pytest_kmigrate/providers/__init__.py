"""Providers: each turns a Topology into a live Cluster."""
