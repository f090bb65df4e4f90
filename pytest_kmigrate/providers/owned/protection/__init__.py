"""Certificates, passwords and logins of a cluster."""
