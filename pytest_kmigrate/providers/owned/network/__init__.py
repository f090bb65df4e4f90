"""Addresses, links through proxies, and the bytes that arrived on them."""
